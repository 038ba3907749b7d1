/** Looks that ask the forge nothing, because webhooks have told what is needed. */
import { ruleAsks, targetOf } from "../flow/flow.ts";
import { planMove, type RepositoryState } from "../flow/move.ts";
import { listLinks, type Link } from "../store/cards/links.ts";
import { listCuts } from "../store/events/timeline.ts";
import { findTip } from "../store/forge/trunks.ts";
import type { Deps } from "./deps.ts";
import type { Transition, Look } from "./look-at-card.ts";

/**
 * The inspection of a card that has no branch anywhere yet: it only needs the commits to cut branches from, and pushes report
 * where the trunks are. Null where the forge has to be asked. An older tip does no harm: the branch starts a little earlier.
 */
export async function lookFromHere(deps: Deps, transition: Transition): Promise<Look | null> {
  if (ruleAsks(transition.stage.rule, "pull_request")) return null;
  const links = await listLinks(deps.db, transition.card.id);
  if (links.some(({ branchName }) => branchName !== null)) return null;
  const repositories = await Promise.all(links.map((link) => toBeCut(deps, transition, link)));
  const known = repositories.filter((state) => state !== null);
  return known.length < links.length ? null : lookOf(transition, links, known);
}

/**
 * What a card's stage asks and its branches lack, as webhooks tell of them: a push to a branch that stood where it was cut is what a pull
 * request can be opened with. Repositories that lack nothing are left out. Null where the forge has to be asked.
 */
export async function lookAtWhatWasHeard(deps: Deps, transition: Transition): Promise<Look | null> {
  const { card, project, stage } = transition;
  const links = await listLinks(deps.db, card.id);
  const cuts = await listCuts(deps.db, card.id);
  const repositories: RepositoryState[] = [];
  for (const link of links) {
    const { repository, branchName, headSha, pullRequests } = link;
    if (branchName === null) {
      const state = ruleAsks(stage.rule, "pull_request") ? null : await toBeCut(deps, transition, link);
      if (state === null) return null;
      repositories.push(state);
      continue;
    }
    if (headSha === null || repository.ref === null) return null;
    const name = targetOf(project.flow, card.hotfix) ?? repository.defaultBranch;
    const isOpen = pullRequests.some(
      ({ state, targetBranch }) => targetBranch === name && (state === "draft" || state === "open"),
    );
    if (isOpen || stage.rule.type === "branch") continue;
    const cutSha = cuts.get(`${repository.id}:${branchName}`);
    if (cutSha === undefined || pullRequests.length > 0) return null;
    if (headSha === cutSha) continue;
    const facts = { target: { name, sha: cutSha }, headSha, aheadBy: null, pullRequests: [] };
    repositories.push({ repositoryId: repository.id, fullName: repository.fullName, branchName, facts });
  }
  return lookOf(transition, links, repositories);
}

/** Null where nobody told where its trunk is, or it may not be asked for anything. */
async function toBeCut(
  deps: Deps,
  { card, project }: Transition,
  { repository }: Link,
): Promise<RepositoryState | null> {
  const { id: repositoryId, fullName, defaultBranch, ref } = repository;
  const name = targetOf(project.flow, card.hotfix) ?? defaultBranch;
  const sha = ref && (await findTip(deps.db, { repositoryId, branchName: name }));
  if (sha === null) return null;
  const facts = { target: { name, sha }, headSha: null, aheadBy: null, pullRequests: [] };
  return { repositoryId, fullName, branchName: null, facts };
}

const lookOf = (
  { card, project, stage }: Transition,
  links: readonly Link[],
  repositories: readonly RepositoryState[],
): Look => ({ links, repositories, plan: planMove({ flow: project.flow, stage, card, repositories }) });
