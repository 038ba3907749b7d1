import { z } from "zod";
import type { InboxItem } from "../../store/inbox/list-inbox.ts";
import {
  blocked,
  branchName,
  disarmed,
  login,
  names,
  prNumber,
  sha,
  skipUnknown,
  targetBranch,
  variants,
} from "./details.ts";
import { timestamp, unavailable } from "./shapes.ts";

const inboxData: Readonly<Record<InboxItem["kind"], z.ZodObject>> = {
  promotion_blocked: blocked,
  branch_suggestion: z.object({ branchName, login }),
  branch_deleted: z.object({ branchName, sha: sha.nullable(), login }),
  error_reported: z.object({
    monitorId: z.uuid(),
    monitorName: z.string(),
    fingerprint: z.string(),
    title: z.string(),
    url: z.string().nullable(),
  }),
  pr_merged_outside: z.object({
    prNumber,
    targetBranch,
    sha: sha.nullable(),
    login,
    statusId: z.uuid().meta({ description: "The stage that merges into this branch" }),
  }),
  pr_closed_outside: z.object({ prNumber, targetBranch, login }),
  checks_broken: z.object({
    prNumber,
    branchName,
    sha,
    failing: names.meta({ description: "The names of the failing checks" }),
  }),
  waiting_stale: z.object({ since: timestamp, staleAfterDays: z.int(), statusId: z.uuid() }),
  connection_broken: z.object({
    broken: z.enum(["uninstalled", "suspended", "refused", "not_granted", "permissions"]),
    missing: names.optional().meta({ description: "For `permissions`: those the account has not granted" }),
    unavailable,
  }),
  backmerge_open: z.object({
    targetBranch,
    prNumber: prNumber.nullable(),
    branchName: branchName.nullable(),
    sha,
    releaseId: z.uuid().nullable().meta({ description: "null for a hotfix" }),
  }),
  proposal_waiting: z.object({
    prNumber,
    title: z.string(),
    headBranch: z.string(),
    targetBranch,
    isDraft: z.boolean(),
    login,
    headSha: sha,
  }),
  agent_gave_up: z.object({
    prNumber: prNumber.nullable().meta({ description: "null if the agent gave up through the API" }),
    reason: z.string().nullable(),
    login,
    name: z.string(),
  }),
  agent_stopped_reacting: z.object({
    prNumber,
    login,
    reason: z.enum(["changes_requested", "checks_failing", "question"]),
    since: timestamp,
    agentSilenceHours: z.int(),
  }),
  move_disarmed: disarmed,
  webhook_paused: z.object({ webhookId: z.uuid(), reason: z.enum(["failing", "gone", "left"]) }),
};

export const inboxItem = z
  .discriminatedUnion(
    "kind",
    variants(inboxData, (kind, data) =>
      z.object({
        id: z.uuid().meta({
          description:
            "Stays the same while the item exists; if the same thing happens again, it is a new item with another id",
        }),
        kind,
        detail: z.string().meta({ description: "The reason, as GitHub's message if there is one" }),
        projectId: z.uuid(),
        card: z.object({ number: z.int(), title: z.string() }).nullable(),
        repository: z.string().nullable(),
        dismissible: z.boolean().meta({
          description: "Whether it can be dismissed. The others disappear when their cause is gone",
        }),
        at: timestamp,
        data,
      }),
    ),
  )
  .meta({ id: "InboxItem", description: skipUnknown });
