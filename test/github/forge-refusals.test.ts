import { describe, expect, test } from "@jest/globals";
import type { RefusalReason } from "../../src/flow/refusal.ts";
import { KNOWN_MESSAGES } from "../../src/forge/github/calls/refusal-messages.ts";
import { refusalOf, refusalMessage } from "../../src/forge/github/calls/refusals.ts";

type Row = readonly [status: number, words: string, reason: RefusalReason];

/** GitHub's messages from its documentation and from real responses, each with its status. */
const SENTENCES: readonly Row[] = [
  [403, "Resource not accessible by integration", "not_permitted"],
  [403, "Repository was archived so is read-only.", "not_permitted"],
  [403, "This installation has been suspended", "not_permitted"],
  [403, "Must have admin rights to Repository.", "not_permitted"],
  [404, "Not Found", "not_permitted"],
  [451, "Repository access blocked", "not_permitted"],
  [
    403,
    "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission",
    "not_permitted",
  ],

  [409, "Git Repository is empty.", "branch_missing"],
  [422, "Object does not exist", "branch_missing"],
  [422, "Reference does not exist", "branch_missing"],
  [422, "Reference update failed", "protected"],
  [422, "Commits must have valid signatures.", "protected"],
  [409, "Commits must have verified signatures.", "protected"],
  [405, "New changes require approval from someone other than the last pusher.", "review_required"],
  [422, "Changes must be made through a pull request.", "protected"],
  [409, "Repository rule violations found\n\nCannot update this protected ref.", "protected"],
  [422, "Reference name must start with 'refs/'.", "unknown"],
  [422, "Reference name must contain at least three slash-separated components.", "unknown"],
  [422, "Update is not a fast forward", "unknown"],
  [422, "Object is not a commit", "unknown"],
  [422, "Cannot delete this branch", "protected"],
  [422, "Cannot create ref due to creations being restricted.", "protected"],
  [
    422,
    "Repository rule violations found\n\nCannot create ref due to creations being restricted.",
    "protected",
  ],

  [422, "No commits between main and card/7-login", "nothing_to_merge"],
  [
    422,
    "Head sha can't be blank, Base sha can't be blank, No commits between main and x, Head ref must be a branch",
    "nothing_to_merge",
  ],
  [422, "Head ref must be a branch", "branch_missing"],
  [422, "Proposed base branch 'next' was not found", "branch_missing"],
  [422, "Cannot change the base branch of a closed pull request.", "pull_request_closed"],
  [422, "Cannot change the base branch because the pull request is part of a stack.", "protected"],
  [422, "A pull request already exists for acme:card/7-login.", "unknown"],
  [422, "Draft pull requests are not supported in this repository.", "unknown"],
  [422, "body is too long (maximum is 65536 characters)", "unknown"],
  [422, "state cannot be changed. The card/7 branch was force-pushed or recreated.", "head_moved"],
  [422, "state cannot be changed. The card/7 branch has been deleted.", "branch_missing"],
  [422, "state cannot be changed. The pull request has been merged.", "unknown"],
  [422, "state cannot be changed. There is already an open pull request from a to b.", "unknown"],

  [400, "Pull request is closed.", "pull_request_closed"],
  [200, "Merge conflict: the pull request could not be merged.", "conflicts"],
  [409, "Merge conflict", "conflicts"],
  [200, 'Failed to merge: "Merge conflict"', "conflicts"],
  [200, 'Failed to merge: "Head does not exist"', "branch_missing"],
  [200, 'Failed to merge: "Required status check "merge conflict" is expected."', "checks_pending"],
  [405, "Pull Request is not mergeable", "conflicts"],
  [409, "Head branch was modified. Review and try the merge again.", "head_moved"],
  [409, "A merge request already exists for this pull request.", "unknown"],
  [405, "Base branch was modified. Review and try the merge again.", "unknown"],
  [405, "Merge already in progress", "unknown"],
  [405, "Pull Request is still a draft", "protected"],
  [405, "A conversation must be resolved before this pull request can be merged.", "review_required"],
  [405, "Repository rule violations found\n\nAll comments must be resolved.", "review_required"],
  [
    405,
    "Waiting for Code Scanning results. Code Scanning may not be configured for the target branch.",
    "checks_pending",
  ],
  [
    405,
    "Repository rule violations found\n\nCode scanning is waiting for results from CodeQL for the commits a1 or b2.",
    "checks_pending",
  ],
  [405, "CodeQL has detected 2 alerts blocking this code from being merged.", "checks_failing"],
  [422, "Cannot change this locked branch", "protected"],
  [422, "Secret detected in content", "protected"],
  [405, "Merge commits are not allowed on this repository.", "protected"],
  [405, "Squash merges are not allowed on this repository.", "protected"],
  [405, "Rebase merges are not allowed on this repository.", "protected"],
  [405, 'Required status check "build" is expected.', "checks_pending"],
  [405, 'Required status check "build" is in progress.', "checks_pending"],
  [405, 'Required status check "build" is failing.', "checks_failing"],
  [405, 'Required status check "never failing" is expected.', "checks_pending"],
  [405, "2 of 5 required status checks have not succeeded: 1 expected and 1 failing.", "checks_failing"],
  [405, "2 of 5 required status checks are expected.", "checks_pending"],
  [405, "2 of 5 required status checks are failing.", "checks_failing"],
  [405, "2 of 5 required status checks have not succeeded: 1 pending.", "checks_pending"],
  [405, "At least 1 approving review is required by reviewers with write access.", "review_required"],
  [405, "Changes have been requested.", "changes_requested"],
  [405, "You're not authorized to push to this branch.", "protected"],
  [405, "Repository rule violations found\n\nChanges must be made through the merge queue", "protected"],
  [405, "Changes must be made through the merge queue", "protected"],
  [
    405,
    'Repository rule violations found\n\nRequired status check "build" is expected.\n\n',
    "checks_pending",
  ],
  [405, "Head branch is out of date. Review and try the merge again.", "behind_base"],
  [405, "This branch can't be rebased", "conflicts"],
  [405, "Forbidden", "not_permitted"],
  [404, "Base does not exist", "branch_missing"],
  [404, "Head does not exist", "branch_missing"],
  [409, "This branch must not contain merge commits.", "protected"],
  [405, "This branch is out-of-date with the base branch", "behind_base"],
  [422, "A sentence GitHub has not said before", "unknown"],
];

describe("a refusal", () => {
  test.each(
    KNOWN_MESSAGES.flatMap(({ reason, messages = [] }) => messages.map((each) => [each, reason] as const)),
  )("%j is %s, as its table says", (message, reason) =>
    expect(refusalOf(422, { message }).reason).toBe(reason),
  );

  // Fault: C6 GitHub refuses the merge => 409 with its message; at most three tries
  test.each(SENTENCES)("%i %j is %s, verbatim", (status, message, reason) => {
    expect(refusalOf(status, { message, documentation_url: "https://docs.github.com" })).toMatchObject({
      reason,
      message,
    });
  });

  test.each<readonly [string, object, RefusalReason, string]>([
    [
      "a custom error",
      { errors: [{ resource: "PullRequest", code: "custom", message: "No commits between main and x" }] },
      "nothing_to_merge",
      "No commits between main and x",
    ],
    [
      "a missing base",
      { errors: [{ resource: "PullRequest", field: "base", code: "invalid" }] },
      "branch_missing",
      "base invalid",
    ],
    [
      "both branches missing",
      {
        errors: [
          { field: "base", code: "invalid" },
          { field: "head", code: "invalid" },
        ],
      },
      "branch_missing",
      "base invalid\nhead invalid",
    ],
    ["errors as sentences", { errors: ["One thing", "Another"] }, "unknown", "One thing\nAnother"],
    ["errors as one sentence", { errors: "Could not be done" }, "unknown", "Could not be done"],
    ["no errors at all", {}, "unknown", "Validation Failed"],
  ])("with an unspecific message uses its errors: %s", (_, errors, reason, message) => {
    expect(refusalOf(422, { message: "Validation Failed", ...errors })).toEqual({ reason, message });
  });

  test("with a specific message keeps it and finds the reason in the errors", () => {
    const body = {
      message: "Pull request could not be opened",
      errors: [{ message: "No commits between a and b" }],
    };
    expect(refusalOf(422, body)).toEqual({ reason: "nothing_to_merge", message: body.message });
  });

  test("of an asynchronous merge has its message in the details", () => {
    const message = "Merge conflict: the pull request could not be merged.";
    expect(refusalOf(200, { status: "failed", details: { message } })).toEqual({
      reason: "conflicts",
      message,
    });
  });

  test("names the checks and the number of reviews", () => {
    const message =
      'Required status check "build" is failing.\nRequired status check "lint" is expected.\nAt least 2 approving reviews are required.';
    expect(refusalOf(405, { message }).details).toEqual({ checks: ["build", "lint"], requiredReviews: 2 });
  });

  test.each([[null], [""], ["<html>gateway</html>"], [42], [[]], [{ message: 5 }]])(
    "without a message names the status: %j",
    (body) => {
      expect(refusalOf(405, body).message).toBe("GitHub returned 405");
    },
  );

  test.each<[string, (text: string) => unknown]>([
    ["its message", (text) => ({ message: text })],
    ["its errors", (text) => ({ message: "Validation Failed", errors: [text, { message: text }] })],
    ["a bare text", (text) => text],
  ])("is cut visibly where %s is longer than GitHub's", (_, bodyOf) => {
    // A pattern looks from each of these for a word that does not come.
    const { message } = refusalOf(422, bodyOf("head sha ".repeat(20_000)));
    expect(message).toHaveLength(4_000);
    expect(message).toMatch(/^head sha .*…$/);
  });

  test("may be plain text", () => {
    expect(refusalMessage("  Not here  ")).toBe("Not here");
  });
});
