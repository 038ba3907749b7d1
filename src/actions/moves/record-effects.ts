import type { PullRequestFacts } from "../../flow/facts.ts";
import type { CardBranch } from "../../flow/branch-refusals.ts";
import type { OfPullRequest, RepositoryState } from "../../flow/move.ts";
import { isRefusal } from "../../flow/refusal.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { type EventKind } from "../../store/events/event-kinds.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import { setBranch, setHeadSha } from "../../store/forge/branches.ts";
import { savePullRequest, type PullRequestRow } from "../../store/forge/pull-requests.ts";
import { invalidateTip } from "../../store/forge/trunks.ts";
import {
  completeIntent,
  findIntent,
  type FoundIntent,
  withdrawIntent,
  type IntentKey,
} from "../../store/ops/intents.ts";
import { recordMerge } from "../../store/cards/moves.ts";
import { ownsOperation } from "../../store/ops/operations.ts";
import type { OwnedOperation } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { beingMoved } from "./start-move.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** The card an effect belongs to, and the user it is attributed to. */
export interface EffectContext {
  readonly card: CardHead;
  readonly actorId: string;
  /** The move that caused the effect. */
  readonly operation?: OwnedOperation | null;
}

type EffectMoveContext = EffectContext & { readonly operation: OwnedOperation };

export type CardPullRequest = CardBranch & OfPullRequest;

/**
 * The natural key of a pull request's event: the same whether we record it after our own call or
 * after its webhook. Opening and merging happen once. The keys of other events include the round of
 * their intent.
 */
export const effectKey = (kind: EventKind, repositoryId: string, prNumber: number, round?: number): string =>
  [kind, repositoryId, prNumber, ...(round === undefined ? [] : ["ours", round])].join(":");

/** The key of the intent to change a pull request. */
export const intentKey = (
  { repositoryId, prNumber }: Pick<CardPullRequest, "repositoryId" | "prNumber">,
  kind: "mark_ready" | "merge",
): IntentKey => ({ repositoryId, kind, subject: String(prNumber) });

/** Gives the card the branch that was created for it. */
export async function recordBranchCreated(
  deps: Deps,
  context: EffectContext,
  intent: IntentKey,
  headSha: string,
): Promise<void> {
  const { repositoryId, subject: branchName } = intent;
  const naturalKey = `branch_created:${repositoryId}:${branchName}`;
  const data = { branchName, sha: headSha };
  await transaction(deps.db, async (trx) => {
    await setBranch(trx, context.card.id, repositoryId, { name: branchName, headSha });
    await completeIntent(trx, intent);
    await recordEvent(trx, context, { kind: "branch_created", repositoryId, naturalKey, data });
  });
}

/** Records the new head of a restored branch. The timeline does not show it. */
export async function recordBranchRestored(
  deps: Deps,
  context: EffectContext,
  intent: IntentKey,
  headSha: string,
): Promise<void> {
  await transaction(deps.db, async (trx) => {
    await setHeadSha(trx, context.card.id, intent.repositoryId, headSha);
    await completeIntent(trx, intent);
    await requireOwned(trx, context);
  });
}

/**
 * `openedAt` is set if the pull request was closed or merged after it was opened. Then an existing
 * row keeps its newer state.
 */
export async function recordOpened(
  deps: Deps,
  context: EffectContext,
  intent: IntentKey,
  pull: CardPullRequest & { readonly isDraft: boolean },
  openedAt?: string | null,
): Promise<void> {
  const state = pull.isDraft ? "draft" : "open";
  const opening = openedAt === undefined ? {} : { eventAt: openedAt, eventAction: "opened" };
  await transaction(deps.db, async (trx) => {
    await save(trx, context, pull, { state, ...opening });
    await completeIntent(trx, intent);
    const event = eventOf("pull_request_opened", pull, { isDraft: pull.isDraft });
    await recordEvent(trx, context, event);
  });
}

export async function recordReady(
  deps: Deps,
  context: EffectContext,
  pull: CardPullRequest,
  round: number,
): Promise<void> {
  await transaction(deps.db, async (trx) => {
    await save(trx, context, pull, { state: "open" });
    await completeIntent(trx, intentKey(pull, "mark_ready"));
    await recordEvent(trx, context, eventOf("pull_request_ready", pull, {}, round));
  });
}

export async function recordMerged(
  deps: Deps,
  context: EffectMoveContext,
  pull: CardPullRequest,
  mergeSha: string | null,
): Promise<void> {
  const { repositoryId, fullName, targetBranch, prNumber } = pull;
  await transaction(deps.db, async (trx) => {
    await save(trx, context, pull, { state: "merged", mergeSha });
    await completeIntent(trx, intentKey(pull, "merge"));
    await recordMerge(trx, context.operation, { fullName, targetBranch, prNumber });
    await invalidateTip(trx, { repositoryId, branchName: targetBranch }, mergeSha);
    if (context.card.hotfix) await schedule(trx, JOBS.backMerge, { cardId: context.card.id });
    await recordBypass(trx, context.card.id, pull);
    await recordEvent(trx, context, eventOf("pull_request_merged", pull, { sha: mergeSha }));
  });
}

/** Records the rules that Trunkline's merge of a pull request has bypassed, if there are any. */
export async function recordBypass(
  trx: Trx,
  cardId: string,
  pull: Pick<CardPullRequest, "repositoryId" | "prNumber" | "targetBranch">,
): Promise<void> {
  const intent = await findIntent(trx, intentKey(pull, "merge"));
  if (!intent || intent.bypassed.length === 0) return;
  const event = eventOf("rules_bypassed", pull, { rules: intent.bypassed });
  await recordEvents(trx, [{ cardId, actor: { userId: intent.actorId, login: null }, ...event }]);
}

type EffectEvent = Omit<NewEvent, "cardId" | "actor">;

const eventOf = (
  kind: EventKind,
  {
    repositoryId,
    prNumber,
    targetBranch,
  }: Pick<CardPullRequest, "repositoryId" | "prNumber" | "targetBranch">,
  data: object,
  round?: number,
): EffectEvent => ({
  kind,
  repositoryId,
  data: { prNumber, targetBranch, ...data },
  naturalKey: effectKey(kind, repositoryId, prNumber, round),
});

async function save(
  trx: Trx,
  { card }: EffectContext,
  { repositoryId, prNumber, nodeId, branchName, targetBranch, headSha }: CardPullRequest,
  now: Pick<PullRequestRow, "state" | "eventAt" | "eventAction"> & { readonly mergeSha?: string | null },
): Promise<void> {
  const pull = { repositoryId, number: prNumber, cardId: card.id, nodeId, targetBranch, headSha };
  const isNew = await savePullRequest(trx, { mergeSha: null, ...pull, headBranch: branchName, ...now });
  if (isNew) await schedule(trx, JOBS.replayDeferred, { repositoryId, number: prNumber });
}

/** Records an effect on the timeline. Call it last in the transaction. */
async function recordEvent(trx: Trx, context: EffectContext, event: EffectEvent): Promise<void> {
  const { card, actorId } = context;
  await recordEvents(trx, [{ cardId: card.id, actor: { userId: actorId, login: null }, ...event }]);
  await requireOwned(trx, context);
}

/**
 * Throws busy if another process has taken the move over. That process finds the effect on GitHub
 * and records it; if this one recorded it too, that process would attribute it to somebody else.
 * Call it last, because every transaction locks the card before the operation.
 */
async function requireOwned(trx: Trx, { card, operation }: EffectContext): Promise<void> {
  if (operation && !(await ownsOperation(trx, operation))) throw beingMoved(card);
}

/** Records the effects of intents whose process died before it could record them. */
export async function recordEarlierEffects(
  deps: Deps,
  context: EffectMoveContext,
  repositories: readonly RepositoryState[],
): Promise<void> {
  for (const { repositoryId, fullName, branchName, facts } of repositories) {
    if (isRefusal(facts) || branchName === null) continue;
    for (const shown of facts.pullRequests) {
      const pull = { ...shown, repositoryId, fullName, branchName, prNumber: shown.number };
      await recordEarlierEffectsOn(deps, context, pull, shown);
    }
  }
}

/**
 * Whether a merge belongs to the person whom GitHub names, although Trunkline has an intent for it:
 * the person was faster. Not if Trunkline's merge is done, or went through the merge queue, for
 * which GitHub may name anybody.
 */
export const isMergeOfPerson = (intent: FoundIntent | null, isPersonNamed: boolean): boolean =>
  isPersonNamed && !intent?.done && !intent?.wasQueued;

async function recordEarlierEffectsOn(
  deps: Deps,
  context: EffectMoveContext,
  pull: CardPullRequest,
  { state, isDraft, isMergedByPerson, mergeSha }: PullRequestFacts,
): Promise<void> {
  const { repositoryId, branchName, targetBranch } = pull;
  const subject = `${branchName}:${targetBranch}`;
  const opening: IntentKey = { repositoryId, kind: "open_pull_request", subject };
  const opened = await findIntent(deps.db, opening);
  if (opened && !opened.done && state !== "closed") {
    await recordOpened(deps, { ...context, actorId: opened.actorId }, opening, { ...pull, isDraft });
  }
  const ready = await findIntent(deps.db, intentKey(pull, "mark_ready"));
  if (ready && !ready.done && !isDraft && state === "open") {
    await recordReady(deps, { ...context, actorId: ready.actorId }, pull, ready.round);
  }
  const merge = await findIntent(deps.db, intentKey(pull, "merge"));
  if (merge && !merge.done && state === "merged") {
    if (isMergeOfPerson(merge, isMergedByPerson)) await withdrawIntent(deps.db, intentKey(pull, "merge"));
    else await recordMerged(deps, { ...context, actorId: merge.actorId }, pull, mergeSha);
  }
}
