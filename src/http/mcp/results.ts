import { REFUSAL_REASONS, type RefusalReason } from "../../flow/refusal.ts";
import type { Failure } from "../errors.ts";

/** Refusals after which this caller may never move the card: the message says who may. */
const FOR_OTHERS: ReadonlySet<RefusalReason> = new Set(["human_only", "needs_second_person"]);

/** What to do after a refused move. `docs/refusals.md` has more. */
const AFTER_REFUSAL: Readonly<Record<RefusalReason, string>> = {
  conflicts: "Merge the target branch into the card's branch, resolve the conflicts and push.",
  checks_failing: "Read the checks with get_card and `live`, correct what fails and push.",
  checks_pending: "Wait until the checks have finished.",
  nothing_to_merge: "Push a commit to the card's branch.",
  review_required: "Ask a person to review the pull request, and wait for the approval.",
  changes_requested: "Read the reviews with get_card and `live`, make the changes and push.",
  behind_base: "Merge the target branch into the card's branch and push.",
  protected: "A rule of the repository forbids the change. Ask a person.",
  not_permitted: "GitHub does not permit it, or Trunkline has no access. Ask a person.",
  pull_request_closed: "The pull request is closed. Ask a person, or reopen it on GitHub.",
  branch_missing: "A branch is missing, or the repository is empty: read `blocked.message` and `details`.",
  head_moved: "The branch has a new commit. Review it, and if you sent `headShas`, send its commit.",
  queue_rejected: "GitHub's merge queue removed the pull request. Correct the cause and push.",
  wip_limit: "The stage is full. Work on cards in it, or wait until one leaves it.",
  human_only: "Only a person may move cards into the stage. Ask one to move it.",
  needs_second_person:
    "Read `blocked.message`: another person has to move it, or Trunkline does not know all authors.",
  unknown: "Read `blocked.message`, and ask a person if it does not help.",
};

const AFTER_STATUS: Readonly<Record<number, string>> = {
  400: "The arguments are not valid: `issues` says which. Correct them and call again.",
  403: "This credential may not do this. Ask a person, or use another tool.",
  404: "What the call names does not exist on this board. Check the number or id.",
  409: "The state of the board does not allow this: `message` says why.",
  413: "The arguments are too large. Shorten them.",
  429: "Too many calls.",
  503: "GitHub or the database could not be reached; the outcome may be open.",
};

/** What to do after a 409 that is due to a claim. */
const AFTER_CODE: Readonly<Record<string, string>> = {
  claimed: "Another agent works on this card: `claim` says who and until when. Choose another card.",
  claim_lost: "You have lost the claim of this card. Stop working on it, or claim it again.",
  claim_limit: "You hold too many claims. Release one with release_claim.",
};

const isReason = (reason: unknown): reason is RefusalReason =>
  (REFUSAL_REASONS as readonly unknown[]).includes(reason);

/** What happened and what to do next, without texts of people or GitHub. */
export function describeFailure({ statusCode, body, retryAfter }: Failure): string {
  if ("blocked" in body) {
    const { reason } = body["blocked"] as { reason: unknown };
    const known = isReason(reason) ? reason : "unknown";
    const again = FOR_OTHERS.has(known) ? "" : " Then call move_card again.";
    return `The move was refused and the card stays in its stage. ${AFTER_REFUSAL[known]}${again} \`blocked\` has every reason.`;
  }
  const next =
    AFTER_CODE[String(body["code"])] ??
    AFTER_STATUS[statusCode] ??
    "Trunkline failed; the outcome may be open.";
  const mayRepeat = retryAfter !== undefined || statusCode >= 500;
  if (!mayRepeat) return next;
  return `${next} Make the same call again, with the same requestId, after ${retryAfter ?? 1} s.`;
}

export const REPLAYED =
  "This is the stored response to an earlier call with this requestId; nothing was done.";
