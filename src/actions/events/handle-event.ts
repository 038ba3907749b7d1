import type {
  Commented,
  ForgeEvent,
  PullRequestEvent,
  ReviewEdited,
  ReviewSubmitted,
} from "../../forge/events.ts";
import { findBranchOwner } from "../../store/forge/branches.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import type { Db } from "../../store/db/connect.ts";
import { findConversation } from "../../store/events/conversations.ts";
import { removeProposal, findPullRequestOwner } from "../../store/forge/pull-requests.ts";
import {
  findRepositoryByForgeId,
  updateRepositoryNames,
  type Repository,
} from "../../store/forge/repositories.ts";
import { endSessionsOf } from "../../store/tenancy/sessions.ts";
import type { Deps } from "../deps.ts";
import { forgeActor } from "../members/forge-accounts.ts";
import { recordPushedTip } from "../trunks/follow-trunk.ts";
import { handleRepositoryChange, syncInstallation } from "../installations/sync-installation.ts";
import { handleChecks } from "./checks.ts";
import { handleChangedThread, handleComment, handleEditedReview, handleReview } from "./conversation.ts";
import { handleProposal } from "./proposal.ts";
import { handlePullRequest, handleAnyPullRequest } from "./pull-request.ts";
import { handlePushToCardBranch, handlePushToAnyBranch } from "./push.ts";
import { handlePushToOtherBranch } from "./unassigned-branch.ts";

/** A pull request whose deferred events may have to be replayed. */
interface HandledPullRequest {
  readonly repositoryId: string;
  readonly number: number;
  /** This event must be replayed, because no card or proposal has the number yet. */
  readonly isDeferred: boolean;
}

/**
 * Handles an event, delivered or found by a comparison: finds its repository, card and actor, and
 * calls the handler for its type. Handling an event twice has the same effect as handling it once.
 */
export async function handleEvent(deps: Deps, event: ForgeEvent): Promise<HandledPullRequest | null> {
  if (event.type === "irrelevant") return null;
  if (event.type === "installation_changed") {
    await deps.forge.forgetToken(event.installationId);
    await syncInstallation(deps, event.installationId);
  } else if (event.type === "authorization_revoked") await endSessionsOf(deps.db, event.account.forgeId);
  else if (event.type === "repository_changed") await handleRepositoryChange(deps, event);
  else {
    const stored = await findRepositoryByForgeId(deps.db, event.repository.forgeId);
    if (stored && event.type === "pushed") await recordPushedTip(deps.db, stored.id, event);
    const repository = stored && (await currentRepository(deps, stored, event));
    if (repository) return handleInRepository(deps, event, repository);
  }
  return null;
}

type RepositoryEvent = Exclude<
  ForgeEvent,
  { readonly type: "irrelevant" | "installation_changed" | "authorization_revoked" | "repository_changed" }
>;

/**
 * The repository with its current names. If the event has others, GitHub is asked, because the
 * event may be days old. Null if the repository is not connected, or belongs to another installation
 * than the event.
 */
async function currentRepository(
  deps: Deps,
  repository: Repository,
  { repository: named, installationId }: RepositoryEvent,
): Promise<Repository | null> {
  if (!repository.connected) return null;
  if (installationId !== null && installationId !== repository.installationId) return null;
  const isUnchanged =
    repository.fullName === named.fullName && repository.defaultBranch === named.defaultBranch;
  if (isUnchanged || !repository.forgeRef) return repository;
  const now = await deps.forge.repository(repository.forgeRef);
  if (!now) return repository;
  await updateRepositoryNames(deps.db, repository.id, now);
  return { ...repository, fullName: now.fullName, defaultBranch: now.defaultBranch };
}

async function handleInRepository(
  deps: Deps,
  event: RepositoryEvent,
  repository: Repository,
): Promise<HandledPullRequest | null> {
  switch (event.type) {
    case "check_reported":
    case "checks_found":
      await handleChecks(deps, event, repository);
      return null;
    case "pushed": {
      await handlePushToAnyBranch(deps, event, repository);
      const card = await findBranchOwner(deps.db, repository.id, event.branchName);
      if (!card) await handlePushToOtherBranch(deps, event, repository);
      else {
        const actor = await forgeActor(deps, deps.db, event.sender);
        await handlePushToCardBranch(deps, event, { repository, card, actor });
      }
      return null;
    }
    case "thread_changed": {
      const card = await findPullRequestOwner(deps.db, repository.id, event.number);
      if (card) await handleChangedThread(deps, repository, card);
      return null;
    }
    case "pull_request":
      return handlePullRequestEvent(deps, event, repository);
    case "review_submitted":
    case "review_edited":
    case "commented":
      return handleConversationEvent(deps, event, repository);
  }
}

/** A pull request is a card's own, a proposal if its target is a card's branch, or neither. */
async function handlePullRequestEvent(
  deps: Deps,
  event: PullRequestEvent,
  repository: Repository,
): Promise<HandledPullRequest> {
  const { db } = deps;
  await handleAnyPullRequest(deps, event, repository);
  const own = await pullRequestOwner(db, repository, event);
  const card = own ?? (await findBranchOwner(db, repository.id, event.targetBranch));
  if (!card) await removeProposal(db, repository.id, event.number);
  else {
    const handle = own ? handlePullRequest : handleProposal;
    const actor = await forgeActor(deps, db, event.sender);
    await handle(deps, event, { repository, card, actor });
  }
  return { repositoryId: repository.id, number: event.number, isDeferred: false };
}

/**
 * Defers comments and reviews of an unknown pull request. A review also names its branch, which may
 * belong to a card.
 */
async function handleConversationEvent(
  deps: Deps,
  event: ReviewSubmitted | ReviewEdited | Commented,
  repository: Repository,
): Promise<HandledPullRequest | null> {
  const { db } = deps;
  const conversation = await findConversation(db, repository.id, event.number);
  if (event.type === "review_submitted") {
    const card = await pullRequestOwner(db, repository, event);
    if (card || conversation) {
      const actor = await forgeActor(deps, db, event.sender);
      await handleReview(deps, event, { repository, card, conversation, actor });
    }
  } else if (conversation) {
    const actor = await forgeActor(deps, db, event.author);
    if (event.type === "commented") await handleComment(deps, event, { conversation, actor });
    else await handleEditedReview(deps, event, { conversation, actor });
  }
  return conversation ? null : { repositoryId: repository.id, number: event.number, isDeferred: true };
}

/** The card that a pull request is recorded for, or whose branch it comes from. */
async function pullRequestOwner(
  db: Db,
  repository: Repository,
  event: PullRequestEvent | ReviewSubmitted,
): Promise<CardHead | null> {
  const owner = await findPullRequestOwner(db, repository.id, event.number);
  if (owner || event.headRepositoryId !== event.repository.forgeId) return owner;
  return findBranchOwner(db, repository.id, event.headBranch);
}
