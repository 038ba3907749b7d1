import { checksState } from "../flow/checks.ts";
import type { Pushed } from "../forge/events.ts";
import { listCardsWaitingFor } from "../store/releases/release-cards.ts";
import { findCardById } from "../store/cards/cards.ts";
import {
  listOutcomes,
  findBranchOwner,
  holdBranch,
  noteFound,
  setHeadSha,
  type HeldBranch,
} from "../store/forge/branches.ts";
import type { Trx } from "../store/db/connect.ts";
import { findIntent } from "../store/ops/intents.ts";
import { forgetInboxItems, putInboxItem } from "../store/inbox/stored-items.ts";
import { listLinks, type Link } from "../store/cards/links.ts";
import { recordEvents, type NewEvent } from "../store/events/timeline.ts";
import { branchKey, deletedBranchItem } from "./branch-items.ts";
import { bringBackSoon } from "./bring-back-hotfix.ts";
import { catchUpSoon } from "./catch-up-card.ts";
import type { Deps } from "./deps.ts";
import { forgeActor } from "./forge-actor.ts";
import { knownRepository } from "./known-repository.ts";
import { recheckIfBlocked, recheckLacking } from "./recheck-blocked.ts";
import { hearOfStrayBranch } from "./suggest-branch.ts";
import { transaction } from "../store/db/transaction.ts";

/** How many of a push's commits its timeline item names. */
const MAX_COMMITS = 20;

/**
 * Records a push to, or the deletion of, a card's branch, and has done what the new commits make possible. A push to a branch of no card may
 * be the beginning of one's, and what cards were refused for want of.
 *
 * GitHub also sends `create` and `delete`: each comes with a push that says more (https://docs.github.com/en/webhooks/webhook-events-and-payloads).
 */
export async function recordPush(deps: Deps, event: Pushed): Promise<void> {
  const repository = await knownRepository(deps, event);
  if (!repository) return;
  await lookAtHotfixes(deps, repository.id, event);
  if (event.after !== null) {
    await recheckLacking(deps.db, [{ repositoryId: repository.id, branchName: event.branchName }]);
  }
  const cardId = await findBranchOwner(deps.db, repository.id, event.branchName);
  const card = cardId && (await findCardById(deps.db, cardId));
  if (!cardId || !card) return hearOfStrayBranch(deps, repository, event);
  const link = (await listLinks(deps.db, cardId)).find(({ repository: { id } }) => id === repository.id);
  if (!link || (await isOurOwnCut(deps, link, event))) return;
  if (event.after === null && (await isDeletedAfterMerge(deps, link, event))) {
    return forgetMergedBranch(deps, card.id, repository.id, await headAfter(deps, link, event));
  }
  const headSha = await headAfter(deps, link, event);
  const isSettled = await transaction(deps.db, async (trx) => {
    const held = await holdBranch(trx, cardId, repository.id);
    if (!held || isToldAlready(held, event)) return true;
    // Somebody else recorded a push meanwhile: what is known must be compared anew.
    if (held.headSha !== link.headSha) return false;
    const actor = await forgeActor(deps, trx, event.sender);
    const { branchName, before, after, forced } = event;
    const naturalKey = `push:${repository.id}:${branchName}:${before ?? "-"}:${after ?? "-"}:${event.at ?? ""}`;
    const told = { cardId, actor, repositoryId: repository.id, at: event.at, naturalKey };
    const isNews = await recordEvents(trx, [
      after === null
        ? { ...told, kind: "branch_deleted", data: { branchName, sha: before } }
        : { ...told, kind: "pushed", data: { branchName, before, after, commits: commitsOf(event), forced } },
    ]);
    const key = branchKey(repository.id, branchName);
    if (headSha !== null) await forgetInboxItems(trx, "branch_deleted", key);
    else if (after === null && isNews)
      await putInboxItem(trx, deletedBranchItem(card, repository.id, event, actor));
    await setHeadSha(trx, cardId, repository.id, headSha);
    if (event.isFound && event.at !== null)
      await noteFound(trx, cardId, repository.id, { at: event.at, sha: after });
    if (headSha !== null && headSha !== link.headSha)
      await tellEarlierReports(trx, told, branchName, headSha);
    if (after !== null) await catchUpSoon(trx, cardId);
    await recheckIfBlocked(trx, cardId);
    return true;
  });
  if (!isSettled) await recordPush(deps, event);
}

/** A change that was found stands for all that led to it, and what was found is told once, too. */
function isToldAlready({ headSha, foundAt, foundSha }: HeldBranch, event: Pushed): boolean {
  if (event.before === headSha) return false;
  if (event.isFound) return true;
  return foundAt !== null && ((event.at !== null && event.at <= foundAt) || event.after === foundSha);
}

/** Checks may have reported on the branch's new tip before its push was known: then it is this push that changed the branch's state. */
async function tellEarlierReports(
  trx: Trx,
  told: Omit<NewEvent, "kind" | "data"> & { readonly repositoryId: string; readonly naturalKey: string },
  branchName: string,
  sha: string,
): Promise<void> {
  const to = checksState(await listOutcomes(trx, told.repositoryId, sha));
  if (to === null) return;
  const data = { branchName, sha, from: null, to };
  await recordEvents(trx, [
    { ...told, kind: "checks_changed", data, naturalKey: `checks:${told.naturalKey}` },
  ]);
}

/** A push to a branch that waits for a hotfix may have brought it. */
async function lookAtHotfixes(deps: Deps, repositoryId: string, { branchName }: Pushed): Promise<void> {
  for (const cardId of await listCardsWaitingFor(deps.db, repositoryId, branchName)) {
    await bringBackSoon(deps.db, cardId);
  }
}

const commitsOf = (event: Pushed): { sha: string; title: string }[] =>
  event.commits
    .slice(-MAX_COMMITS)
    .map(({ sha, message }) => ({ sha, title: message.split("\n", 1)[0]?.slice(0, 200) ?? "" }));

/**
 * Whether a deleted branch had been merged: then its work is where it belongs, and the deletion, by the forge's own setting or somebody's
 * tidiness, is no news. The word of the merge may be on its way still: then the forge is asked.
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

/** A branch that a later stage merges is made again. */
const forgetMergedBranch = (
  deps: Deps,
  cardId: string,
  repositoryId: string,
  headSha: string | null,
): Promise<void> =>
  transaction(deps.db, async (trx) => {
    await setHeadSha(trx, cardId, repositoryId, headSha);
    await catchUpSoon(trx, cardId);
  });

/** The forge reports the branch we cut as a push, too. It is on the timeline already, under who moved the card. */
async function isOurOwnCut(deps: Deps, link: Link, event: Pushed): Promise<boolean> {
  if (event.before !== null) return false;
  const key = { repositoryId: link.repository.id, kind: "create_branch", subject: event.branchName } as const;
  if (!(await findIntent(deps.db, key))) return false;
  const { botId } = await deps.forge.identity();
  return event.sender?.forgeId === botId;
}

/** Where the branch is now. A push that does not follow on what is known came out of order: then the forge is asked. */
async function headAfter(deps: Deps, link: Link, event: Pushed): Promise<string | null> {
  if (event.before === link.headSha || !link.repository.ref) return event.after;
  return deps.forge.branchHead(link.repository.ref, event.branchName);
}
