import { mergesAfter, ruleRequires, stageOf } from "../../flow/flow.ts";
import { planMove } from "../../flow/move.ts";
import { isRefusal } from "../../flow/refusal.ts";
import { findCardById, type CardHead } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import { findProject, type Project } from "../../store/cards/projects.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { findLastActor } from "../../store/events/timeline.ts";
import { setHeadSha } from "../../store/forge/branches.ts";
import { findOpenMove, findLastMover } from "../../store/cards/moves.ts";
import type { Deps } from "../deps.ts";
import { depsGuardedByLink } from "../deps-guarded-by-link.ts";
import type { Transition } from "../moves/start-move.ts";
import { readoptBranch } from "../moves/card-branch.ts";
import { inspectCard, LAG_PAUSE_MS, planFromStoredState } from "../moves/inspect-card.ts";
import { runStep } from "../moves/run-step.ts";

/** The pause before the next check of a card that is being moved, in milliseconds. */
const PAUSE_MS = 500;

/**
 * Runs the steps of a card's stage that were not possible when the card entered it. Never merges.
 * - Creates the branch in a repository that was linked since.
 * - Opens the pull request of a branch that has got its first commits, as a draft unless the stage
 *   requires one that is ready for review. Not in a stage that merges: only a move merges.
 * - Restores a branch that GitHub deleted after a merge, if a later stage merges it too.
 * - In any stage: gives the card its former branch in a repository it is linked to again.
 */
export async function catchUpCard(deps: Deps, cardId: string): Promise<void> {
  const card = await findCardById(deps.db, cardId);
  if (!card) return;
  if ((await findOpenMove(deps.db, cardId))?.state === "running") {
    return schedule(deps.db, JOBS.catchUpCard, { cardId }, { delayMs: PAUSE_MS });
  }
  const project = await findProject(deps.db, card.workspaceId, card.projectId);
  const stage = project && stageOf(project.flow, card.stageId);
  if (!project || !stage) return;
  await readoptFormerBranches(deps, card, project);
  if (!ruleRequires(stage.rule, "branch")) return;
  const transition = { card, project, stage };
  const links = await listLinks(deps.db, cardId);
  const [nextMerge] = mergesAfter(project.flow, stage.id);
  if (nextMerge && links.some(({ branchName, headSha }) => branchName !== null && headSha === null)) {
    await restoreBranches(deps, { ...transition, stage: nextMerge });
  }
  if (links.some(({ branchName }) => branchName === null)) {
    // With the rules `pull_request` and `merge`, a plan refuses a card without a branch. So missing
    // branches are planned first, with the rule `branch`.
    await runMissingSteps(deps, { ...transition, stage: { ...stage, rule: { type: "branch", into: null } } });
  }
  if (stage.rule.type !== "branch" && stage.rule.type !== "merge") await runMissingSteps(deps, transition);
}

async function readoptFormerBranches(deps: Deps, card: CardHead, project: Project): Promise<void> {
  for (const { branchName, repository } of await listLinks(deps.db, card.id)) {
    const { id: repositoryId, forgeRef } = repository;
    if (branchName !== null || forgeRef === null) continue;
    const actorId = (await linkerOf(deps, card.id, repositoryId)) ?? card.createdBy;
    await readoptBranch(deps, { card, project, repositoryId, repository: forgeRef, actorId });
  }
}

/** The user who linked the repository. */
const linkerOf = (deps: Deps, cardId: string, repositoryId: string): Promise<string | null> =>
  findLastActor(deps.db, cardId, "repository_linked", repositoryId);

/** Checks branches recorded as deleted: stores the head of existing ones, restores the others. */
async function restoreBranches(deps: Deps, transition: Transition): Promise<void> {
  const { card } = transition;
  const { links, question } = await inspectCard(deps, transition);
  for (const { repositoryId, facts } of question.repositories) {
    const headSha = isRefusal(facts) ? null : facts.headSha;
    if (headSha !== null) await setHeadSha(deps.db, card.id, repositoryId, headSha);
  }
  const actorId = (await findLastMover(deps.db, card.id)) ?? card.createdBy;
  for (const step of planMove(question).steps) {
    const link = links.find(({ repository }) => repository.id === step.repositoryId);
    if (!link || step.action !== "restore_branch") continue;
    const context = { ...transition, actorId, operation: null };
    // Refuses writes if the repository leaves the card's project meanwhile.
    const guarded = depsGuardedByLink(deps, card.id, step.repositoryId);
    await runStep(guarded, context, link, step);
  }
}

/** Branches are attributed to the user who linked the repository, other steps to the last mover. */
async function runMissingSteps(deps: Deps, transition: Transition): Promise<void> {
  const { card } = transition;
  const { links, question } =
    (await planFromStoredState(deps, transition)) ?? (await inspectCard(deps, transition));
  // Each repository's steps run, also if another one refuses.
  const plan = planMove(question);
  if (plan.isForgeLagging)
    await schedule(deps.db, JOBS.catchUpCard, { cardId: card.id }, { delayMs: LAG_PAUSE_MS });
  const moverId = (await findLastMover(deps.db, card.id)) ?? card.createdBy;
  for (const step of plan.steps) {
    const { action } = step;
    const link = links.find(({ repository }) => repository.id === step.repositoryId);
    // A pull request may have been converted to a draft on purpose, so none is marked ready here.
    if (!link || step.action === "merge" || step.action === "mark_ready") continue;
    const linkerId = action === "create_branch" && (await linkerOf(deps, card.id, step.repositoryId));
    const context = { ...transition, actorId: linkerId || moverId, operation: null };
    // Refuses writes if the repository leaves the card's project meanwhile.
    const guarded = depsGuardedByLink(deps, card.id, step.repositoryId);
    const outcome = await runStep(guarded, context, link, step);
    // The card has got its former branch, which may have commits for a pull request.
    if (outcome === "changed" && action === "create_branch")
      await schedule(deps.db, JOBS.catchUpCard, { cardId: card.id });
    // A push may leave a branch without commits of its own, which is no reason for a warning.
    if (outcome === null || outcome === "changed" || outcome.reason === "nothing_to_merge") continue;
    const { reason } = outcome;
    deps.log.warn({ cardId: card.id, step: action, reason }, "a step of a card's stage was refused");
  }
}
