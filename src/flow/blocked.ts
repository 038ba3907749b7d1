import type { Refusal, RefusalReason } from "./refusal.ts";

/** One thing in a card's way, in one of its repositories. */
export interface BlockedReason {
  readonly reason: RefusalReason;
  readonly message: string;
  /** The repository's full name. */
  readonly repository: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Why the last promotion of a card was refused. The first reason is also told at the top. */
export interface Blocked {
  readonly reason: RefusalReason;
  readonly message: string;
  readonly repository: string;
  readonly reasons: readonly BlockedReason[];
  /** The stage it could not enter. */
  readonly statusId: string;
  /** The head commit that was refused, null where the branch has none. */
  readonly headSha: string | null;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** A refusal in a repository, as an item of `reasons`. */
export const blockedReason = (repository: string, refusal: Refusal): BlockedReason => ({
  reason: refusal.reason,
  message: refusal.message,
  repository,
  details: refusal.details ?? {},
});
