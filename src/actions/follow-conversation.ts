import { checksState } from "../flow/checks.ts";
import { isQuestion } from "../flow/question.ts";
import type {
  CheckReported,
  Commented,
  ForgeEvent,
  PullRequestEvent,
  Pushed,
  ReviewSubmitted,
} from "../forge/events.ts";
import type { ForgeAccount } from "../forge/forge.ts";
import { findCardById } from "../store/cards/cards.ts";
import { listOutcomes, saveCheckReport, findBranchOwner } from "../store/forge/branches.ts";
import type { Db } from "../store/db/connect.ts";
import {
  dropAsks,
  findConversation,
  listConversationsAt,
  noteAsk,
  noteTurn,
  type Conversation,
  type Turn,
} from "../store/events/conversations.ts";
import { findForgeUser } from "../store/tenancy/users.ts";
import type { Deps } from "./deps.ts";
import { forgeActor } from "./forge-actor.ts";
import { isAgentOn } from "./is-agent.ts";
import { knownRepository } from "./known-repository.ts";

/**
 * Keeps whose turn it is on a card's pull request or a proposal: who did something there last, and what waits for a reaction. Called once the
 * event is recorded; to do it twice is to do it once.
 */
export async function followConversation(deps: Deps, event: ForgeEvent): Promise<void> {
  switch (event.type) {
    case "pushed":
      return followPush(deps, event);
    case "pull_request":
      return followPullRequest(deps, event);
    case "review_submitted":
      return followReview(deps, event);
    case "commented":
      return followComment(deps, event);
    case "check_reported":
      return followCheck(deps, event);
    default:
      return;
  }
}

async function followPush(deps: Deps, event: Pushed): Promise<void> {
  if (event.after === null || (await isOurAccount(deps, event.sender))) return;
  const repository = await knownRepository(deps, event);
  const cardId = repository && (await findBranchOwner(deps.db, repository.id, event.branchName));
  const card = cardId && (await findCardById(deps.db, cardId));
  if (!repository || !card) return;
  const { id, workspaceId } = card;
  const conversation = { cardId: id, workspaceId, repositoryId: repository.id, prNumber: 0 };
  const turn = event.isFound ? await turnFound(deps, event) : await turnTold(deps, event);
  if (turn) await noteTurn(deps.db, conversation, { ...turn, works: true });
  await noteChecks(deps.db, repository.id, event.after, event.at);
}

type TurnTaken = Pick<Turn, "userId" | "at">;

const turnTold = async (deps: Deps, { sender, at }: Pushed): Promise<TurnTaken> => {
  const { userId } = await forgeActor(deps, deps.db, sender);
  return { userId, at };
};

/**
 * Who pushed what was found, and when, the forge does not tell: its newest commit stands for that, of an account that is known already. It was
 * pushed after it was committed, and before it was found.
 */
async function turnFound(deps: Deps, { newest, at: foundAt }: Pushed): Promise<TurnTaken | null> {
  const { authorId, at } = newest ?? { authorId: null, at: null };
  if (authorId === null || authorId === (await deps.forge.identity()).botId) return null;
  const user = await findForgeUser(deps.db, authorId);
  if (!user) return null;
  const isLater = at !== null && foundAt !== null && at > foundAt;
  return { userId: user.id, at: isLater ? foundAt : (at ?? foundAt) };
}

/** What counts as work on a pull request, beside pushing to a card's branch. */
const WORK: ReadonlySet<PullRequestEvent["action"]> = new Set(["opened", "synchronized"]);

async function followPullRequest(deps: Deps, event: PullRequestEvent): Promise<void> {
  const conversation = await conversationOf(deps, event);
  if (!conversation) return;
  const { userId } = await forgeActor(deps, deps.db, event.sender);
  const works = WORK.has(event.action);
  await noteTurn(deps.db, conversation, { userId, works, at: event.at });
  if (event.action === "merged" || event.action === "closed") await dropAsks(deps.db, conversation);
}

async function followReview(deps: Deps, event: ReviewSubmitted): Promise<void> {
  const conversation = await conversationOf(deps, event);
  if (!conversation) return;
  const { state, at } = event;
  const subject = String(event.reviewId);
  const kind = "changes_requested";
  const { userId } = await forgeActor(deps, deps.db, event.sender);
  await noteTurn(deps.db, conversation, { userId, works: false, at });
  if (state === "changes_requested")
    await noteAsk(deps.db, conversation, { kind, subject, askedBy: userId, at });
  if (state === "approved") await dropAsks(deps.db, conversation, { kind, askedBy: userId });
  if (state === "dismissed") await dropAsks(deps.db, conversation, { kind, subject });
  const body = state === "dismissed" ? "" : event.body;
  await heedQuestion(deps, conversation, { subject: `review:${subject}`, author: event.sender, body, at });
}

async function followComment(deps: Deps, event: Commented): Promise<void> {
  const conversation = await conversationOf(deps, event);
  if (!conversation) return;
  const { author, writtenAt } = event;
  const subject = String(event.commentId);
  const { userId } = await forgeActor(deps, deps.db, author);
  const isDeleted = event.action === "deleted";
  if (!isDeleted) await noteTurn(deps.db, conversation, { userId, works: false, at: event.at });
  const body = isDeleted ? "" : event.body;
  await heedQuestion(deps, conversation, { subject, author, body, at: writtenAt });
}

/** Something that was said; of what was taken back the body is empty. */
interface Remark {
  readonly subject: string;
  readonly author: ForgeAccount | null;
  readonly body: string;
  readonly at: string | null;
}

async function heedQuestion(
  deps: Deps,
  conversation: Conversation,
  { subject, author, body, at }: Remark,
): Promise<void> {
  const kind = "question";
  if (!isQuestion(body) || !(await isPerson(deps, conversation, author))) {
    return dropAsks(deps.db, conversation, { kind, subject });
  }
  const { userId } = await forgeActor(deps, deps.db, author);
  await noteAsk(deps.db, conversation, { kind, subject, askedBy: userId, at });
}

/** Whether somebody is a person. What our own account says was said by somebody here. */
async function isPerson(
  deps: Deps,
  { workspaceId }: Conversation,
  author: ForgeAccount | null,
): Promise<boolean> {
  if (author === null || (await isAgentOn(deps.db, workspaceId, author))) return false;
  return !author.isBot || isOurAccount(deps, author);
}

const isOurAccount = async (deps: Deps, account: ForgeAccount | null): Promise<boolean> =>
  account !== null && account.forgeId === (await deps.forge.identity()).botId;

async function followCheck(deps: Deps, event: CheckReported): Promise<void> {
  const repository = await knownRepository(deps, event);
  if (!repository) return;
  const { sha, source, name, forgeId, outcome } = event;
  if ((await listConversationsAt(deps.db, repository.id, sha)).length === 0) return;
  const appId = event.appId ?? 0;
  await saveCheckReport(deps.db, { repositoryId: repository.id, sha, source, name, appId, forgeId, outcome });
  await noteChecks(deps.db, repository.id, sha, event.at);
}

/** A commit whose checks are failing asks for another one. */
export async function noteChecks(
  db: Db,
  repositoryId: string,
  sha: string,
  at: string | null,
): Promise<void> {
  const isFailing = checksState(await listOutcomes(db, repositoryId, sha)) === "failing";
  const kind = "checks_failing";
  for (const conversation of await listConversationsAt(db, repositoryId, sha)) {
    if (isFailing) await noteAsk(db, conversation, { kind, subject: sha, askedBy: null, at });
    else await dropAsks(db, conversation, { kind });
  }
}

/** The conversation an event is a part of, or null where it is none of a card's. */
async function conversationOf(
  deps: Deps,
  event: PullRequestEvent | ReviewSubmitted | Commented,
): Promise<Conversation | null> {
  const repository = await knownRepository(deps, event);
  return repository && findConversation(deps.db, repository.id, event.number);
}
