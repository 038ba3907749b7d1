import type { ForgeContext } from "../context.ts";
import { outcomesOf } from "../queries/commit-outcomes.ts";
import type { AccountRow, PullRequestRow, RepositoryRow, RulesetRow } from "../rows.ts";
import { mayPush, protectionOf, reviewVerdict, unmetCheckRule, violationOf } from "./protection.ts";
import { mayBypass, pusherOf, rulesetsOf } from "../queries/rulesets.ts";

/**
 * GitHub's message for the rules of the base branch that are unmet and that the account may not
 * bypass; null if there are none. Without an account, nobody may bypass them.
 */
export async function unmetRule(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  by: AccountRow | null,
): Promise<string | null> {
  return unmetProtection(forge, repository, pull, by) ?? unmetRulesets(forge, pull, by);
}

/** The first unmet rule of classic protection. */
function unmetProtection(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  by: AccountRow | null,
): string | null {
  const protection = protectionOf(forge, repository, pull.baseRef);
  if (protection === undefined) return null;
  if (by !== null && !mayPush(forge, repository, pull.baseRef, by))
    return "You're not authorized to push to this branch.";
  if (protection.appBypass === true && by?.type === "Bot") return null;
  const { requiredReviews, requiresResolvedThreads = false, requiredStatusChecks } = protection;
  const { count = 0, requiresLastPushApproval = false } = requiredReviews ?? {};
  const reviews = { count, requiresLastPushApproval, requiresResolvedThreads };
  const [review] = unmetReviewRules(forge, reviews, pull);
  const outcomes = outcomesOf(forge, pull.repositoryId, pull.headSha);
  return review ?? unmetCheckRule(requiredStatusChecks?.checks ?? [], outcomes);
}

/** All unmet rules of rulesets, one below another. */
function unmetRulesets(forge: ForgeContext, pull: PullRequestRow, by: AccountRow | null): string | null {
  const unmet = rulesetsOf(forge, pull.repositoryId, pull.baseRef)
    .filter((ruleset) => !mayBypass(ruleset, by))
    .flatMap((ruleset) => unmetRulesOf(forge, ruleset, pull));
  return unmet.length === 0 ? null : violationOf(unmet.join("\n\n"));
}

function unmetRulesOf(
  forge: ForgeContext,
  { requiredChecks, requiredReviews }: RulesetRow,
  pull: PullRequestRow,
): string[] {
  const checks = unmetCheckRule(requiredChecks, outcomesOf(forge, pull.repositoryId, pull.headSha));
  return [
    ...(requiredReviews === null ? [] : unmetReviewRules(forge, requiredReviews, pull)),
    ...(checks === null ? [] : [checks]),
  ];
}

interface ReviewRules {
  readonly count: number;
  readonly requiresLastPushApproval: boolean;
  readonly requiresResolvedThreads: boolean;
}

function unmetReviewRules(forge: ForgeContext, rules: ReviewRules, pull: PullRequestRow): string[] {
  const { approvals, changesRequested, approverIds } = reviewVerdict(forge, pull);
  const { count } = rules;
  if (count > 0 && changesRequested) return ["Changes have been requested."];
  const messages: string[] = [];
  if (approvals < count) {
    const reviews = count === 1 ? "1 approving review is" : `${count} approving reviews are`;
    messages.push(`At least ${reviews} required by reviewers with write access.`);
  } else if (rules.requiresLastPushApproval && approverIds.every((id) => id === pusherOf(forge, pull))) {
    messages.push("New changes require approval from someone other than the last pusher.");
  }
  const threads = forge.state.reviewThreads.inGroup(pull.id);
  if (rules.requiresResolvedThreads && threads.some(({ resolvedById }) => resolvedById === null))
    messages.push("A conversation must be resolved before this pull request can be merged.");
  return messages;
}
