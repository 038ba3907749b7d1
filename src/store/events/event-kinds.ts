import type { UserKind } from "../tenancy/users.ts";

/** The kinds of events on timelines. */
export const EVENT_KINDS = [
  "created",
  "updated",
  "status_changed",
  "branch_created",
  "branch_adopted",
  "branch_deleted",
  "pushed",
  "pull_request_opened",
  "pull_request_ready",
  "pull_request_merged",
  "rules_bypassed",
  "pull_request_closed",
  "pull_request_reopened",
  "promotion_refused",
  "refusal_withdrawn",
  "checks_changed",
  "review_submitted",
  "repository_linked",
  "repository_unlinked",
  "backmerge_opened",
  "release_added",
  "release_picked",
  "release_completed",
  "proposal_opened",
  "proposal_accepted",
  "agent_gave_up",
  "claimed",
  "claim_released",
  "claim_expired",
  "armed",
  "disarmed",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export interface TimelineActor {
  readonly user: { readonly id: string; readonly name: string; readonly kind: UserKind };
  readonly login: string | null;
}
