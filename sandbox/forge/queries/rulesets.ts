import type { ForgeContext } from "../context.ts";
import type { AccountRow, PullRequestRow, RulesetRow } from "../rows.ts";

/** The rulesets of a branch. */
export const rulesetsOf = (forge: ForgeContext, repositoryId: number, branch: string): RulesetRow[] =>
  forge.state.rulesets.inGroup(repositoryId).filter((each) => each.branch === branch);

/** Whether an account may ignore a ruleset when it merges a pull request. */
export const mayBypass = ({ appBypass }: RulesetRow, by: AccountRow | null): boolean =>
  by?.type === "Bot" && appBypass !== "never";

/** Who pushed the head of a pull request; null if that is not known. */
export const pusherOf = (forge: ForgeContext, { repositoryId, headRef }: PullRequestRow): number | null =>
  forge.state.branchPushes.inGroup(repositoryId).find(({ branch }) => branch === headRef)?.pusherId ?? null;
