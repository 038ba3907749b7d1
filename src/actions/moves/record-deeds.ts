import type { PullRequestFacts } from "../../flow/facts.ts";
import type { RepositoryState } from "../../flow/move.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { recordEvents, type EventKind } from "../../store/events/timeline.ts";
import { setBranch, setHeadSha } from "../../store/forge/branches.ts";
import { replayDeferredSoon } from "../../store/forge/lanes.ts";
import { savePullRequest, type PullRequestRow } from "../../store/forge/pull-requests.ts";
import { doubtTip } from "../../store/forge/trunks.ts";
import { fulfilIntent, findIntent, withdrawIntent, type Intent } from "../../store/ops/intents.ts";
import { addPromotion, isOperationOurs } from "../../store/ops/operations.ts";
import type { Deps } from "../deps.ts";
import { bringBackSoon } from "../releases/bring-back-hotfix.ts";
import { beingMoved } from "./begin-move.ts";
import { intentKey } from "./transition.ts";

/** For whom a deed of ours was done, and to which card. */
export interface DeedContext {
  readonly card: CardHead;
  readonly actorId: string;
  /** The move it was done under. */
  readonly operation?: HeldOperation | null;
}

interface HeldOperation {
  readonly id: string;
  readonly attempt: number;
}

/** A pull request of a card's, as a deed is about it. */
export interface DeedPullRequest {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly prNumber: number;
  readonly nodeId: string;
  readonly branchName: string;
  readonly targetBranch: string;
  readonly headSha: string;
}

/**
 * Names what happened to a pull request, the same whether we record it ourselves or hear of it by webhook first. Opening and merging happen
 * once; what may happen again carries its round.
 */
export const deedKey = (kind: EventKind, repositoryId: string, prNumber: number, round?: number): string =>
  [kind, repositoryId, prNumber, ...(round === undefined ? [] : ["ours", round])].join(":");

type IntentKey = Pick<Intent, "repositoryId" | "kind" | "subject">;

/** The card owns this branch from now on. */
export async function recordBranchCut(
  deps: Deps,
  context: DeedContext,
  intent: IntentKey,
  headSha: string,
): Promise<void> {
  const { repositoryId, subject: branchName } = intent;
  await transaction(deps.db, async (trx) => {
    await setBranch(trx, context.card.id, repositoryId, { name: branchName, headSha });
    await fulfilIntent(trx, intent);
    const naturalKey = `branch_created:${repositoryId}:${branchName}`;
    await tell(trx, context, "branch_created", { repositoryId, naturalKey }, { branchName, sha: headSha });
  });
}

/** The card's branch is there again. */
export async function recordBranchRestored(
  deps: Deps,
  context: DeedContext,
  intent: IntentKey,
  headSha: string,
): Promise<void> {
  await transaction(deps.db, async (trx) => {
    await setHeadSha(trx, context.card.id, intent.repositoryId, headSha);
    await fulfilIntent(trx, intent);
    await requireOurs(trx, context);
  });
}

/** `openedAt` is of one that has ended since: what is known of it already is newer, and what is not, the forge has yet to tell. */
export async function recordOpened(
  deps: Deps,
  context: DeedContext,
  intent: IntentKey,
  pull: DeedPullRequest & { readonly isDraft: boolean },
  openedAt?: string | null,
): Promise<void> {
  const news = openedAt === undefined ? {} : { heardAt: openedAt, heardAction: "opened" };
  await transaction(deps.db, async (trx) => {
    await save(trx, context, pull, { state: pull.isDraft ? "draft" : "open", ...news });
    await fulfilIntent(trx, intent);
    const naturalKey = deedKey("pull_request_opened", pull.repositoryId, pull.prNumber);
    const data = { ...shown(pull), isDraft: pull.isDraft };
    await tell(trx, context, "pull_request_opened", { repositoryId: pull.repositoryId, naturalKey }, data);
  });
}

export async function recordReady(
  deps: Deps,
  context: DeedContext,
  pull: DeedPullRequest,
  round: number,
): Promise<void> {
  await transaction(deps.db, async (trx) => {
    await save(trx, context, pull, { state: "open" });
    await fulfilIntent(trx, intentKey(pull, "mark_ready"));
    const naturalKey = deedKey("pull_request_ready", pull.repositoryId, pull.prNumber, round);
    await tell(
      trx,
      context,
      "pull_request_ready",
      { repositoryId: pull.repositoryId, naturalKey },
      shown(pull),
    );
  });
}

export async function recordMerged(
  deps: Deps,
  context: DeedContext & { readonly operation: HeldOperation },
  pull: DeedPullRequest,
  mergeSha: string | null,
): Promise<void> {
  const { fullName, targetBranch, prNumber } = pull;
  await transaction(deps.db, async (trx) => {
    await save(trx, context, pull, { state: "merged", mergeSha });
    await fulfilIntent(trx, intentKey(pull, "merge"));
    await addPromotion(trx, context.operation, { fullName, targetBranch, prNumber });
    await doubtTip(trx, { repositoryId: pull.repositoryId, branchName: targetBranch }, mergeSha);
    const naturalKey = deedKey("pull_request_merged", pull.repositoryId, prNumber);
    const data = { ...shown(pull), sha: mergeSha };
    if (context.card.hotfix) await bringBackSoon(trx, context.card.id);
    await tell(trx, context, "pull_request_merged", { repositoryId: pull.repositoryId, naturalKey }, data);
  });
}

const shown = ({ prNumber, targetBranch }: DeedPullRequest): Record<string, unknown> => ({
  prNumber,
  targetBranch,
});

const save = async (
  trx: Trx,
  { card }: DeedContext,
  { repositoryId, prNumber, nodeId, branchName, targetBranch, headSha }: DeedPullRequest,
  now: Pick<PullRequestRow, "state" | "heardAt" | "heardAction"> & { readonly mergeSha?: string | null },
): Promise<void> => {
  const pull = { repositoryId, number: prNumber, cardId: card.id, nodeId, targetBranch, headSha };
  const isNew = await savePullRequest(trx, { mergeSha: null, ...pull, headBranch: branchName, ...now });
  if (isNew) await replayDeferredSoon(trx, repositoryId, prNumber);
};

/** Tells what was done, and ends a record of it. */
const tell = async (
  trx: Trx,
  context: DeedContext,
  kind: EventKind,
  where: { readonly repositoryId: string; readonly naturalKey: string },
  data: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const { card, actorId } = context;
  await recordEvents(trx, [
    { cardId: card.id, kind, actor: { userId: actorId, login: null }, data, ...where },
  ]);
  await requireOurs(trx, context);
};

/**
 * Whoever has taken a move over finds what was done under it, and records it: told to them in the middle, it would look like somebody else's, and
 * be done again. Asked last, after the card: the order in which moves are begun.
 */
async function requireOurs(trx: Trx, { card, operation }: DeedContext): Promise<void> {
  if (operation && !(await isOperationOurs(trx, operation))) throw beingMoved(card);
}

type Context = DeedContext & { readonly operation: { readonly id: string; readonly attempt: number } };

/**
 * Records what the forge shows as done, that we meant to do and never knew to be done: the process that did it died before it could say so.
 */
export async function recordEarlierDeeds(
  deps: Deps,
  context: Context,
  repositories: readonly RepositoryState[],
): Promise<void> {
  for (const repository of repositories) {
    const { branchName } = repository;
    if ("reason" in repository.facts || branchName === null) continue;
    for (const facts of repository.facts.pullRequests) {
      await recordEarlierDeedsOn(deps, context, { ...repository, branchName }, facts);
    }
  }
}

async function recordEarlierDeedsOn(
  deps: Deps,
  context: Context,
  { repositoryId, fullName, branchName }: RepositoryState & { readonly branchName: string },
  facts: PullRequestFacts,
): Promise<void> {
  const { nodeId, targetBranch, headSha, isDraft } = facts;
  const pull: DeedPullRequest = {
    repositoryId,
    fullName,
    prNumber: facts.number,
    nodeId,
    branchName,
    targetBranch,
    headSha,
  };
  const opening = {
    repositoryId,
    kind: "open_pull_request",
    subject: `${branchName}:${targetBranch}`,
  } as const;
  const opened = await findIntent(deps.db, opening);
  if (opened && !opened.done && facts.state !== "closed") {
    await recordOpened(deps, { ...context, actorId: opened.actorId }, opening, { ...pull, isDraft });
  }
  const ready = await findIntent(deps.db, intentKey(pull, "mark_ready"));
  if (ready && !ready.done && !isDraft && facts.state === "open") {
    await recordReady(deps, { ...context, actorId: ready.actorId }, pull, ready.round);
  }
  const merge = await findIntent(deps.db, intentKey(pull, "merge"));
  if (merge && !merge.done && facts.state === "merged") {
    if (facts.isMergedByPerson && !merge.accepted) await withdrawIntent(deps.db, intentKey(pull, "merge"));
    else await recordMerged(deps, { ...context, actorId: merge.actorId }, pull, facts.mergeSha);
  }
}
