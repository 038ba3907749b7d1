import type { Blocked, BlockedReason } from "../../api/schema.d.ts";

const ADVICE: Readonly<Record<Blocked["reason"], string>> = {
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
  wip_limit: "Move another card out of the stage.",
  human_only: "A person moves the card in this console.",
  needs_second_person: "Another person than the author of the commits moves the card.",
  unknown: "Read the message. If it says too little, look at the pull request.",
};

/** Whether the message says all that the advice would: Trunkline's own one does, GitHub's does not. */
const isAdvised = ({ reason, message }: Pick<BlockedReason, "reason" | "message">): boolean =>
  reason === "nothing_to_merge" && message.endsWith("then move the card again.");

/** What to do about a refusal, one sentence for each of its causes, unless its message names it. */
export const adviceOn = (reasons: readonly Pick<BlockedReason, "reason" | "message">[]): string[] => [
  ...new Set(
    reasons.filter((reason) => !isAdvised(reason)).map(({ reason }) => ADVICE[reason] ?? ADVICE.unknown),
  ),
];
