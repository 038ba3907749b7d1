import { busy, conflict, invalid, notFound, type Problem } from "../../errors.ts";
import { targetOf } from "../../flow/flow.ts";
import { inaccessibleMessage } from "../../flow/refusal.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { findCard, findCardById, lockCard, type CardHead } from "../../store/cards/cards.ts";
import { insertLinks, listLinks } from "../../store/cards/links.ts";
import { findProject } from "../../store/cards/projects.ts";
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
import { assignBranch, type InspectedBranch } from "./card-branch.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

type SuggestedBranch = InspectedBranch & { readonly repository: Repository };

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
  const branch = await inspectBranch(deps, card, repository, suggestion.branchName);
  return transaction(deps.db, async (end) => {
    const current = await lockCard(end, card.id);
    if (!current) throw noCard(card.number);
    if (!(await lockInboxItem(end, item.id))) throw noInboxItem();
    if (await findOpenMove(end, card.id)) {
      throw busy(`Card ${card.number} is being moved. Adopt the branch after that.`, 2);
    }
    await adopt(end, write, current, branch);
    await schedule(end, JOBS.catchUpCard, { cardId: card.id });
    if (current.blocked) await schedule(end, JOBS.recheckBlocked, { cardId: card.id });
    return write.respondIn(end, null, 204);
  });
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

async function inspectBranch(
  deps: Deps,
  card: CardHead,
  repository: Repository,
  name: string,
): Promise<SuggestedBranch> {
  const project = await findProject(deps.db, card.workspaceId, card.projectId);
  const { forgeRef, fullName } = repository;
  if (!project) throw conflict("The project of the card was deleted.");
  if (!forgeRef) throw conflict(inaccessibleMessage(repository));
  const targetBranch = targetOf(project.flow, card.hotfix);
  const askedAt = await readClock(deps.db);
  const [inspection] = await deps.forge.inspect([{ repository: forgeRef, branchName: name, targetBranch }]);
  if (!inspection) throw new ForgeUnavailable("GitHub did not return the branch");
  if (inspection.refusal) throw conflict(inspection.refusal.message);
  if (inspection.headSha === null) {
    throw conflict(`The branch ${name} is gone from ${fullName}. Push it again, or dismiss the item.`);
  }
  const openPullRequests = inspection.pullRequests.filter(({ state }) => state === "open");
  return { repository, name, headSha: inspection.headSha, openPullRequests, askedAt };
}

/** The caller has locked the card. */
async function adopt(
  trx: Trx,
  caller: Caller,
  card: CardHead,
  { repository, ...branch }: SuggestedBranch,
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
}
