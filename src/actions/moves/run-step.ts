import { branchNameFor, MAX_BRANCH_NAMES } from "../../flow/names.ts";
import { branchNamesTaken, pullRequestClosed } from "../../flow/branch-refusals.ts";
import type { MoveStep } from "../../flow/move.ts";
import type { Refusal } from "../../flow/refusal.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import type { Link } from "../../store/cards/links.ts";
import { isRecentlySeen } from "../../store/forge/pull-requests.ts";
import {
  findUnconfirmedBranch,
  recordBranchIntent,
  recordIntent,
  withdrawIntent,
  type Intent,
  type RecordedIntent,
} from "../../store/ops/intents.ts";
import type { OwnedOperation } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { beingMoved, type Transition } from "./start-move.ts";
import { createBranchFrom, readoptBranch } from "./card-branch.ts";
import {
  recordBranchCreated,
  recordBranchRestored,
  recordOpened,
  recordReady,
  type EffectContext,
} from "./record-effects.ts";

/**
 * A transition, the user its steps are attributed to, and the move that they belong to. `operation`
 * is null for steps of the job `catchUpCard`.
 */
export interface StepContext extends Transition, EffectContext {
  readonly operation: OwnedOperation | null;
}

type Step<Action extends MoveStep["action"]> = Extract<MoveStep, { action: Action }>;

/** Null when done, a refusal, or "changed" if the card has to be inspected again. */
type StepOutcome = Refusal | "changed" | null;

/**
 * Runs one step other than a merge: stores its intent, calls GitHub, and records the effect. A step
 * that was done already succeeds.
 */
export async function runStep(
  deps: Deps,
  context: StepContext,
  link: Link,
  step: Exclude<MoveStep, Step<"merge">>,
): Promise<StepOutcome> {
  const { forgeRef } = link.repository;
  if (!forgeRef) throw new Error("a step in a repository without an installation");
  switch (step.action) {
    case "create_branch":
      return createBranch(deps, context, forgeRef, step);
    case "restore_branch":
      return restoreBranch(deps, context, forgeRef, step);
    case "open_pull_request":
      return openPullRequest(deps, context, forgeRef, step);
    case "mark_ready":
      return markReady(deps, context, forgeRef, step);
  }
}

/** Stores an intent before the call to GitHub. Throws busy if the move was taken over. */
export async function recordIntentOrThrow(
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
  const { repositoryId, fromSha: sha, targetBranch } = step;
  // The card may have had a branch here before it was unlinked from the repository.
  const earlier = await readoptBranch(deps, { card, project, repositoryId, repository, actorId });
  const unconfirmed = await findUnconfirmedBranch(deps.db, card.id, repositoryId);
  if (earlier.state === "readopted") return "changed";
  if (earlier.state === "refused") return earlier.refusal;
  const names = Array.from({ length: MAX_BRANCH_NAMES }, (_, at) =>
    branchNameFor(project.flow.branchPattern, card.number, card.title, at + 1),
  );
  // The card's title may have changed since the unconfirmed attempt.
  for (const branchName of new Set(unconfirmed ? [unconfirmed.branchName, ...names] : names)) {
    // GitHub would show the former branch's pull requests for a new branch of this name.
    if (branchName === earlier.nameToAvoid) continue;
    const intent = intentOf(context, repositoryId, "create_branch", branchName);
    const declared = await recordBranchIntent(deps.db, intent, context.operation);
    if (declared === "not_owned") throw beingMoved(card);
    // The job `catchUpCard` and a move may have planned the branch at the same time.
    if (declared === "has_branch") return "changed";
    if (declared === "taken") continue;
    const created = await createBranchFrom(deps, repository, { branchName, sha, targetBranch });
    // A branch that exists at another commit belongs to the card only on a retry: the earlier
    // attempt may have created it.
    if (created.ok && (!created.value.isAtOtherCommit || declared.isRetry)) {
      await recordBranchCreated(deps, context, intent, created.value.sha);
      return null;
    }
    await withdrawIntent(deps.db, intent, context.operation);
    if (!created.ok) return created.refusal;
  }
  return branchNamesTaken(names);
}

async function restoreBranch(
  deps: Deps,
  context: StepContext,
  repository: RepositoryRef,
  step: Step<"restore_branch">,
): Promise<Refusal | null> {
  const intent = intentOf(context, step.repositoryId, "create_branch", step.branchName);
  await recordIntentOrThrow(deps, context, intent);
  const created = await deps.forge.createBranch(repository, step.branchName, step.fromSha);
  if (!created.ok) {
    await withdrawIntent(deps.db, intent, context.operation);
    return created.refusal;
  }
  // A branch that somebody has pushed in the meantime is the card's branch as well.
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
  const { repositoryId, branchName: headBranch, targetBranch } = step;
  const intent = intentOf(context, repositoryId, "open_pull_request", `${headBranch}:${targetBranch}`);
  const { isRetry, highestKnownNumber } = await recordIntentOrThrow(deps, context, intent);
  const branches = { repositoryId, headBranch, targetBranch };
  const opened = await deps.forge.openPullRequest(repository, {
    isRetry,
    highestKnownNumber,
    isReported: async () =>
      highestKnownNumber !== null && (await isRecentlySeen(deps.db, branches, highestKnownNumber)),
    title: card.title,
    body: `${card.description}\n\n---\nCard ${card.number}`.trimStart(),
    headBranch,
    targetBranch,
    isDraft: step.isDraft,
  });
  if (!opened.ok) {
    await withdrawIntent(deps.db, intent, context.operation);
    return opened.refusal;
  }
  const { number, nodeId, isDraft, headSha, authorId, ended } = opened.value;
  if (authorId !== undefined && authorId !== (await deps.forge.identity()).botId) {
    // Somebody else opened it first; its webhook records that.
    await withdrawIntent(deps.db, intent, context.operation);
    return "changed";
  }
  const pull = { ...step, prNumber: number, nodeId, headSha, isDraft };
  await recordOpened(deps, context, intent, pull, ended?.openedAt);
  if (ended === undefined) return null;
  return ended.state === "closed" ? pullRequestClosed(number) : "changed";
}

async function markReady(
  deps: Deps,
  context: StepContext,
  repository: RepositoryRef,
  step: Step<"mark_ready">,
): Promise<StepOutcome> {
  const intent = intentOf(context, step.repositoryId, "mark_ready", String(step.prNumber));
  const { round } = await recordIntentOrThrow(deps, context, intent);
  const marked = await deps.forge.markReady(repository, step.nodeId);
  if (!marked.ok) {
    await withdrawIntent(deps.db, intent, context.operation);
    return marked.refusal;
  }
  await recordReady(deps, context, step, round);
  const { targetBranch } = marked.value;
  return targetBranch === null || targetBranch === step.targetBranch ? null : "changed";
}
