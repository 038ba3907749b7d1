import { checksState } from "../../flow/checks.ts";
import { firstCharacters } from "../../flow/text.ts";
import type { Pushed } from "../../forge/events.ts";
import { listCardsAwaitingBackMerge } from "../../store/releases/release-cards.ts";
import {
  lockBranch,
  recordFoundByComparison,
  setHeadSha,
  type LockedBranch,
  listBranchOutcomes,
} from "../../store/forge/branches.ts";
import type { Trx } from "../../store/db/connect.ts";
import { conversationOfBranch, recordConversationActivity } from "../../store/events/conversations.ts";
import {
  branchKey,
  deleteInboxItems,
  upsertInboxItem,
  type NewInboxItem,
} from "../../store/inbox/stored-items.ts";
import { findIntent } from "../../store/ops/intents.ts";
import { recordTargetMoved } from "../../store/forge/branch-snapshots.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import type { Repository } from "../../store/forge/repositories.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import { findForgeUser } from "../../store/tenancy/users.ts";
import type { Deps } from "../deps.ts";
import { isOurBot } from "../members/forge-accounts.ts";
import { recheckRefusedAndArmedMoves, recheckMissingBranches } from "../../store/cards/schedule-rechecks.ts";
import { saveAwaitedReactionToChecks } from "./checks.ts";
import type { EventContext } from "./event-context.ts";
import { transaction } from "../../store/db/transaction.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** How many commits the timeline item of a push shows. */
const MAX_COMMITS = 20;
const MAX_TITLE = 200;

/**
 * Handles the part of a push that does not depend on whose branch it is: cards may be compared with it,
 * it may bring a hotfix to an earlier target (a back-merge), or create a branch that blocked cards need.
 */
export async function handlePushToAnyBranch(
  { db }: Deps,
  { branchName, after }: Pushed,
  { id: repositoryId }: Repository,
): Promise<void> {
  await recordTargetMoved(db, { repositoryId, branchName, sha: after });
  for (const cardId of await listCardsAwaitingBackMerge(db, repositoryId, branchName)) {
    await schedule(db, JOBS.backMerge, { cardId });
  }
  if (after !== null) await recheckMissingBranches(db, [{ repositoryId, branchName }]);
}

/**
 * Records a push to a card's branch, or its deletion, and schedules what the new commits make
 * possible. GitHub's `create` and `delete` events are not needed: each comes with a push event
 * (https://docs.github.com/en/webhooks/webhook-events-and-payloads).
 */
export async function handlePushToCardBranch(
  deps: Deps,
  event: Pushed,
  context: EventContext,
): Promise<void> {
  const { repository, card } = context;
  const link = (await listLinks(deps.db, card.id)).find(({ repository: { id } }) => id === repository.id);
  if (!link) return;
  const isOurs = await isOurBot(deps, event.sender);
  if (isOurs && (await isOurNewBranch(deps, link, event))) return;
  if (event.after === null && (await isDeletedAfterMerge(deps, link, event))) {
    const headSha = await headAfter(deps, link, event);
    // GitHub deleted the branch after a merge. If a later stage merges it, too, the job restores it.
    return transaction(deps.db, async (trx) => {
      await setHeadSha(trx, card.id, repository.id, headSha);
      await schedule(trx, JOBS.catchUpCard, { cardId: card.id });
    });
  }
  const headSha = await headAfter(deps, link, event);
  const activity = await activityOf(deps, event, context);
  const isDone = await transaction(deps.db, async (trx) => {
    const locked = await lockBranch(trx, card.id, repository.id);
    const isNew = locked !== null && !isRecordedAlready(locked, event);
    // Another push was recorded since the link was read: start again.
    if (isNew && locked.headSha !== link.headSha) return false;
    if (isNew) await setHeadSha(trx, card.id, repository.id, headSha);
    if (!isOurs) await recordReaction(trx, event, context, activity);
    // Last, to keep the time between inserting a timeline item and committing it short.
    if (isNew) await recordPush(trx, event, context, { from: link.headSha, to: headSha });
    return true;
  });
  if (!isDone) await handlePushToCardBranch(deps, event, context);
}

/**
 * The inbox shows agents that do not react to questions, reviews and failing checks. A push is a
 * reaction. If checks fail at its commit, another one is awaited.
 */
async function recordReaction(
  trx: Trx,
  { after, at }: Pushed,
  { repository, card }: EventContext,
  activity: Activity | null,
): Promise<void> {
  if (after === null) return;
  const { id: repositoryId } = repository;
  const conversation = conversationOfBranch({ cardId: card.id, workspaceId: card.workspaceId, repositoryId });
  if (activity) await recordConversationActivity(trx, conversation, { ...activity, isPushOrOpening: true });
  await saveAwaitedReactionToChecks(trx, repositoryId, after, at);
}

/** Adds the push to the card's timeline and the inbox, and schedules what it may allow. */
async function recordPush(
  trx: Trx,
  event: Pushed,
  { repository, card, actor }: EventContext,
  head: { readonly from: string | null; readonly to: string | null },
): Promise<void> {
  const { branchName, before, after, forced, at } = event;
  const naturalKey = `push:${repository.id}:${branchName}:${before ?? "-"}:${after ?? "-"}:${at ?? ""}`;
  const recorded = { cardId: card.id, actor, repositoryId: repository.id, at, naturalKey };
  const push = { branchName, before, after, commits: commitsOf(event), forced };
  const addedEvents = await recordEvents(trx, [
    after === null
      ? { ...recorded, kind: "branch_deleted", data: { branchName, sha: before } }
      : { ...recorded, kind: "pushed", data: push },
  ]);
  const key = branchKey(repository.id, branchName);
  if (head.to !== null) await deleteInboxItems(trx, "branch_deleted", key);
  else if (after === null && addedEvents > 0)
    await upsertInboxItem(trx, deletedBranchItem(event, card, recorded));
  if (event.isFromComparison && at !== null)
    await recordFoundByComparison(trx, card.id, repository.id, { at, sha: after });
  if (head.to !== null && head.to !== head.from)
    await recordEarlierChecks(trx, recorded, branchName, head.to);
  if (after !== null) await schedule(trx, JOBS.catchUpCard, { cardId: card.id });
  await recheckRefusedAndArmedMoves(trx, card.id);
}

type RecordedPush = Omit<NewEvent, "kind" | "data"> & {
  readonly repositoryId: string;
  readonly naturalKey: string;
};

/**
 * Whether the new head and the push are recorded already, because both a webhook and the hourly
 * comparison reported the push. A webhook that arrives twice is recognized later, by the natural key
 * of its event.
 */
function isRecordedAlready({ headSha, comparedAt, comparedSha }: LockedBranch, event: Pushed): boolean {
  if (event.before === headSha) return false;
  // A webhook has changed the stored head since the comparison read it.
  if (event.isFromComparison) return true;
  if (comparedAt === null) return false;
  // The comparison found the push before its webhook arrived.
  return event.after === comparedSha || (event.at !== null && event.at <= comparedAt);
}

/** Checks may have reported on the branch's new head before its push was recorded. */
async function recordEarlierChecks(
  trx: Trx,
  push: RecordedPush,
  branchName: string,
  sha: string,
): Promise<void> {
  const to = checksState(await listBranchOutcomes(trx, push.cardId, push.repositoryId, sha));
  if (to === null) return;
  const data = { branchName, sha, from: null, to };
  const naturalKey = `checks:${push.naturalKey}`;
  await recordEvents(trx, [{ ...push, kind: "checks_changed", data, naturalKey }]);
}

const commitsOf = (event: Pushed): { sha: string; title: string }[] =>
  event.commits
    .slice(-MAX_COMMITS)
    .map(({ sha, message }) => ({ sha, title: firstCharacters(message.split("\n", 1)[0] ?? "", MAX_TITLE) }));

const deletedBranchItem = (
  { branchName, before, sender }: Pushed,
  { workspaceId, projectId }: EventContext["card"],
  { cardId, repositoryId, at, actor: { login } }: RecordedPush,
): NewInboxItem => ({
  workspaceId,
  projectId,
  cardId,
  repositoryId,
  kind: "branch_deleted",
  naturalKey: branchKey(repositoryId, branchName),
  detail: sender
    ? `${login} deleted ${branchName}, the card's branch, before it was merged.`
    : `${branchName}, the card's branch, was deleted before it was merged.`,
  data: { branchName, sha: before, login },
  at: at ?? null,
});

interface Activity {
  readonly userId: string;
  readonly at: string | null;
}

/**
 * Who pushed, and when. For a push found by a comparison this is the author of the newest commit,
 * if known here. The time is that of the commit, but not later than the comparison.
 */
async function activityOf(
  deps: Deps,
  { isFromComparison, newest, at: eventAt }: Pushed,
  { actor: { userId } }: EventContext,
): Promise<Activity | null> {
  if (!isFromComparison) return { userId, at: eventAt };
  const { authorId, at } = newest ?? { authorId: null, at: null };
  if (authorId === null || authorId === (await deps.forge.identity()).botId) return null;
  const user = await findForgeUser(deps.db, authorId);
  if (!user) return null;
  const isLater = at !== null && eventAt !== null && at > eventAt;
  return { userId: user.id, at: isLater ? eventAt : (at ?? eventAt) };
}

/** Whether a deleted branch was merged. GitHub is asked, since the merge event may come later. */
async function isDeletedAfterMerge(deps: Deps, link: Link, { before }: Pushed): Promise<boolean> {
  const pulls = link.pullRequests.filter(({ headSha }) => headSha === before);
  if (pulls.some(({ state }) => state === "merged")) return true;
  // Null while GitHub must not be called about it.
  const { forgeRef: repository } = link.repository;
  if (!repository || pulls.length === 0) return false;
  const question = { repository, branchName: link.branchName, targetBranch: null };
  const [inspection] = await deps.forge.inspect([question]);
  if (!inspection || inspection.refusal) return false;
  return inspection.pullRequests.some(({ state, headSha }) => state === "merged" && headSha === before);
}

/** Whether Trunkline created the branch. The move or job that did so records it, with its user. */
async function isOurNewBranch({ db }: Deps, { repository }: Link, event: Pushed): Promise<boolean> {
  const key = { repositoryId: repository.id, kind: "create_branch", subject: event.branchName } as const;
  return event.before === null && (await findIntent(db, key)) !== null;
}

/** The current head. A push that does not start at the known head is out of order: ask GitHub. */
async function headAfter(deps: Deps, link: Link, event: Pushed): Promise<string | null> {
  const { forgeRef: repository } = link.repository;
  if (event.before === link.headSha || !repository) return event.after;
  return deps.forge.branchHead(repository, event.branchName);
}
