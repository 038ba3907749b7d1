import type { Rule } from "../api/schema.d.ts";

/** What happens in Git when a card enters a stage. `ruleWords` adds the branch of a merge. */
export const RULE_WORDS: Readonly<Record<Rule["type"], string>> = {
  none: "no Git activity",
  branch: "creates the branch",
  draft_pull_request: "creates the branch; the first push opens a draft pull request",
  pull_request: "opens the pull request, or marks the draft ready",
  merge: "merges",
};

/** For example `merges into main`. */
export const ruleWords = ({ type, into }: Rule): string =>
  type === "merge" ? `merges into ${into ?? "the default branch"}` : RULE_WORDS[type];
