import type { Blocked, BlockedReason } from "../../api/schema.d.ts";

/** The messages of gates say what to do. */
const GATES = ["wip_limit", "human_only", "needs_second_person"] as const;
type Gate = (typeof GATES)[number];

const ADVICE: Readonly<Record<Exclude<Blocked["reason"], Gate>, string>> = {
  conflicts: "Merge the target into the card's branch, resolve the conflicts and push.",
  checks_failing: "Correct what fails, or run the check again on GitHub.",
  checks_pending: "Wait for the checks. If one never reports, compare its name with the protection rule.",
  nothing_to_merge: "Push commits to the card's branch, then move the card again.",
  review_required: "A person reviews the pull request on GitHub.",
  changes_requested: "Make the requested changes and ask for another review.",
  behind_base: "Merge the target into the card's branch and push.",
  protected: "Change the protection rule on GitHub, or add the App to its exceptions.",
  not_permitted:
    "If the message does not say what to do, ask an owner of the GitHub account to grant the App access.",
  pull_request_closed: "Reopen the pull request on GitHub.",
  branch_missing: "Create the missing branch on GitHub. For a target, you can also change the flow.",
  head_moved: "Look at the new commits, then move the card again.",
  queue_rejected: "Correct why the merge queue removed the pull request, then move the card again.",
  unknown: "Read the message. If it says too little, look at the pull request.",
};

type Reason = Pick<BlockedReason, "reason" | "message">;

/** The reasons whose advice says more than the messages of Trunkline. */
const CHECKS = ["checks_failing", "checks_pending"] as const;
/** Trunkline's messages that say what to do end like this. GitHub's messages never say it. */
const SAID = /(then move the card again|resolve the conflicts and push)\.$/;

/** Whether the message contains the advice. */
const isAdvised = ({ reason, message }: Reason): boolean =>
  includes(GATES, reason) || (!includes(CHECKS, reason) && SAID.test(message));

const includes = (reasons: readonly string[], reason: string): boolean => reasons.includes(reason);

/** A newer service may have other reasons. */
const adviceFor = (reason: string): string =>
  (ADVICE as Readonly<Record<string, string>>)[reason] ?? ADVICE.unknown;

/** What to do about a refusal, one sentence for each of its causes, unless its message says it. */
export const adviceOn = (reasons: readonly Reason[]): string[] => [
  ...new Set(reasons.filter((reason) => !isAdvised(reason)).map(({ reason }) => adviceFor(reason))),
];
