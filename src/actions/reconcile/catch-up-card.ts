import { mergesAfter, ruleAsks, stageOf } from "../../flow/flow.ts";
import { findCardById, type CardHead } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import { findProject, type Project } from "../../store/cards/projects.ts";
import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";
import { lastActorOf } from "../../store/events/timeline.ts";
import { setHeadSha } from "../../store/forge/branches.ts";
import { findOpenOperation, lastMoverOf } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { takeUpBranch } from "../moves/card-branch.ts";
import { lookAtCard, lookAtWhatWasHeard } from "../moves/look-at-card.ts";
import { type Transition } from "../moves/transition.ts";
import { takeStep } from "../moves/take-step.ts";

export const CATCH_UP_CARD = "catch-up-card";

/** How long to wait for a move under way before looking again, in milliseconds. */
const PAUSE_MS = 500;
/** How long to wait for reads that lag behind what was heard. */
const LAG_PAUSE_MS = 5_000;

/** Asks for a card to be brought up to what its stage asks, soon. */
export const catchUpSoon = (db: Db, cardId: string, delayMs = 0): Promise<void> => {
  // Never twice at once for a card: each would open the same pull request. 256 queues, for they are kept for good.
  const queue = `${CATCH_UP_CARD}:${cardId.slice(-2)}`;
  return addJob(db, CATCH_UP_CARD, { cardId }, { key: `${CATCH_UP_CARD}:${cardId}`, queue, delayMs });
};

/**
 * Has a card take up the branch of a repository it is linked to again, whatever its stage, and does what the stage asks and could not be done when the card entered it: the branch in a repository linked since, and the
 * draft pull request that had no commits to show until somebody pushed. A branch that the forge deleted after merging it is made again
 * while a later stage merges it, too. Never merges.
 */
export async function catchUpCard(deps: Deps, cardId: string): Promise<void> {
  const card = await findCardById(deps.db, cardId);
  if (!card) return;
  if ((await findOpenOperation(deps.db, cardId))?.state === "running") {
    // The move under way may be what puts the card into the stage that asks for something.
    return catchUpSoon(deps.db, cardId, PAUSE_MS);
  }
  const project = await findProject(deps.db, card.workspaceId, card.projectId);
  const stage = project && stageOf(project.flow, card.stageId);
  if (!project || !stage) return;
  await takeUpBranches(deps, card, project);
  if (!ruleAsks(stage.rule, "branch")) return;
  const transition = { card, project, stage };
  const links = await listLinks(deps.db, cardId);
  const [nextMerge] = mergesAfter(project.flow, stage.id);
  if (nextMerge && links.some(({ branchName, headSha }) => branchName !== null && headSha === null)) {
    await restoreBranches(deps, { ...transition, stage: nextMerge });
  }
  if (links.some(({ branchName }) => branchName === null)) {
    // A stage that asks for more refuses to start from nothing, so what it asks first is asked alone.
    await takeLateSteps(deps, { ...transition, stage: { ...stage, rule: { type: "branch", into: null } } });
  }
  if (stage.rule.type !== "branch" && stage.rule.type !== "merge") await takeLateSteps(deps, transition);
}

/** Of the repositories the card has no branch in: those it was unlinked from and linked to again. */
async function takeUpBranches(deps: Deps, card: CardHead, project: Project): Promise<void> {
  for (const { branchName, repository } of await listLinks(deps.db, card.id)) {
    if (branchName !== null || repository.ref === null) continue;
    const actorId = (await linkerOf(deps, card.id, repository.id)) ?? card.createdBy;
    await takeUpBranch(deps, {
      card,
      project,
      repositoryId: repository.id,
      repository: repository.ref,
      actorId,
    });
  }
}

const linkerOf = (deps: Deps, cardId: string, repositoryId: string): Promise<string | null> =>
  lastActorOf(deps.db, cardId, "repository_linked", repositoryId);

/** Of the branches last heard to be gone: those that are there are remembered, those merged elsewhere made again. */
async function restoreBranches(deps: Deps, transition: Transition): Promise<void> {
  const { card } = transition;
  const { links, repositories, plan } = await lookAtCard(deps, transition);
  for (const { repositoryId, facts } of repositories) {
    const headSha = "reason" in facts ? null : facts.headSha;
    if (headSha !== null) await setHeadSha(deps.db, card.id, repositoryId, headSha);
  }
  const actorId = (await lastMoverOf(deps.db, card.id)) ?? card.createdBy;
  for (const step of plan.steps) {
    const link = links.find((candidate) => candidate.repository.id === step.repositoryId);
    if (!link || step.action !== "restore_branch") continue;
    await takeStep(deps, { ...transition, actorId, operation: null }, link, step);
  }
}

/** A branch is cut for whoever linked its repository, everything else done for whoever moved the card last. */
async function takeLateSteps(deps: Deps, transition: Transition): Promise<void> {
  const { card } = transition;
  const { links, plan } =
    (await lookAtWhatWasHeard(deps, transition)) ?? (await lookAtCard(deps, transition));
  if (plan.isBehind) await catchUpSoon(deps.db, card.id, LAG_PAUSE_MS);
  const moverId = (await lastMoverOf(deps.db, card.id)) ?? card.createdBy;
  for (const step of plan.steps) {
    const link = links.find((candidate) => candidate.repository.id === step.repositoryId);
    // Whoever made a pull request a draft again since meant it.
    if (!link || step.action === "merge" || step.action === "mark_ready") continue;
    const linkerId = step.action === "create_branch" && (await linkerOf(deps, card.id, step.repositoryId));
    const context = { ...transition, actorId: linkerId || moverId, operation: null };
    const outcome = await takeStep(deps, context, link, step);
    // It has a branch again, which may have something to show.
    if (outcome === "overtaken" && step.action === "create_branch") await catchUpSoon(deps.db, card.id);
    // A push may leave a branch with no commits of its own, too.
    if (outcome !== null && outcome !== "overtaken" && outcome.reason !== "nothing_to_merge") {
      const { action } = step;
      deps.log.warn(
        { cardId: card.id, step: action, reason: outcome.reason },
        "the forge refused a late step",
      );
    }
  }
}
