/** What a target branch requires of merges, by classic protection and rulesets. */
import { z } from "zod";
import type { MergeRules, RuleSource, TargetRules } from "../../../flow/facts.ts";
import type { Refusal } from "../../../flow/refusal.ts";
import { forbiddenShape, nodesOf } from "../calls/graphql-response.ts";
import { name } from "../text-shapes.ts";
import type { RequiredCheck } from "./checks.ts";

/**
 * Also whether the newest commits have checks. The rules are shown to those who may not administrate the
 * repository.
 */
export const RULES = /* GraphQL */ `
  fragment Rules on Ref {
    landed: target {
      ... on Commit {
        history(first: 10) {
          nodes {
            statusCheckRollup {
              state
            }
          }
        }
      }
    }
    refUpdateRule {
      requiredStatusCheckContexts
      requiredApprovingReviewCount
      requiresCodeOwnerReviews
      requiresConversationResolution
    }
    rules(first: 100) {
      pageInfo {
        hasNextPage
      }
      nodes {
        type
        repositoryRuleset {
          databaseId
          name
        }
        parameters {
          ... on RequiredStatusChecksParameters {
            requiredStatusChecks {
              context
              integrationId
            }
          }
          ... on PullRequestParameters {
            requiredApprovingReviewCount
            requireCodeOwnerReview
            requireLastPushApproval
            requiredReviewThreadResolution
          }
        }
      }
    }
  }
`;

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);
const count = z
  .number()
  .nullish()
  .transform((value) => value ?? 0);

const ruleShape = z.looseObject({
  type: z.string().toLowerCase().nullish(),
  repositoryRuleset: z.looseObject({ databaseId: z.number().nullish(), name: name.nullish() }).nullish(),
  parameters: z
    .looseObject({
      isForbidden: z.literal(true).optional(),
      requiredStatusChecks: z
        .array(z.looseObject({ context: z.string(), integrationId: z.number().nullish() }))
        .optional(),
      requiredApprovingReviewCount: count,
      requireCodeOwnerReview: flag,
      requireLastPushApproval: flag,
      requiredReviewThreadResolution: flag,
    })
    .nullish(),
});
type Rule = z.infer<typeof ruleShape>;

export const rulesShape = {
  landed: z
    .looseObject({
      history: z
        .looseObject({
          nodes: nodesOf(
            z.looseObject({ statusCheckRollup: z.union([forbiddenShape, z.looseObject({})]).nullish() }),
          ),
        })
        .nullish(),
    })
    .nullish(),
  refUpdateRule: z
    .looseObject({
      requiredStatusCheckContexts: z.array(z.string().nullable()).nullish(),
      requiredApprovingReviewCount: count,
      requiresCodeOwnerReviews: flag,
      requiresConversationResolution: flag,
    })
    .nullish(),
  rules: z
    .looseObject({
      pageInfo: z.looseObject({ hasNextPage: z.boolean() }).nullish(),
      nodes: nodesOf(ruleShape),
    })
    .nullish(),
};
const shownRules = z.looseObject({ name, ...rulesShape });
export type ShownRules = z.infer<typeof shownRules>;

/** Whether the App may bypass rules; null if GitHub does not show it. */
export interface Bypass {
  readonly ofRuleset: (rulesetId: number) => Promise<boolean | null>;
  readonly ofProtection: boolean | null;
}

/** A refusal if GitHub does not show all rules. */
export async function toTargetRules(target: ShownRules, bypass: Bypass): Promise<TargetRules | Refusal> {
  if (target.rules?.pageInfo?.hasNextPage === true) return tooManyRules(target.name);
  const rules = target.rules?.nodes ?? [];
  if (rules.some(({ parameters }) => parameters?.isForbidden)) return hiddenRules(target.name);
  const ids = [...new Set(rules.map(rulesetIdOf))];
  const rulesets = await Promise.all(
    ids.map((id) =>
      toSource(
        id,
        rules.filter((rule) => rulesetIdOf(rule) === id),
        bypass,
      ),
    ),
  );
  const classic = classicSource(target, bypass);
  const sources = [...(classic ? [classic] : []), ...rulesets.filter((source) => source !== null)];
  return { ...together(sources), sources };
}

const tooManyRules = (branch: string): Refusal => ({
  reason: "protected",
  message: `The rules of ${branch} are more than Trunkline reads, 100. Combine some of them, or merge on GitHub.`,
});

const hiddenRules = (branch: string): Refusal => ({
  reason: "not_permitted",
  message: `GitHub does not show the App what a rule of ${branch} requires. Accept the permission administration: read for it, or merge on GitHub.`,
  details: { permissions: ["administration: read"] },
});

/** Types of rules that a merge of a pull request cannot violate. */
const NOT_ABOUT_MERGES: ReadonlySet<string> = new Set([
  "authorization",
  "branch_name_pattern",
  "creation",
  "deletion",
  "max_ref_updates",
  "merge_queue_locked_ref",
  "non_fast_forward",
  "tag",
  "tag_name_pattern",
]);
/** Types whose parameters are read. */
const EVALUATED: ReadonlySet<string> = new Set([
  "pull_request",
  "required_review_thread_resolution",
  "required_status_checks",
]);

const rulesetIdOf = ({ repositoryRuleset }: Rule): number | null => repositoryRuleset?.databaseId ?? null;

/** Null for a ruleset without rules about merges. */
async function toSource(
  rulesetId: number | null,
  rules: readonly Rule[],
  bypass: Bypass,
): Promise<RuleSource | null> {
  const types = rules.flatMap(({ type }) => type ?? []);
  const unevaluated = types.filter((type) => !EVALUATED.has(type) && !NOT_ABOUT_MERGES.has(type));
  if (types.length > 0 && types.every((type) => NOT_ABOUT_MERGES.has(type))) return null;
  const parameters = rules.flatMap((rule) => rule.parameters ?? []);
  return {
    rulesetId,
    name: rules[0]?.repositoryRuleset?.name ?? "",
    unevaluated: [...new Set(unevaluated)],
    canBypass: rulesetId === null ? null : await bypass.ofRuleset(rulesetId),
    requiredChecks: parameters.flatMap(({ requiredStatusChecks = [] }) =>
      requiredStatusChecks.map(({ context }) => context),
    ),
    requiredApprovals: Math.max(0, ...parameters.map((each) => each.requiredApprovingReviewCount)),
    requiresLastPushApproval: parameters.some((each) => each.requireLastPushApproval),
    requiresCodeOwnerReview: parameters.some((each) => each.requireCodeOwnerReview),
    requiresResolvedThreads:
      types.includes("required_review_thread_resolution") ||
      parameters.some((each) => each.requiredReviewThreadResolution),
  };
}

function classicSource({ refUpdateRule: rule }: ShownRules, bypass: Bypass): RuleSource | null {
  if (!rule) return null;
  return {
    rulesetId: null,
    name: "branch protection",
    unevaluated: [],
    canBypass: bypass.ofProtection,
    requiredChecks: (rule.requiredStatusCheckContexts ?? []).filter((context) => context !== null),
    requiredApprovals: rule.requiredApprovingReviewCount,
    requiresLastPushApproval: false,
    requiresCodeOwnerReview: rule.requiresCodeOwnerReviews,
    requiresResolvedThreads: rule.requiresConversationResolution,
  };
}

const together = (sources: readonly MergeRules[]): MergeRules => ({
  requiredChecks: [...new Set(sources.flatMap(({ requiredChecks }) => requiredChecks))],
  requiredApprovals: Math.max(0, ...sources.map(({ requiredApprovals }) => requiredApprovals)),
  requiresLastPushApproval: sources.some((source) => source.requiresLastPushApproval),
  requiresCodeOwnerReview: sources.some((source) => source.requiresCodeOwnerReview),
  requiresResolvedThreads: sources.some((source) => source.requiresResolvedThreads),
});

/** Whether any of the newest commits has checks. */
export const isLandedWithChecks = ({ landed }: ShownRules): boolean =>
  (landed?.history?.nodes ?? []).some(
    ({ statusCheckRollup }) => statusCheckRollup && !("isForbidden" in statusCheckRollup),
  );

/** With the App of each check. */
export function requiredChecksOf({ refUpdateRule, rules }: ShownRules): RequiredCheck[] {
  const classic = refUpdateRule?.requiredStatusCheckContexts ?? [];
  const ofRulesets = (rules?.nodes ?? []).flatMap(({ parameters }) => parameters?.requiredStatusChecks ?? []);
  return [
    ...classic.flatMap((name) => (name === null ? [] : [{ name, appId: null }])),
    ...ofRulesets.map(({ context: name, integrationId }) => ({ name, appId: integrationId ?? null })),
  ];
}
