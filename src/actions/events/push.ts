import { checksState } from "../../flow/checks.ts";
import type { Pushed } from "../../forge/events.ts";
import { listCardsWaitingFor } from "../../store/releases/release-cards.ts";
import {
  holdBranch,
  noteFound,
  setHeadSha,
  type HeldBranch,
  listOutcomes,
} from "../../store/forge/branches.ts";
import type { Trx } from "../../store/db/connect.ts";
import { noteTurn } from "../../store/events/conversations.ts";
import {
  branchKey,
  forgetInboxItems,
  putInboxItem,
  type NewInboxItem,
} from "../../store/inbox/stored-items.ts";
import { findIntent } from "../../store/ops/intents.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import type { Repository } from "../../store/forge/repositories.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import { findForgeUser } from "../../store/tenancy/users.ts";
import { bringBackSoon } from "../releases/bring-back-hotfix.ts";
import { catchUpSoon } from "../reconcile/catch-up-card.ts";
import type { Deps } from "../deps.ts";
import { isOurBot } from "../installations/forge-accounts.ts";
import { recheckIfBlocked, recheckLacking } from "../reconcile/recheck-blocked.ts";
import { noteChecks } from "./checks.ts";
import type { EventContext } from "./event-context.ts";
import { transaction } from "../../store/db/transaction.ts";

/** The most commits that a timeline item of a push names. */
const MAX_COMMITS = 20;

/**
 * A push to any branch may bring a hotfix that cards wait for, or be the branch that cards were
 * refused for lack of.
 */
export async function notePush(
  { db }: Deps,
  { branchName, after }: Pushed,
  { id: repositoryId }: Repository,
): Promise<void> {
  for (const cardId of await listCardsWaitingFor(db, repositoryId, branchName)) {
    await bringBackSoon(db, cardId);
  }
  if (after !== null) await recheckLacking(db, [{ repositoryId, branchName }]);
}

/**
 * Records a push to, or the deletion of, a card's branch, and requests what the new commits make
 * possible.
 *
 * GitHub also sends `create` and `delete`: each comes with a push that says more
 * (https://docs.github.com/en/webhooks/webhook-events-and-payloads).
 */
export async function handlePush(deps: Deps, event: Pushed, context: EventContext): Promise<void> {
  const { repository, card } = context;
  const link = (await listLinks(deps.db, card.id)).find(({ repository: { id } }) => id === repository.id);
  if (!link) return;
  const isOurs = await isOurBot(deps, event.sender);
  if (isOurs && (await isOurOwnCut(deps, link, event))) return;
  if (event.after === null && (await isDeletedAfterMerge(deps, link, event))) {
    const headSha = await headAfter(deps, link, event);
    // A branch that a later stage merges is made again.
    return transaction(deps.db, async (trx) => {
      await setHeadSha(trx, card.id, repository.id, headSha);
      await catchUpSoon(trx, card.id);
    });
  }
  const headSha = await headAfter(deps, link, event);
  const turn = await turnOf(deps, event, context);
  const isSettled = await transaction(deps.db, async (trx) => {
    const held = await holdBranch(trx, card.id, repository.id);
    const isNews = held !== null && !isKnownAlready(held, event);
    // Another transaction has recorded a push meanwhile: the event must be compared with that.
    if (isNews && held.headSha !== link.headSha) return false;
    if (isNews) await setHeadSha(trx, card.id, repository.id, headSha);
    if (event.after !== null && !isOurs) {
      const conversation = { cardId: card.id, workspaceId: card.workspaceId, repositoryId: repository.id };
      if (turn) await noteTurn(trx, { ...conversation, prNumber: 0 }, { ...turn, works: true });
      await noteChecks(trx, repository.id, event.after, event.at);
    }
    // Last: a timeline item takes its place when it is inserted, and is read once it is committed.
    if (isNews) await recordPush(trx, event, context, { from: link.headSha, to: headSha });
    return true;
  });
  if (!isSettled) await handlePush(deps, event, context);
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
  const isNew = await recordEvents(trx, [
    after === null
      ? { ...recorded, kind: "branch_deleted", data: { branchName, sha: before } }
      : {
          ...recorded,
          kind: "pushed",
          data: { branchName, before, after, commits: commitsOf(event), forced },
        },
  ]);
  const key = branchKey(repository.id, branchName);
  if (head.to !== null) await forgetInboxItems(trx, "branch_deleted", key);
  else if (after === null && isNew) await putInboxItem(trx, deletedBranchItem(event, card, recorded));
  if (event.isFound && at !== null) await noteFound(trx, card.id, repository.id, { at, sha: after });
  if (head.to !== null && head.to !== head.from)
    await recordEarlierChecks(trx, recorded, branchName, head.to);
  if (after !== null) await catchUpSoon(trx, card.id);
  await recheckIfBlocked(trx, card.id);
}

type RecordedPush = Omit<NewEvent, "kind" | "data"> & {
  readonly repositoryId: string;
  readonly naturalKey: string;
};

/** A push that was found stands for all pushes that led to it, and is itself recorded once. */
function isKnownAlready({ headSha, foundAt, foundSha }: HeldBranch, event: Pushed): boolean {
  if (event.before === headSha) return false;
  if (event.isFound) return true;
  return foundAt !== null && ((event.at !== null && event.at <= foundAt) || event.after === foundSha);
}

/**
 * Checks may have reported on the branch's new tip before its push was known: then it is this push
 * that changed the branch's state.
 */
async function recordEarlierChecks(
  trx: Trx,
  push: RecordedPush,
  branchName: string,
  sha: string,
): Promise<void> {
  const to = checksState(await listOutcomes(trx, push.repositoryId, sha));
  if (to === null) return;
  const data = { branchName, sha, from: null, to };
  await recordEvents(trx, [
    { ...push, kind: "checks_changed", data, naturalKey: `checks:${push.naturalKey}` },
  ]);
}

const commitsOf = (event: Pushed): { sha: string; title: string }[] =>
  event.commits
    .slice(-MAX_COMMITS)
    .map(({ sha, message }) => ({ sha, title: message.split("\n", 1)[0]?.slice(0, 200) ?? "" }));

/** What the inbox says of a card's branch that somebody deleted before it was merged. */
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
 * Who pushed, and when. Of a push that was found the forge does not say that: its newest commit
 * stands for it, where its author is known here. It was pushed after it was committed, and before
 * it was found.
 */
async function turnOf(
  deps: Deps,
  { isFound, newest, at: foundAt }: Pushed,
  { actor: { userId } }: EventContext,
): Promise<{ readonly userId: string; readonly at: string | null } | null> {
  if (!isFound) return { userId, at: foundAt };
  const { authorId, at } = newest ?? { authorId: null, at: null };
  if (authorId === null || authorId === (await deps.forge.identity()).botId) return null;
  const user = await findForgeUser(deps.db, authorId);
  if (!user) return null;
  const isLater = at !== null && foundAt !== null && at > foundAt;
  return { userId: user.id, at: isLater ? foundAt : (at ?? foundAt) };
}

/**
 * Whether a deleted branch had been merged: then its work is where it belongs, and the deletion, by
 * the forge's own setting or by a person, is no news. The event of the merge may arrive later: then
 * the forge is asked.
 */
async function isDeletedAfterMerge(deps: Deps, link: Link, { before }: Pushed): Promise<boolean> {
  const pulls = link.pullRequests.filter(({ headSha }) => headSha === before);
  if (pulls.some(({ state }) => state === "merged")) return true;
  if (!link.repository.ref || pulls.length === 0) return false;
  const question = { repository: link.repository.ref, branchName: link.branchName, targetBranch: null };
  const [answer] = await deps.forge.inspect([question]);
  if (!answer || answer.refusal) return false;
  return answer.pullRequests.some(({ state, headSha }) => state === "merged" && headSha === before);
}

/**
 * The forge reports the branch that our bot cut as a push, too. It is on the timeline already,
 * under who moved the card.
 */
async function isOurOwnCut({ db }: Deps, { repository }: Link, event: Pushed): Promise<boolean> {
  const key = { repositoryId: repository.id, kind: "create_branch", subject: event.branchName } as const;
  return event.before === null && (await findIntent(db, key)) !== null;
}

/**
 * Where the branch is now. A push that does not follow on the known tip came out of order: then the
 * forge is asked.
 */
async function headAfter(deps: Deps, link: Link, event: Pushed): Promise<string | null> {
  if (event.before === link.headSha || !link.repository.ref) return event.after;
  return deps.forge.branchHead(link.repository.ref, event.branchName);
}
