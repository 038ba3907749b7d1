import { busy, conflict, invalid, notFound, requireFound, type Problem } from "../../errors.ts";
import { targetOf } from "../../flow/flow.ts";
import { inaccessibleMessage } from "../../flow/refusal.ts";
import { REPOSITORIES_CHANGED } from "../../flow/readiness.ts";
import type { ListedPullRequest } from "../../forge/pull-requests.ts";
import { ForgeUnavailable, type RepositoryRef } from "../../forge/values.ts";
import { isSharedBranch } from "../../store/forge/branches.ts";
import { findCard, findCardById, lockCard, readChangedCard, type CardHead } from "../../store/cards/cards.ts";
import { insertLinks, listLinks } from "../../store/cards/links.ts";
import { findProject, lockProject, type Project } from "../../store/cards/projects.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import { readClock } from "../../store/forge/installations.ts";
import { findRepository, type Repository } from "../../store/forge/repositories.ts";
import type { InboxItem } from "../../store/inbox/list-inbox.ts";
import {
  branchKey,
  findSuggestion,
  deleteInboxItems,
  lockInboxItem,
  type Suggestion,
} from "../../store/inbox/stored-items.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findOpenMove } from "../../store/cards/moves.ts";
import { noInboxItem } from "../inbox/dismiss-inbox-item.ts";
import type { Deps } from "../deps.ts";
import type { Caller, Write } from "../write.ts";
import { disarmCard } from "./armed-move.ts";
import { assignBranch, type InspectedBranch } from "./card-branch.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** A branch that exists on GitHub. */
export type FoundBranch = InspectedBranch & { readonly repository: Repository };

/**
 * Gives a suggested branch to the card it is named for, or to the card `number`, in one transaction
 * and without writing on GitHub. Returns 204. Throws `conflict` if the item suggests no branch, the
 * branch is gone or belongs to another card, or the card has a branch in the repository.
 */
export async function adoptBranch(
  deps: Deps,
  write: Write,
  item: InboxItem,
  number: number | undefined,
): Promise<StoredResponse> {
  if (item.kind !== "branch_suggestion") throw noSuggestion(item);
  const { trx } = write;
  const suggestion = await findSuggestion(trx, item.id);
  // The branch was adopted, or the item dismissed, since the item was found.
  if (!suggestion) throw noInboxItem();
  const card = await cardOf(trx, write.workspaceId, suggestion, number);
  const repository = await findRepository(trx, suggestion.repositoryId);
  if (!repository || repository.projectId !== suggestion.projectId) throw noInboxItem();
  await write.commit();
  const project = await findProject(deps.db, card.workspaceId, card.projectId);
  if (!project) throw conflict("The project of the card was deleted.");
  const target = targetOf(project.flow, card.hotfix);
  const branch = await inspectBranch(deps, repository, suggestion.branchName, target);
  return transaction(deps.db, async (end) => {
    const current = await lockIdleCard(end, card);
    if (!(await lockInboxItem(end, item.id))) throw noInboxItem();
    await adopt(end, write, current, branch);
    return write.respondIn(end, null, 204);
  });
}

/** A branch of a repository, by its name or by the number of its pull request. */
export type BranchSource = { readonly repositoryId: string } & (
  | { readonly branchName: string; readonly prNumber?: undefined }
  | { readonly prNumber: number; readonly branchName?: undefined }
);

/**
 * Gives a card any branch of its project, with its open pull request, in one transaction and without
 * writing on GitHub. Returns 200 with the card. Throws `conflict` if the branch is gone or belongs to
 * another card, or the card has another one in the repository.
 */
export async function linkBranch(
  deps: Deps,
  write: Write,
  card: CardHead,
  source: BranchSource,
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  const project = requireFound(await findProject(trx, workspaceId, card.projectId), "project");
  const repository = await repositoryOf(trx, project, source.repositoryId);
  await write.commit();
  const { branchName } = await resolveSource(deps, repository, source);
  const branch = await inspectBranch(deps, repository, branchName, targetOf(project.flow, card.hotfix));
  return transaction(deps.db, async (end) => {
    await lockProject(end, project.id, "share");
    const current = await lockIdleCard(end, card);
    await repositoryOf(end, project, source.repositoryId);
    const links = await listLinks(end, card.id);
    const isLinked = links.some(
      (each) => each.repository.id === repository.id && each.branchName === branchName,
    );
    if (!isLinked) {
      await adopt(end, write, current, branch);
      await disarmCard(end, card.id, REPOSITORIES_CHANGED, write.userId);
    }
    return write.respondIn(end, await readChangedCard(end, workspaceId, card.number));
  });
}

/** The repository of a project. Throws `not_found` if the project does not have it. */
export async function repositoryOf(
  db: Db,
  project: Pick<Project, "id">,
  repositoryId: string,
): Promise<Repository> {
  const repository = await findRepository(db, repositoryId);
  if (repository?.projectId === project.id) return repository;
  throw notFound("The project has no repository with this id.");
}

/** What a card gets from the branch or pull request it is made of. */
interface FoundSource {
  readonly branchName: string;
  /** Null for a branch that was named. */
  readonly pull: ListedPullRequest | null;
}

/**
 * Finds the branch. Throws `conflict` for a pull request that is not open or comes from a fork, and for a
 * branch that cards are merged into.
 */
export async function resolveSource(
  deps: Deps,
  repository: Repository,
  source: BranchSource,
): Promise<FoundSource> {
  const { forgeRef, fullName } = repository;
  if (!forgeRef) throw conflict(inaccessibleMessage(repository));
  const pull = source.prNumber === undefined ? null : await openPullRequest(deps, forgeRef, source.prNumber);
  const branchName = pull?.headBranch ?? source.branchName ?? "";
  if (await isSharedBranch(deps.db, repository.id, branchName)) {
    throw conflict(
      `${branchName} is a branch of ${fullName} that cards are merged into, so no card can own it. Link a branch with the work of one card.`,
    );
  }
  return { branchName, pull };
}

async function openPullRequest(
  { forge }: Deps,
  repository: RepositoryRef,
  number: number,
): Promise<ListedPullRequest> {
  const { fullName } = repository;
  const pull = await forge.pullRequest(repository, number);
  if (!pull) throw notFound(`${fullName} has no pull request #${number}.`);
  if (pull.state !== "open") throw conflict(`Pull request #${number} of ${fullName} is ${pull.state}.`);
  if (!pull.isFromFork) return pull;
  throw conflict(
    `Pull request #${number} of ${fullName} comes from a fork. Push its commits to a branch of ${fullName}, and link that branch.`,
  );
}

/** Locks a card that no move runs for. */
async function lockIdleCard(trx: Trx, { id, number }: CardHead): Promise<CardHead> {
  const current = await lockCard(trx, id);
  if (!current) throw noCard(number);
  if (await findOpenMove(trx, id))
    throw busy(`Card ${number} is being moved. Make the same call after that.`, 2);
  return current;
}

const noSuggestion = ({ kind }: InboxItem): Problem =>
  conflict(`An item of the kind ${kind} suggests no branch: there is nothing to adopt.`);
const noCard = (number: number): Problem => notFound(`There is no card ${number} on this board.`);

async function cardOf(
  db: Db,
  workspaceId: string,
  suggestion: Suggestion,
  number: number | undefined,
): Promise<CardHead> {
  const card =
    number === undefined
      ? await findCardById(db, suggestion.cardId)
      : await findCard(db, workspaceId, number);
  if (!card) throw number === undefined ? noInboxItem() : noCard(number);
  if (card.projectId === suggestion.projectId) return card;
  throw invalid(`Card ${card.number} belongs to another project than the branch.`, [
    { path: "query.card", message: "not a card of the branch's project" },
  ]);
}

/** Reads a branch from GitHub. Throws `conflict` if it does not exist. */
export async function inspectBranch(
  deps: Deps,
  repository: Repository,
  name: string,
  targetBranch: string | null,
): Promise<FoundBranch> {
  const { forgeRef, fullName } = repository;
  if (!forgeRef) throw conflict(inaccessibleMessage(repository));
  const askedAt = await readClock(deps.db);
  const [inspection] = await deps.forge.inspect([{ repository: forgeRef, branchName: name, targetBranch }]);
  if (!inspection) throw new ForgeUnavailable("GitHub did not return the branch");
  if (inspection.refusal) throw conflict(inspection.refusal.message);
  if (inspection.headSha === null) {
    throw conflict(`${fullName} has no branch ${name}. Push it, and make the call again.`);
  }
  const openPullRequests = inspection.pullRequests.filter(({ state }) => state === "open");
  return { repository, name, headSha: inspection.headSha, openPullRequests, askedAt };
}

/**
 * Gives a card a branch, and schedules what its stage requires of that. The caller has locked the card.
 * Throws `conflict` if another card has the branch, or this one has another branch in the repository.
 */
export async function adopt(
  trx: Trx,
  caller: Pick<Caller, "userId">,
  card: Pick<CardHead, "id" | "number" | "blocked">,
  { repository, ...branch }: FoundBranch,
): Promise<void> {
  const { id: repositoryId, fullName } = repository;
  const link = (await listLinks(trx, card.id)).find((each) => each.repository.id === repositoryId);
  if (link?.branchName && link.headSha) {
    throw conflict(`Card ${card.number} has the branch ${link.branchName} in ${fullName} already.`);
  }
  const adopter = { cardId: card.id, actor: { userId: caller.userId, login: null }, repositoryId };
  if (!link) {
    await insertLinks(trx, card.id, [repositoryId]);
    await recordEvents(trx, [{ ...adopter, kind: "repository_linked", data: { repositoryId } }]);
  }
  if (!(await assignBranch(trx, adopter, branch))) {
    throw conflict(`The branch ${branch.name} in ${fullName} belongs to another card already.`);
  }
  if (link?.branchName)
    await deleteInboxItems(trx, "branch_deleted", branchKey(repositoryId, link.branchName));
  await schedule(trx, JOBS.catchUpCard, { cardId: card.id });
  // A check may have been reported while GitHub was asked.
  await schedule(trx, JOBS.compareChecks, { cardId: card.id });
  if (card.blocked) await schedule(trx, JOBS.recheckBlocked, { cardId: card.id });
}
