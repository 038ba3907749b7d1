import { guessCardNumber } from "../../flow/guess-card-number.ts";
import type { Pushed } from "../../forge/events.ts";
import { findCard, type CardHead } from "../../store/cards/cards.ts";
import type { Db } from "../../store/db/connect.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { findBranchOwner, ownsBranchIn } from "../../store/forge/branches.ts";
import {
  branchKey,
  deleteInboxItems,
  hasInboxItem,
  upsertInboxItem,
} from "../../store/inbox/stored-items.ts";
import { findBranchNaming } from "../../store/cards/projects.ts";
import { findRepository, type Repository } from "../../store/forge/repositories.ts";
import type { Deps } from "../deps.ts";
import { isOurBot } from "../members/forge-accounts.ts";

/** The pause before the second check, in ms: longer than GitHub's reads lag behind its writes. */
const CHECK_AGAIN_MS = 60_000;

/** A branch that belongs to no card, and the account that pushed to it, if known. */
interface UnassignedBranch {
  readonly repositoryId: string;
  readonly branchName: string;
  readonly login: string | null;
  readonly at: string | null;
}

/**
 * Handles a push to a branch that belongs to no card. Events may come twice and in any order,
 * because only the current state of the branch counts. If that contradicts the event, a job checks
 * again later.
 */
export async function handlePushToOtherBranch(
  deps: Deps,
  event: Pushed,
  repository: Repository,
): Promise<void> {
  const { branchName, sender, at } = event;
  if (await isOurBot(deps, sender)) return;
  const isPush = event.after !== null;
  // The next branch of this name can be suggested even if this suggestion was dismissed.
  if (!isPush && at !== null) {
    await deleteInboxItems(deps.db, "branch_suggestion", branchKey(repository.id, branchName), at);
  }
  const pushed = isPush ? { login: sender?.login ?? "ghost", at } : { login: null, at: null };
  const branch = { repositoryId: repository.id, branchName, ...pushed };
  const exists = await updateSuggestion(deps, repository, branch);
  if (exists !== null && exists !== isPush) await suggestLater(deps.db, branch);
}

const suggestLater = (db: Db, branch: UnassignedBranch): Promise<void> =>
  schedule(db, JOBS.suggestBranch, branch, { delayMs: CHECK_AGAIN_MS });

/** Checks a branch again after GitHub has contradicted an event. */
export async function suggestBranch(deps: Deps, branch: UnassignedBranch): Promise<void> {
  const repository = await findRepository(deps.db, branch.repositoryId);
  const isUnassigned = (await findBranchOwner(deps.db, branch.repositoryId, branch.branchName)) === null;
  if (repository && isUnassigned) await updateSuggestion(deps, repository, branch);
}

/**
 * Adds an inbox item for a branch that is named like one of a card without a branch in the repository,
 * and deletes the item when the branch is gone. A dismissed branch is not suggested again while it
 * exists. Returns whether the branch exists, or null if it is no candidate.
 */
async function updateSuggestion(
  deps: Deps,
  { id: repositoryId, projectId, forgeRef, defaultBranch }: Repository,
  branch: UnassignedBranch,
): Promise<boolean | null> {
  const { branchName } = branch;
  if (projectId === null || !forgeRef || branchName === defaultBranch) return null;
  const key = branchKey(repositoryId, branchName);
  const card = await namedCard(deps.db, repositoryId, projectId, branchName);
  const isKnown = await hasInboxItem(deps.db, projectId, "branch_suggestion", key);
  if (!card && !isKnown) return null;
  const exists = (await deps.forge.branchHead(forgeRef, branchName)) !== null;
  if (!exists) await deleteInboxItems(deps.db, "branch_suggestion", key);
  else if (card && !isKnown) {
    const { login, at } = branch;
    await upsertInboxItem(deps.db, {
      workspaceId: card.workspaceId,
      projectId: card.projectId,
      cardId: card.id,
      repositoryId,
      kind: "branch_suggestion",
      naturalKey: key,
      detail: login
        ? `${login} pushed ${branchName}, which is named like a branch of card ${card.number}.`
        : `${branchName} is named like a branch of card ${card.number}.`,
      data: { branchName, login },
      at,
    });
  }
  return exists;
}

async function namedCard(
  db: Db,
  repositoryId: string,
  projectId: string,
  branchName: string,
): Promise<CardHead | null> {
  const naming = await findBranchNaming(db, projectId);
  const number = naming && guessCardNumber(naming.branchPattern, branchName);
  const card = naming && number && (await findCard(db, naming.workspaceId, number));
  if (!card || card.projectId !== projectId) return null;
  return (await ownsBranchIn(db, card.id, repositoryId)) ? null : card;
}
