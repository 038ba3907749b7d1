import { giveUpReason } from "../flow/give-up.ts";
import type { Commented, PullRequestEvent } from "../forge/events.ts";
import type { Db, Trx } from "../store/db/connect.ts";
import { recordEvents, type Actor } from "../store/events/timeline.ts";
import { isAgentOn } from "./is-agent.ts";
import { deedKey } from "./record-deeds.ts";

/** The card an agent worked for, and where. */
export interface GivenUp {
  readonly cardId: string;
  readonly workspaceId: string;
  readonly repositoryId: string;
}

/** Whether an agent closed its own pull request without merging it. */
export const isGivenUp = async (db: Db, workspaceId: string, event: PullRequestEvent): Promise<boolean> =>
  event.action === "closed" &&
  event.author !== null &&
  event.author.forgeId === event.sender?.forgeId &&
  (await isAgentOn(db, workspaceId, event.author));

/** Tells that an agent closed its own pull request. */
export async function recordClosedByAgent(
  trx: Trx,
  { cardId, repositoryId }: GivenUp,
  event: PullRequestEvent,
  actor: Actor,
): Promise<void> {
  await recordEvents(trx, [
    {
      cardId,
      kind: "agent_gave_up",
      actor,
      repositoryId,
      data: { prNumber: event.number, reason: null },
      at: event.at,
      naturalKey: `${deedKey("agent_gave_up", repositoryId, event.number)}:${event.at ?? ""}`,
    },
  ]);
}

/** Tells that an agent gave up, where its comment on a pull request says so: once, however often the comment is changed. */
export async function recordGiveUp(
  trx: Trx,
  { cardId, workspaceId, repositoryId }: GivenUp,
  event: Commented,
  actor: Actor,
): Promise<void> {
  if (event.action === "deleted") return;
  const reason = giveUpReason(event.body.replaceAll("\0", ""));
  if (reason === null || !(await isAgentOn(trx, workspaceId, event.author))) return;
  await recordEvents(trx, [
    {
      cardId,
      kind: "agent_gave_up",
      actor,
      repositoryId,
      data: { prNumber: event.number, reason: reason === "" ? null : reason },
      at: event.at,
      naturalKey: `agent_gave_up:${repositoryId}:comment:${event.commentId}`,
    },
  ]);
}

/** The same for a comment written through the API, whose callers are machines: there an agent has no other name. */
export async function recordGiveUpHere(
  trx: Trx,
  comment: { readonly id: string; readonly cardId: string; readonly authorId: string; readonly body: string },
): Promise<void> {
  const reason = giveUpReason(comment.body);
  if (reason === null) return;
  await recordEvents(trx, [
    {
      cardId: comment.cardId,
      kind: "agent_gave_up",
      actor: { userId: comment.authorId, login: null },
      data: { prNumber: null, reason: reason === "" ? null : reason },
      naturalKey: `agent_gave_up:comment:${comment.id}`,
    },
  ]);
}
