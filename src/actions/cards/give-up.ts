import { giveUpReason } from "../../flow/comment-text.ts";
import type { Commented, PullRequestEvent } from "../../forge/events.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import type { Conversation } from "../../store/events/conversations.ts";
import { recordEvents, type Actor, type NewEvent } from "../../store/events/timeline.ts";
import { isAgentOn } from "../members/forge-accounts.ts";
import { effectKey } from "../moves/record-effects.ts";

type Work = Omit<Conversation, "prNumber">;

/**
 * Whether an agent has closed its own pull request without merging it. If it resets its branch to the
 * target, GitHub closes the pull request.
 */
export const closesOwnPullRequest = async (
  db: Db,
  workspaceId: string,
  event: PullRequestEvent,
): Promise<boolean> =>
  event.action === "closed" &&
  !event.isEmptied &&
  event.author !== null &&
  event.author.forgeId === event.sender?.forgeId &&
  (await isAgentOn(db, workspaceId, event.author));

export const recordClosedByAgent = (
  trx: Trx,
  { cardId, repositoryId }: Omit<Work, "workspaceId">,
  { number, at }: PullRequestEvent,
  actor: Actor,
): Promise<void> => {
  const naturalKey = `${effectKey("agent_gave_up", repositoryId, number)}:${at ?? ""}`;
  return record(trx, { cardId, repositoryId, actor, at, naturalKey }, number, "");
};

/** Records the `/give-up` in an agent's comment on a pull request, once per comment. */
export async function recordGiveUp(
  trx: Trx,
  { cardId, workspaceId, repositoryId }: Work,
  { action, author, body, number, commentId, at }: Commented,
  actor: Actor,
): Promise<void> {
  const reason = action === "deleted" ? null : giveUpReason(body);
  if (reason === null || !(await isAgentOn(trx, workspaceId, author))) return;
  const naturalKey = `agent_gave_up:${repositoryId}:comment:${commentId}`;
  await record(trx, { cardId, repositoryId, actor, at, naturalKey }, number, reason);
}

/** The same for a comment written through the API, where every caller counts as an agent. */
export async function recordGiveUpOnCard(
  trx: Trx,
  comment: { readonly id: string; readonly cardId: string; readonly authorId: string; readonly body: string },
): Promise<void> {
  const reason = giveUpReason(comment.body);
  if (reason === null) return;
  const actor = { userId: comment.authorId, login: null };
  const naturalKey = `agent_gave_up:comment:${comment.id}`;
  await record(trx, { cardId: comment.cardId, actor, naturalKey }, null, reason);
}

async function record(
  trx: Trx,
  event: Omit<NewEvent, "kind" | "data">,
  prNumber: number | null,
  reason: string,
): Promise<void> {
  const data = { prNumber, reason: reason === "" ? null : reason };
  await recordEvents(trx, [{ ...event, kind: "agent_gave_up", data }]);
}
