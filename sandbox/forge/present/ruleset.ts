import { protectionOf } from "../actions/protection.ts";
import { rulesetsOf } from "../queries/rulesets.ts";
import type { ForgeContext } from "../context.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import type { RepositoryRow, RulesetRow } from "../rows.ts";
import { presentAccountById } from "./account.ts";

interface BranchRule {
  readonly type: string;
  readonly parameters?: object;
  readonly ruleset_id: number;
}

/** The rules of a branch that come from rulesets; `protection` has the merge queue and signatures. */
export function presentBranchRules(
  forge: ForgeContext,
  repository: RepositoryRow,
  branch: string,
): BranchRule[] {
  const source = {
    ruleset_source_type: "Repository",
    ruleset_source: `${presentAccountById(forge, repository.ownerId).login}/${repository.name}`,
  };
  const ofRulesets = rulesetsOf(forge, repository.id, branch).flatMap((ruleset) =>
    presentRules(ruleset).map((rule) => ({ ...rule, ...source, ruleset_id: ruleset.id })),
  );
  const protection = protectionOf(forge, repository, branch);
  if (protection === undefined) return ofRulesets;
  const queue = {
    check_response_timeout_minutes: 60,
    grouping_strategy: "ALLGREEN",
    max_entries_to_build: 5,
    max_entries_to_merge: 5,
    merge_method: "MERGE",
    min_entries_to_merge: 1,
    min_entries_to_merge_wait_minutes: 0,
  };
  const named = { ...source, ruleset_id: protection.id };
  return [
    ...ofRulesets,
    ...(protection.mergeQueue ? [{ type: "merge_queue", parameters: queue, ...named }] : []),
    ...(protection.requiredSignatures === "ruleset" ? [{ type: "required_signatures", ...named }] : []),
  ];
}

function presentRules({ requiredChecks, requiredReviews }: RulesetRow): Omit<BranchRule, "ruleset_id">[] {
  const rules: Omit<BranchRule, "ruleset_id">[] = [];
  if (requiredReviews !== null) {
    const parameters = {
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: requiredReviews.requiresLastPushApproval,
      required_approving_review_count: requiredReviews.count,
      required_review_thread_resolution: requiredReviews.requiresResolvedThreads,
    };
    rules.push({ type: "pull_request", parameters });
  }
  if (requiredChecks.length > 0) {
    const checks = requiredChecks.map(({ context, appId }) => ({
      context,
      ...(appId !== null && { integration_id: appId }),
    }));
    const parameters = {
      do_not_enforce_on_create: false,
      required_status_checks: checks,
      strict_required_status_checks_policy: false,
    };
    rules.push({ type: "required_status_checks", parameters });
  }
  return rules;
}

/** A ruleset as an installation sees it: without the bypass list. */
export function presentRuleset(
  forge: ForgeContext,
  repository: RepositoryRow,
  row: RulesetRow,
  isApp: boolean,
) {
  const owner = presentAccountById(forge, repository.ownerId).login;
  return {
    id: row.id,
    name: row.name,
    target: "branch",
    source_type: "Repository",
    source: `${owner}/${repository.name}`,
    enforcement: "active",
    node_id: nodeId(NODE_PREFIXES.ruleset, row.id),
    current_user_can_bypass: isApp ? row.appBypass : "never",
    conditions: { ref_name: { include: [`refs/heads/${row.branch}`], exclude: [] } },
    rules: presentRules(row),
  };
}
