import { checksState } from "../../flow/checks.ts";
import type { Pushed } from "../../forge/events.ts";
import { listCardsAwaitingBackMerge } from "../../store/releases/release-cards.ts";
import {
  lockBranch,
  recordFoundChange,
  setHeadSha,
  type LockedBranch,
  listOutcomes,
} from "../../store/forge/branches.ts";
import type { Trx } from "../../store/db/connect.ts";
import { recordReaction } from "../../store/events/conversations.ts";
import {
  branchKey,
  deleteInboxItems,
  upsertInboxItem,
  type NewInboxItem,
} from "../../store/inbox/stored-items.ts";
import { findIntent } from "../../store/ops/intents.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import type { Repository } from "../../store/forge/repositories.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import { findForgeUser } from "../../store/tenancy/users.ts";
import { backMergeSoon } from "../releases/back-merge.ts";
import { catchUpSoon } from "../reconcile/catch-up-card.ts";
import type { Deps } from "../deps.ts";
import { isOurBot } from "../installations/forge-accounts.ts";
import { recheckAfterEvent, recheckMissingBranches } from "../reconcile/recheck-soon.ts";
import { updateAwaitedFixes } from "./checks.ts";
import type { EventContext } from "./event-context.ts";
import { transaction } from "../../store/db/transaction.ts";

/** How many commits the timeline item of a push shows. */
const MAX_COMMITS = 20;

/** A push to any branch may contain a back-merge, or create a branch that blocked cards need. */
export async function handlePushToAnyBranch(
  { db }: Deps,
  { branchName, after }: Pushed,
  { id: repositoryId }: Repository,
): Promise<void> {
  for (const cardId of await listCardsAwaitingBackMerge(db, repositoryId, branchName)) {
    await backMergeSoon(db, cardId);
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
    // The job restores a branch that a later stage merges.
    return transaction(deps.db, async (trx) => {
      await setHeadSha(trx, card.id, repository.id, headSha);
      await catchUpSoon(trx, card.id);
    });
  }
  const headSha = await headAfter(deps, link, event);
  const reaction = await reactionOf(deps, event, context);
  const isDone = await transaction(deps.db, async (trx) => {
    const locked = await lockBranch(trx, card.id, repository.id);
    const isNew = locked !== null && !isKnown(locked, event);
    // Another transaction has recorded a push: compare the event with that.
    if (isNew && locked.headSha !== link.headSha) return false;
    if (isNew) await setHeadSha(trx, card.id, repository.id, headSha);
    if (event.after !== null && !isOurs) {
      const conversation = { cardId: card.id, workspaceId: card.workspaceId, repositoryId: repository.id };
      if (reaction) await recordReaction(trx, { ...conversation, prNumber: 0 }, { ...reaction, works: true });
      await updateAwaitedFixes(trx, repository.id, event.after, event.at);
    }
    // Last, to keep the time between inserting a timeline item and committing it short.
    if (isNew) await recordPush(trx, event, context, { from: link.headSha, to: headSha });
    return true;
  });
  if (!isDone) await handlePushToCardBranch(deps, event, context);
}

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
  const isNew = await recordEvents(trx, [
    after === null
      ? { ...recorded, kind: "branch_deleted", data: { branchName, sha: before } }
      : { ...recorded, kind: "pushed", data: push },
  ]);
  const key = branchKey(repository.id, branchName);
  if (head.to !== null) await deleteInboxItems(trx, "branch_deleted", key);
  else if (after === null && isNew) await upsertInboxItem(trx, deletedBranchItem(event, card, recorded));
  if (event.isFromComparison && at !== null)
    await recordFoundChange(trx, card.id, repository.id, { at, sha: after });
  if (head.to !== null && head.to !== head.from)
    await recordEarlierChecks(trx, recorded, branchName, head.to);
  if (after !== null) await catchUpSoon(trx, card.id);
  await recheckAfterEvent(trx, card.id);
}

type RecordedPush = Omit<NewEvent, "kind" | "data"> & {
  readonly repositoryId: string;
  readonly naturalKey: string;
};

/**
 * Whether the stored head already includes this push. A push found by the hourly comparison is new
 * only if it starts at the stored head. One delivered late is known if a later comparison stored its
 * result.
 */
function isKnown({ headSha, foundAt, foundSha }: LockedBranch, event: Pushed): boolean {
  if (event.before === headSha) return false;
  if (event.isFromComparison) return true;
  return foundAt !== null && ((event.at !== null && event.at <= foundAt) || event.after === foundSha);
}

/** Checks may have reported on the branch's new head before its push was recorded. */
async function recordEarlierChecks(
  trx: Trx,
  push: RecordedPush,
  branchName: string,
  sha: string,
): Promise<void> {
  const to = checksState(await listOutcomes(trx, push.repositoryId, sha));
  if (to === null) return;
  const data = { branchName, sha, from: null, to };
  const naturalKey = `checks:${push.naturalKey}`;
  await recordEvents(trx, [{ ...push, kind: "checks_changed", data, naturalKey }]);
}

const commitsOf = (event: Pushed): { sha: string; title: string }[] =>
  event.commits
    .slice(-MAX_COMMITS)
    .map(({ sha, message }) => ({ sha, title: message.split("\n", 1)[0]?.slice(0, 200) ?? "" }));

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

/**
 * Who pushed, and when. For a push found by a comparison this is the author of the newest commit,
 * if known here. The time is that of the commit, but not later than the comparison.
 */
async function reactionOf(
  deps: Deps,
  { isFromComparison, newest, at: foundAt }: Pushed,
  { actor: { userId } }: EventContext,
): Promise<{ readonly userId: string; readonly at: string | null } | null> {
  if (!isFromComparison) return { userId, at: foundAt };
  const { authorId, at } = newest ?? { authorId: null, at: null };
  if (authorId === null || authorId === (await deps.forge.identity()).botId) return null;
  const user = await findForgeUser(deps.db, authorId);
  if (!user) return null;
  const isLater = at !== null && foundAt !== null && at > foundAt;
  return { userId: user.id, at: isLater ? foundAt : (at ?? foundAt) };
}

/** Whether a deleted branch was merged. GitHub is asked, since the merge event may come later. */
async function isDeletedAfterMerge(deps: Deps, link: Link, { before }: Pushed): Promise<boolean> {
  const pulls = link.pullRequests.filter(({ headSha }) => headSha === before);
  if (pulls.some(({ state }) => state === "merged")) return true;
  if (!link.repository.ref || pulls.length === 0) return false;
  const question = { repository: link.repository.ref, branchName: link.branchName, targetBranch: null };
  const [answer] = await deps.forge.inspect([question]);
  if (!answer || answer.refusal) return false;
  return answer.pullRequests.some(({ state, headSha }) => state === "merged" && headSha === before);
}

/** A branch that our bot created is on the timeline already, attributed to the user. */
async function isOurNewBranch({ db }: Deps, { repository }: Link, event: Pushed): Promise<boolean> {
  const key = { repositoryId: repository.id, kind: "create_branch", subject: event.branchName } as const;
  return event.before === null && (await findIntent(db, key)) !== null;
}

/** The current head. A push that does not start at the known head is out of order: ask GitHub. */
async function headAfter(deps: Deps, link: Link, event: Pushed): Promise<string | null> {
  if (event.before === link.headSha || !link.repository.ref) return event.after;
  return deps.forge.branchHead(link.repository.ref, event.branchName);
}
