import { checksState } from "../../flow/checks.ts";
import { targetOf } from "../../flow/flow.ts";
import type { Refusal } from "../../flow/refusal.ts";
import { type InspectedPullRequest } from "../../forge/pull-requests.ts";
import { ForgeUnavailable, type Ordered, type RepositoryRef } from "../../forge/values.ts";
import { lockCard, type CardHead } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import type { Project } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import { takeBranch, listOutcomes, findLeftBranch } from "../../store/forge/branches.ts";
import { clockOf } from "../../store/forge/installations.ts";
import { replayDeferredSoon } from "../../store/forge/lanes.ts";
import { adoptPullRequest } from "../../store/forge/pull-requests.ts";
import { branchKey, forgetInboxItems } from "../../store/inbox/stored-items.ts";
import { saveFoundReport } from "../../store/ops/reconciling.ts";
import type { Deps } from "../deps.ts";
import { recheckIfBlocked } from "../reconcile/recheck-blocked.ts";

export interface Cut {
  readonly branchName: string;
  /** Where to cut it: the commit its target is at, or was last heard to be at. */
  readonly sha: string;
  readonly targetBranch: string;
}

/** The branch's commit, and whether it was there before, at another one than asked for. */
export type CutBranch = Ordered<{ readonly sha: string; readonly isTaken: boolean }>;

/**
 * Cuts a branch. Where the forge refuses a commit that its target is not at any more, it is cut where the target is now; `onMoved` writes that
 * down before. Throws `ForgeUnavailable`.
 */
export async function cutBranch(
  deps: Deps,
  repository: RepositoryRef,
  { branchName, sha, targetBranch }: Cut,
  onMoved: (sha: string) => Promise<void> = () => Promise.resolve(),
): Promise<CutBranch> {
  const cut = await cutAt(deps, repository, branchName, sha);
  if (cut.ok || (cut.refusal.reason !== "branch_missing" && cut.refusal.reason !== "unknown")) return cut;
  const tip = await deps.forge.branchHead(repository, targetBranch);
  if (tip === null || tip === sha) return cut;
  await onMoved(tip);
  return cutAt(deps, repository, branchName, tip);
}

async function cutAt(
  deps: Deps,
  repository: RepositoryRef,
  branchName: string,
  sha: string,
): Promise<CutBranch> {
  const created = await deps.forge.createBranch(repository, branchName, sha);
  if (!created.ok) return created;
  const isTaken = "taken" in created.value;
  return { ok: true, value: { sha: "taken" in created.value ? created.value.taken : sha, isTaken } };
}

/** A branch as the forge shows it now. */
export interface SeenBranch {
  readonly name: string;
  /** Null where it is gone, and its work is merged. */
  readonly headSha: string | null;
  readonly openPullRequests: readonly InspectedPullRequest[];
  /** When the forge was asked (ISO 8601). */
  readonly askedAt: string;
}

/** The card that takes a branch over, where, and for whom. */
export type Taker = Pick<NewEvent, "cardId" | "actor"> & { readonly repositoryId: string };

/**
 * Makes a branch that is on the forge already a card's, with its open pull requests and what checks say of it. False where it is another card's, and
 * then the transaction can only be undone. The card's row is held.
 */
export async function takeOverBranch(trx: Trx, taker: Taker, branch: SeenBranch): Promise<boolean> {
  const { cardId, repositoryId } = taker;
  const { name, headSha, openPullRequests } = branch;
  if (!(await takeBranch(trx, cardId, repositoryId, { name, headSha }))) return false;
  for (const { number, nodeId, targetBranch, isDraft, headSha: pullHead } of openPullRequests) {
    const isNew = await adoptPullRequest(trx, {
      repositoryId,
      number,
      cardId,
      nodeId,
      targetBranch,
      state: isDraft ? "draft" : "open",
      headSha: pullHead,
      headBranch: name,
      mergeSha: null,
    });
    if (isNew) await replayDeferredSoon(trx, repositoryId, number);
  }
  const prNumber = openPullRequests[0]?.number ?? null;
  await recordEvents(trx, [
    { ...taker, kind: "branch_adopted", data: { branchName: name, sha: headSha, prNumber } },
  ]);
  await adoptReports(trx, taker, branch);
  await forgetInboxItems(trx, "branch_suggestion", branchKey(repositoryId, name));
  return true;
}

/** What checks say of a branch is kept from here on; what they said before is on its pull request. */
async function adoptReports(
  trx: Trx,
  taker: Taker,
  { name: branchName, headSha: sha, openPullRequests, askedAt }: SeenBranch,
): Promise<void> {
  if (sha === null) return;
  const { repositoryId } = taker;
  const pull = openPullRequests.find(({ headSha }) => headSha === sha);
  for (const report of pull?.reports ?? []) {
    await saveFoundReport(trx, { repositoryId, sha, ...report, appId: report.appId ?? 0 }, askedAt);
  }
  const to = checksState(await listOutcomes(trx, repositoryId, sha));
  if (to === null) return;
  await recordEvents(trx, [{ ...taker, kind: "checks_changed", data: { branchName, sha, from: null, to } }]);
}

/** The card, in one of its repositories, and who linked it there again. */
export interface Return {
  readonly card: CardHead;
  readonly project: Project;
  readonly repositoryId: string;
  readonly repository: RepositoryRef;
  readonly actorId: string;
}

/** Whether the card has its branch again. Else it begins anew: under another name where pull requests from the earlier branch would be taken for its own. */
export type TakenUp =
  | { readonly state: "taken" }
  | { readonly state: "anew"; readonly spentName: string | null }
  | { readonly state: "refused"; readonly refusal: Refusal };

const ANEW = { state: "anew", spentName: null } as const satisfies TakenUp;

/**
 * Has a card that was unlinked from a repository, and linked again, take up the branch it had there: while that is on the forge, or where its work was
 * merged somewhere, whatever became of the branch since. One that another card has had since is that card's. What the card's stage asks of the branch is
 * left to the caller. Throws `ForgeUnavailable`.
 */
export async function takeUpBranch(deps: Deps, back: Return): Promise<TakenUp> {
  const { card, project, repositoryId, repository, actorId } = back;
  const name = await findLeftBranch(deps.db, card.id, repositoryId);
  if (name === null) return ANEW;
  const askedAt = await clockOf(deps.db);
  const targetBranch = targetOf(project.flow, card.hotfix);
  const [answer] = await deps.forge.inspect([{ repository, branchName: name, targetBranch }]);
  if (!answer) throw new ForgeUnavailable("the forge said nothing of the branch");
  if (answer.refusal) return { state: "refused", refusal: answer.refusal };
  const { headSha, pullRequests } = answer;
  if (headSha === null && !pullRequests.some(isMerged)) {
    return { state: "anew", spentName: pullRequests.length > 0 ? name : null };
  }
  const openPullRequests = pullRequests.filter(({ state }) => state === "open");
  const isTaken = await take(deps, back, actorId, { name, headSha, openPullRequests, askedAt });
  return isTaken ? { state: "taken" } : ANEW;
}

const isMerged = ({ state }: InspectedPullRequest): boolean => state === "merged";

/** False where another card has the branch by now. */
async function take(
  deps: Deps,
  { card, repositoryId }: Return,
  actorId: string,
  branch: SeenBranch,
): Promise<boolean> {
  try {
    await transaction(deps.db, async (trx) => {
      if (!(await lockCard(trx, card.id))) return;
      const link = (await listLinks(trx, card.id)).find((each) => each.repository.id === repositoryId);
      // Unlinked again, or given a branch, since the forge was asked.
      if (!link || link.branchName !== null) return;
      const taker = { cardId: card.id, actor: { userId: actorId, login: null }, repositoryId };
      if (!(await takeOverBranch(trx, taker, branch))) throw new AnothersBranch();
      await recheckIfBlocked(trx, card.id);
    });
    return true;
  } catch (error) {
    if (error instanceof AnothersBranch) return false;
    throw error;
  }
}

class AnothersBranch extends Error {
  override readonly name = "AnothersBranch";
}
