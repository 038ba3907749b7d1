import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import type { BoardKnowledge } from "./board-knowledge.ts";
import type { Caller, Outcome } from "./caller.ts";
import { createCardWithCommit } from "./card-with-commit.ts";

/** A person and the key of an agent that this person owns. */
export interface Reviewer {
  readonly login: "ada" | "grace";
  readonly caller: Caller;
}

interface ReviewContext {
  readonly reviewers: readonly [Reviewer, Reviewer];
  readonly random: SeededRandom;
  readonly own: BoardKnowledge;
  readonly history: History;
}

/** The note that somebody's agent tried to finish a card with that person's commits. */
export const MOVED_OWN_WORK = "moved own work";

/** The stage that needs a second person. */
export const REVIEWED = "Done";

/** Lets the agents of two people finish cards with commits of one of them, its own agent first. */
export async function runReviewers(context: ReviewContext, isOver: () => boolean): Promise<void> {
  // Those that the board was prepared with have commits of ada.
  await Promise.all(context.own.cards.map((number) => finish(context, number, "ada")));
  while (!isOver()) {
    const author = context.random.pick(context.reviewers);
    const card = author && (await createCardWithCommit(author.caller, context.own, author.login));
    if (card) await finish(context, card.number, author.login);
    await sleep(context.random.between(0, 200));
  }
}

async function finish(context: ReviewContext, number: number, author: string): Promise<void> {
  const { reviewers, own, random, history } = context;
  const { stages } = own.board;
  const move = (caller: Caller, stage: "In review" | typeof REVIEWED): Promise<Outcome> =>
    caller.write("POST", `/v1/cards/${number}/move`, { statusId: stages[stage], index: 0 });
  const [same, other] = reviewers[0].login === author ? reviewers : reviewers.toReversed();
  if (!same || !other) return;
  if (random.chance(0.5)) await move(other.caller, "In review");
  const tried = await move(same.caller, REVIEWED);
  if (tried.status === 200 || isForSecondPerson(tried)) history.event("note", MOVED_OWN_WORK);
  await move(other.caller, REVIEWED);
}

/** Whether a move was refused because of who wrote the commits, not because somebody is unknown. */
function isForSecondPerson({ body }: Outcome): boolean {
  const { blocked } = body as { blocked?: { reasons: readonly { details: { cause?: string } }[] } };
  return blocked?.reasons.some(({ details }) => details.cause === "same_person") ?? false;
}
