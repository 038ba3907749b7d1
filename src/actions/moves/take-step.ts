import { branchNameFor } from "../../flow/names.ts";
import { pullRequestClosed } from "../../flow/merge-blockers.ts";
import type { MoveStep } from "../../flow/move.ts";
import type { Refusal } from "../../flow/refusal.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import type { Link } from "../../store/cards/links.ts";
import { isHeardOf } from "../../store/forge/pull-requests.ts";
import {
  findUnheardCut,
  recordCutIntent,
  recordIntent,
  withdrawIntent,
  type Intent,
  type RecordedIntent,
} from "../../store/ops/intents.ts";
import type { Deps } from "../deps.ts";
import { beingMoved } from "./begin-move.ts";
import { cutBranch, takeUpBranch } from "./card-branch.ts";
import type { Transition } from "./transition.ts";
import {
  recordBranchCut,
  recordBranchRestored,
  recordOpened,
  recordReady,
  type DeedContext,
} from "./record-deeds.ts";

/** For whom a step is taken, and under which operation; without one it is Trunkline catching up with what a stage asks. */
export interface StepContext extends Transition, DeedContext {
  readonly operation: { readonly id: string; readonly attempt: number } | null;
}

type Step<Action extends MoveStep["action"]> = Extract<MoveStep, { action: Action }>;

/** How many names are tried when others have them, before it is given up. */
const MAX_NAMES = 20;

/** Null when done, else the forge's refusal, or that the pull request or the branch is not what was looked at: it has to be looked at again. */
export type StepOutcome = Refusal | "overtaken" | null;

/**
 * Takes one step other than a merge, and records what came of it. Every step is written down as an intent first, and a step
 * that was taken already is a success.
 */
export async function takeStep(
  deps: Deps,
  context: StepContext,
  link: Link,
  step: Exclude<MoveStep, Step<"merge">>,
): Promise<StepOutcome> {
  const { ref } = link.repository;
  if (!ref) throw new Error("a step in a repository without an installation");
  switch (step.action) {
    case "create_branch":
      return createBranch(deps, context, ref, step);
    case "restore_branch":
      return restoreBranch(deps, context, ref, step);
    case "open_pull_request":
      return openPullRequest(deps, context, ref, step);
    case "mark_ready":
      return markReady(deps, context, ref, step);
  }
}

/** Written down under the move while it is ours, before every writing call to the forge. Throws busy when the move is not. */
export async function declareIntent(
  deps: Deps,
  context: StepContext,
  intent: Intent,
): Promise<RecordedIntent> {
  const recorded = await recordIntent(deps.db, intent, context.operation);
  if (recorded === null) throw beingMoved(context.card);
  return recorded;
}

export const intentOf = (
  { card, actorId }: StepContext,
  repositoryId: string,
  kind: Intent["kind"],
  subject: string,
): Intent => ({ repositoryId, kind, subject, cardId: card.id, actorId });

async function createBranch(
  deps: Deps,
  context: StepContext,
  repository: RepositoryRef,
  step: Step<"create_branch">,
): Promise<StepOutcome> {
  const { card, project, actorId } = context;
  const { repositoryId } = step;
  const earlierOne = await takeUpBranch(deps, { card, project, repositoryId, repository, actorId });
  const unheard = await findUnheardCut(deps.db, card.id, repositoryId);
  if (earlierOne.state === "taken") return "overtaken";
  if (earlierOne.state === "refused") return earlierOne.refusal;
  const names = Array.from({ length: MAX_NAMES }, (_, at) =>
    branchNameFor(project.flow.branchPattern, card.number, card.title, at + 1),
  );
  // The card may be called otherwise than when it was first tried.
  for (const branchName of new Set(unheard ? [unheard.branchName, ...names] : names)) {
    if (branchName === earlierOne.spentName) continue;
    const intent = intentOf(context, step.repositoryId, "create_branch", branchName);
    const declared = await recordCutIntent(deps.db, intent, context.operation);
    if (declared === "not_held") throw beingMoved(card);
    if (declared === "taken") continue;
    const { fromSha: sha, targetBranch } = step;
    const cut = await cutBranch(deps, repository, { branchName, sha, targetBranch });
    // Taken by a try of ours whose answer never came: the trunk has gone on since, the branch is still the card's.
    const isOurs = cut.ok && (!cut.value.isTaken || declared.isRepeated);
    if (!isOurs) {
      await withdrawIntent(deps.db, intent, context.operation);
      if (!cut.ok) return cut.refusal;
      continue;
    }
    await recordBranchCut(deps, context, intent, cut.value.sha);
    return null;
  }
  return {
    reason: "branch_missing",
    message: `Every name for the card's branch is taken, from ${names[0]} to ${names.at(-1)}.`,
    details: { taken: names },
  };
}

/** Nothing is told of it: for whoever works on the card its branch was there all along. */
async function restoreBranch(
  deps: Deps,
  context: StepContext,
  repository: RepositoryRef,
  step: Step<"restore_branch">,
): Promise<Refusal | null> {
  const intent = intentOf(context, step.repositoryId, "create_branch", step.branchName);
  await declareIntent(deps, context, intent);
  const created = await deps.forge.createBranch(repository, step.branchName, step.fromSha);
  if (!created.ok) {
    await withdrawIntent(deps.db, intent, context.operation);
    return created.refusal;
  }
  // Taken by somebody's push in the meantime: it is the card's branch all the same.
  const headSha = "taken" in created.value ? created.value.taken : step.fromSha;
  await recordBranchRestored(deps, context, intent, headSha);
  return null;
}

async function openPullRequest(
  deps: Deps,
  context: StepContext,
  repository: RepositoryRef,
  step: Step<"open_pull_request">,
): Promise<StepOutcome> {
  const { card } = context;
  const intent = intentOf(
    context,
    step.repositoryId,
    "open_pull_request",
    `${step.branchName}:${step.targetBranch}`,
  );
  const { isRepeated, knownUpTo } = await declareIntent(deps, context, intent);
  const { repositoryId, fullName, branchName, targetBranch } = step;
  const headed = { repositoryId, headBranch: branchName, targetBranch };
  const opened = await deps.forge.openPullRequest(repository, {
    isRepeated,
    knownUpTo,
    isHeardOf: async () => knownUpTo !== null && (await isHeardOf(deps.db, headed, knownUpTo)),
    title: card.title,
    body: `${card.description}\n\n---\nCard #${card.number}`.trimStart(),
    headBranch: branchName,
    targetBranch,
    isDraft: step.isDraft,
  });
  if (!opened.ok) {
    await withdrawIntent(deps.db, intent, context.operation);
    return opened.refusal;
  }
  const { number, nodeId, isDraft, headSha, authorId, ended } = opened.value;
  if (authorId !== undefined && authorId !== (await deps.forge.identity()).botId) {
    // Somebody opened it before us, and the webhook will say so.
    await withdrawIntent(deps.db, intent, context.operation);
    return "overtaken";
  }
  const pull = {
    repositoryId,
    fullName,
    prNumber: number,
    nodeId,
    branchName,
    targetBranch,
    headSha,
    isDraft,
  };
  await recordOpened(deps, context, intent, pull, ended?.openedAt);
  if (ended === undefined) return null;
  return ended.state === "closed" ? pullRequestClosed(number) : "overtaken";
}

async function markReady(
  deps: Deps,
  context: StepContext,
  repository: RepositoryRef,
  step: Step<"mark_ready">,
): Promise<StepOutcome> {
  const intent = intentOf(context, step.repositoryId, "mark_ready", String(step.prNumber));
  const { round } = await declareIntent(deps, context, intent);
  const marked = await deps.forge.markReady(repository, step.nodeId);
  if (!marked.ok) {
    await withdrawIntent(deps.db, intent, context.operation);
    return marked.refusal;
  }
  await recordReady(deps, context, step, round);
  const { targetBranch } = marked.value;
  return targetBranch === null || targetBranch === step.targetBranch ? null : "overtaken";
}
