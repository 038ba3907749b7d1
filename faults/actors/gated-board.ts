import type { History } from "../history.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { FaultWorld } from "../world/world.ts";
import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";
import type { Caller } from "./caller.ts";
import { expireClaims, runClaimer } from "./claimer.ts";
import { changeGates, fillLimitedStage, LIMITED, setGates } from "./limited-stage.ts";
import { REVIEWED, runReviewers, type Reviewer } from "./reviewers.ts";

const CLAIMERS = 3;
/** Fewer than the workers of the claimers, so that they want the same ones. */
const CLAIMED_CARDS = 3;
const MOVERS = 4;
const MOVED_CARDS = 6;

export interface GatedContext {
  readonly world: FaultWorld;
  readonly own: BoardKnowledge;
  readonly random: SeededRandom;
  readonly history: History;
  /** A caller with its own credential, whose owner is this person. */
  readonly callerFor: (actor: string, owner?: Reviewer["login"]) => Promise<Caller>;
}

/** Runs the callers of a prepared board until `isOver`. */
export type RunBoard = (isOver: () => boolean) => Promise<void>;

/** Prepares a board whose callers use claims and meet gates. */
export async function prepareGatedBoard(context: GatedContext): Promise<RunBoard> {
  const { own, random, callerFor, world, history } = context;
  const maintainer = await callerFor("gates-maintainer");
  await setGates(maintainer, own, LIMITED, { wipLimit: 1 });
  await setGates(maintainer, own, REVIEWED, { secondPerson: true });
  const claimed = await createCards(maintainer, own, CLAIMED_CARDS, "In progress");
  const moved = await createCards(maintainer, own, MOVED_CARDS, "Backlog");
  const callers = (name: string, count: number): Promise<Caller[]> =>
    Promise.all(Array.from({ length: count }, (_, at) => callerFor(`${name}-${at + 1}`)));
  const claimers = await callers("claimer", CLAIMERS);
  const movers = await callers("mover", MOVERS);
  const reviewers = [
    { login: "ada", caller: await callerFor("agent-of-ada", "ada") },
    { login: "grace", caller: await callerFor("agent-of-grace", "grace") },
  ] as const;
  return async (isOver) => {
    await Promise.all([
      ...claimers.map((caller) =>
        runClaimer(
          { caller, own, random: random.for(caller.actor), numbers: claimed, others: moved },
          isOver,
        ),
      ),
      expireClaims(world, random.for("expiry"), history, isOver),
      fillLimitedStage({ callers: movers, own, random: random.for("limited stage"), numbers: moved }, isOver),
      changeGates({ caller: maintainer, own, random: random.for("gates") }, isOver),
      runReviewers({ reviewers, own, random: random.for("reviewers"), history }, isOver),
    ]);
  };
}

/** Creates cards without repositories. */
async function createCards(
  caller: Caller,
  own: BoardKnowledge,
  count: number,
  stage: "Backlog" | "In progress",
): Promise<number[]> {
  const numbers: number[] = [];
  for (let made = 0; made < count; made++) {
    const created = await caller.write("POST", "/v1/cards", {
      title: uniqueText(own, "card"),
      description: uniqueText(own, "created as"),
      statusId: own.board.stages[stage],
      repositoryIds: [],
    });
    if (created.status === 201) numbers.push((created.body as { number: number }).number);
  }
  return numbers;
}
