import { ruleAsks, targetOf } from "../flow/flow.ts";
import { planMove, type RepositoryState } from "../flow/move.ts";
import { listLinks } from "../store/links.ts";
import { findTip } from "../store/trunk-tips.ts";
import type { Deps } from "./deps.ts";
import type { Crossing, Look } from "./look-at-card.ts";

/**
 * What is known without asking: a card that has no branch anywhere yet only needs to know where to cut them, and pushes tell where the trunks
 * are. Null where the forge has to be asked. An older tip does no harm: the branch begins a little earlier.
 */
export async function lookFromHere(deps: Deps, crossing: Crossing): Promise<Look | null> {
  const { card, project, stage } = crossing;
  if (ruleAsks(stage.rule, "pull_request")) return null;
  const links = await listLinks(deps.db, card.id);
  const repositories: RepositoryState[] = [];
  for (const { repository, branchName } of links) {
    if (branchName !== null || repository.ref === null) return null;
    const { id: repositoryId, fullName, defaultBranch } = repository;
    const target = targetOf(project.flow, card.hotfix) ?? defaultBranch;
    const sha = await findTip(deps.db, { repositoryId, branchName: target });
    if (sha === null) return null;
    const facts = { target: { name: target, sha }, headSha: null, aheadBy: null, pullRequests: [] };
    repositories.push({ repositoryId, fullName, branchName, facts });
  }
  return { links, repositories, plan: planMove({ flow: project.flow, stage, card, repositories }) };
}
