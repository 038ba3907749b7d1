import { checksState } from "../../flow/checks.ts";
import { targetOf } from "../../flow/flow.ts";
import type { Refusal } from "../../flow/refusal.ts";
import { type InspectedPullRequest } from "../../forge/pull-requests.ts";
import { ForgeUnavailable, type ForgeResult, type RepositoryRef } from "../../forge/values.ts";
import { lockCard, type CardHead } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import type { Project } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { recordEvents, type NewEvent } from "../../store/events/timeline.ts";
import { takeBranch, listBranchOutcomes, findFormerBranch } from "../../store/forge/branches.ts";
import { readClock } from "../../store/forge/installations.ts";
import { adoptPullRequest } from "../../store/forge/pull-requests.ts";
import { branchKey, deleteInboxItems } from "../../store/inbox/stored-items.ts";
import { saveFoundReports } from "../../store/ops/reconciling.ts";
import type { Deps } from "../deps.ts";
import { recheckRefusedAndArmedMoves } from "../../store/cards/schedule-rechecks.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

interface NewBranch {
  readonly branchName: string;
  /** The target's current commit, or its last known one. */
  readonly sha: string;
  readonly targetBranch: string;
}

/** `isAtOtherCommit`: the branch existed already, at another commit than requested. */
type CreatedBranch = ForgeResult<{ readonly sha: string; readonly isAtOtherCommit: boolean }>;

/**
 * Creates a branch. If GitHub refuses a commit that is not on the target any more, creates it at
 * the target's current commit; `onMoved` stores that commit first. Throws `ForgeUnavailable`.
 */
export async function createBranchFrom(
  deps: Deps,
  repository: RepositoryRef,
  { branchName, sha, targetBranch }: NewBranch,
  onMoved: (sha: string) => Promise<void> = () => Promise.resolve(),
): Promise<CreatedBranch> {
  const created = await createAt(deps, repository, branchName, sha);
  if (created.ok || !["branch_missing", "unknown"].includes(created.refusal.reason)) return created;
  const tip = await deps.forge.branchHead(repository, targetBranch);
  if (tip === null || tip === sha) return created;
  await onMoved(tip);
  return createAt(deps, repository, branchName, tip);
}

async function createAt(
  deps: Deps,
  repository: RepositoryRef,
  branchName: string,
  sha: string,
): Promise<CreatedBranch> {
  const created = await deps.forge.createBranch(repository, branchName, sha);
  if (!created.ok) return created;
  const isAtOtherCommit = "taken" in created.value;
  return { ok: true, value: { sha: "taken" in created.value ? created.value.taken : sha, isAtOtherCommit } };
}

/** A branch as GitHub shows it. */
export interface InspectedBranch {
  readonly name: string;
  /** Null if the branch is gone and its work is merged. */
  readonly headSha: string | null;
  readonly openPullRequests: readonly InspectedPullRequest[];
  /** When GitHub was asked (ISO 8601). */
  readonly askedAt: string;
}

/** The card that adopts a branch, and the user who caused it. */
type Adopter = Pick<NewEvent, "cardId" | "actor"> & { readonly repositoryId: string };

/**
 * Gives a card a branch that exists on GitHub, with its open pull requests and check reports. False
 * if the branch belongs to another card: then roll the transaction back. The caller has locked the
 * card.
 */
export async function assignBranch(trx: Trx, adopter: Adopter, branch: InspectedBranch): Promise<boolean> {
  const { cardId, repositoryId } = adopter;
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
    if (isNew) await schedule(trx, JOBS.replayDeferred, { repositoryId, number });
  }
  const prNumber = openPullRequests[0]?.number ?? null;
  const data = { branchName: name, sha: headSha, prNumber };
  await recordEvents(trx, [{ ...adopter, kind: "branch_adopted", data }]);
  await adoptReports(trx, adopter, branch);
  await deleteInboxItems(trx, "branch_suggestion", branchKey(repositoryId, name));
  return true;
}

/** Stores the check reports of the branch's head; webhooks report later ones. */
async function adoptReports(
  trx: Trx,
  adopter: Adopter,
  { name: branchName, headSha: sha, openPullRequests, askedAt }: InspectedBranch,
): Promise<void> {
  if (sha === null) return;
  const { cardId, repositoryId } = adopter;
  const pull = openPullRequests.find(({ headSha }) => headSha === sha);
  await saveFoundReports(trx, { repositoryId, sha }, pull?.reports ?? [], askedAt);
  const to = checksState(await listBranchOutcomes(trx, cardId, repositoryId, sha));
  if (to === null) return;
  const data = { branchName, sha, from: null, to };
  await recordEvents(trx, [{ ...adopter, kind: "checks_changed", data }]);
}

/** A card that is linked to one of its former repositories again, and the user who linked it. */
interface Relink {
  readonly card: CardHead;
  readonly project: Project;
  readonly repositoryId: string;
  readonly repository: RepositoryRef;
  readonly actorId: string;
}

/**
 * `none`: the card needs a new branch. It must not be called `nameToAvoid`, the name of its former
 * branch: GitHub would show that branch's pull requests for it.
 */
type Readoption =
  | { readonly state: "readopted" }
  | { readonly state: "none"; readonly nameToAvoid: string | null }
  | { readonly state: "refused"; readonly refusal: Refusal };

const NONE = { state: "none", nameToAvoid: null } as const satisfies Readoption;

/**
 * Gives a card that was unlinked from a repository, and linked again, its former branch there if
 * the branch exists or its work was merged, and no other card has it. Opens and merges
 * no pull request. Throws `ForgeUnavailable`.
 */
export async function readoptBranch(deps: Deps, relink: Relink): Promise<Readoption> {
  const { card, project, repositoryId, repository } = relink;
  const name = await findFormerBranch(deps.db, card.id, repositoryId);
  if (name === null) return NONE;
  const askedAt = await readClock(deps.db);
  const targetBranch = targetOf(project.flow, card.hotfix);
  const [inspection] = await deps.forge.inspect([{ repository, branchName: name, targetBranch }]);
  if (!inspection) throw new ForgeUnavailable("GitHub did not return the branch");
  if (inspection.refusal) return { state: "refused", refusal: inspection.refusal };
  const { headSha, pullRequests } = inspection;
  if (headSha === null && !pullRequests.some(({ state }) => state === "merged")) {
    return { state: "none", nameToAvoid: pullRequests.length > 0 ? name : null };
  }
  const openPullRequests = pullRequests.filter(({ state }) => state === "open");
  const isReadopted = await readopt(deps, relink, { name, headSha, openPullRequests, askedAt });
  return isReadopted ? { state: "readopted" } : NONE;
}

/** False if another card has the branch. */
async function readopt(
  deps: Deps,
  { card, repositoryId, actorId }: Relink,
  branch: InspectedBranch,
): Promise<boolean> {
  try {
    await transaction(deps.db, async (trx) => {
      if (!(await lockCard(trx, card.id))) return;
      const link = (await listLinks(trx, card.id)).find((each) => each.repository.id === repositoryId);
      // The card was unlinked again, or got a branch, since the inspection.
      if (!link || link.branchName !== null) return;
      const adopter = { cardId: card.id, actor: { userId: actorId, login: null }, repositoryId };
      if (!(await assignBranch(trx, adopter, branch))) throw new BranchOfAnotherCard();
      await recheckRefusedAndArmedMoves(trx, card.id);
    });
    return true;
  } catch (error) {
    if (error instanceof BranchOfAnotherCard) return false;
    throw error;
  }
}

class BranchOfAnotherCard extends Error {
  override readonly name = "BranchOfAnotherCard";
}
