import type { RefusalReason } from "../../../flow/refusal.ts";

interface KnownMessages {
  readonly reason: RefusalReason;
  readonly pattern: RegExp;
  /** What GitHub says, for `docs/refusals.md`: `npm run test-tables` lists it there. */
  readonly messages?: readonly string[];
}

/**
 * Patterns for GitHub's messages, loose because it documents few and changes them. The order
 * matters, since a ruleset refuses with several sentences.
 */
export const KNOWN_MESSAGES: readonly KnownMessages[] = [
  {
    reason: "head_moved",
    pattern: /head branch was modified|head (sha|commit|oid)\b.*(match|changed|modified)/i,
    messages: ["Head branch was modified"],
  },
  { reason: "head_moved", pattern: /expected head (sha|oid)|branch was force-pushed/i },
  {
    reason: "nothing_to_merge",
    pattern: /no commits between/i,
    messages: ["No commits between … and …"],
  },
  {
    reason: "checks_failing",
    pattern: /required status checks?\b.*\b(failing|failed|failure|errored)\b/i,
    messages: ['Required status check "…" is failing'],
  },
  {
    reason: "checks_failing",
    pattern: /alerts? blocking this code/i,
    messages: ["… has detected 2 alerts blocking this code from being merged"],
  },
  {
    reason: "checks_pending",
    pattern: /waiting for code scanning results|code scanning is waiting/i,
    messages: ["Waiting for Code Scanning results"],
  },
  {
    reason: "checks_pending",
    pattern: /required status checks?\b/i,
    messages: ['Required status check "…" is expected'],
  },
  { reason: "checks_pending", pattern: /required (deployments?|workflows?)\b/i },
  {
    reason: "changes_requested",
    pattern: /changes have been requested|changes (were )?requested/i,
    messages: ["Changes have been requested"],
  },
  {
    reason: "review_required",
    pattern: /approving reviews?|reviews? (is|are) required|waiting on code owner review/i,
    messages: ["At least 1 approving review is required"],
  },
  {
    reason: "review_required",
    pattern: /other than the last pusher/i,
    messages: ["New changes require approval from someone other than the last pusher"],
  },
  {
    reason: "review_required",
    pattern: /(conversations?|comments) must be resolved|resolve.*conversation|conversation.*resol/i,
    messages: ["A conversation must be resolved", "All comments must be resolved"],
  },
  {
    reason: "conflicts",
    pattern: /merge conflict|has conflicts|conflicts (must|with)|not mergeable|can't be rebased/i,
    messages: ["Merge conflict", "Pull Request is not mergeable"],
  },
  {
    reason: "behind_base",
    pattern: /out[- ]of[- ]date|is behind|not up[- ]to[- ]date/i,
    messages: ["Head branch is out of date"],
  },
  {
    reason: "pull_request_closed",
    pattern: /pull request is (already )?closed|closed pull request|pull request (has been|was|is) closed/i,
    messages: ["Pull request is closed"],
  },
  {
    reason: "not_permitted",
    pattern: /resource not accessible|not accessible by|was archived|is archived/i,
    messages: ["Resource not accessible by integration"],
  },
  {
    reason: "not_permitted",
    pattern:
      /installation has been suspended|refusing to allow a github app|without .?workflows.? permission/i,
    messages: ["This installation has been suspended"],
  },
  {
    reason: "protected",
    pattern: /repository rule violations|protected (branch|ref)|branch protection|merge queue/i,
    messages: ["Changes must be made through the merge queue"],
  },
  {
    reason: "protected",
    pattern: /must have (valid|verified) signatures/i,
    messages: ["Commits must have verified signatures"],
  },
  {
    reason: "protected",
    pattern: /must be made through a pull request/i,
    messages: ["Changes must be made through a pull request"],
  },
  {
    reason: "protected",
    pattern: /not authorized to push|cannot (create|update|delete) (ref|this branch)/i,
    messages: ["You're not authorized to push to this branch"],
  },
  {
    reason: "protected",
    pattern: /locked branch|secret detected|still a draft|part of a stack|stacked pull request/i,
    messages: [
      "Cannot change this locked branch",
      "Secret detected in content",
      "Pull Request is still a draft",
    ],
  },
  {
    reason: "protected",
    pattern: /reference update failed/i,
    messages: ["Reference update failed"],
  },
  {
    reason: "protected",
    pattern: /must not contain merge commits|linear history/i,
  },
  {
    reason: "protected",
    pattern: /(merge commits|squash merges|rebase merges) are not allowed/i,
    messages: ["Merge commits are not allowed"],
  },
  {
    reason: "branch_missing",
    pattern: /repository is empty|object does not exist|reference does not exist/i,
    messages: ["Git Repository is empty"],
  },
  {
    reason: "branch_missing",
    pattern: /base branch '.*' was not found|head ref must be a branch|branch.* (has been|was) deleted/i,
  },
  {
    reason: "branch_missing",
    pattern: /^(base|head) (invalid|does not exist)$/im,
    messages: ["Head does not exist"],
  },
  {
    reason: "not_permitted",
    pattern:
      /must have (admin|write|push|maintain)\b|forbidden|permission|not permitted|could not resolve to a/i,
  },
];
