import type { Rule } from "../api/schema.d.ts";

/** What happens in Git when a card enters a stage. `ruleWords` adds the branch of a merge. */
export const RULE_WORDS: Readonly<Record<Rule["type"], string>> = {
  none: "no Git activity",
  branch: "creates the branch",
  draft_pull_request: "creates the branch; the first push opens a draft pull request",
  pull_request: "opens the pull request, or marks the draft ready",
  merge: "merges",
};

/** The branch that a stage merges into. */
export const targetName = ({ into }: Pick<Rule, "into">): string => into ?? "the default branch";

/** For example `merges into main`. */
export const ruleWords = (rule: Rule): string =>
  rule.type === "merge" ? `merges into ${targetName(rule)}` : RULE_WORDS[rule.type];
