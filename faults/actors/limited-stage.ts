import { setTimeout as sleep } from "node:timers/promises";
import { withStage, type Flow, type Stage } from "../../test/support/flows.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";
import type { Caller } from "./caller.ts";

interface LimitedStageContext {
  /** The movers: more of them move cards at the same time than a stage has room for. */
  readonly callers: readonly Caller[];
  readonly random: SeededRandom;
  readonly own: BoardKnowledge;
  /** Cards without repositories in the backlog. */
  readonly numbers: readonly number[];
}

/** The stage whose gates change during the run. Its rule needs no Git. */
export const LIMITED = "To do";

const WEIGHTS = { move: 4, promote: 2, create: 1 } as const;

/** Puts cards into a limited stage, in every way and all at once, and takes them out again. */
export async function fillLimitedStage(context: LimitedStageContext, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const ways = { move: moveAll, promote: promoteSome, create: createSome };
    const numbers = await ways[context.random.weighted(WEIGHTS)](context);
    await Promise.all(numbers.map((number) => move(context, number, "Backlog")));
    await sleep(context.random.between(0, 100));
  }
}

async function move(
  { callers, random, own }: LimitedStageContext,
  number: number,
  stage: "Backlog" | typeof LIMITED,
) {
  const sent = { statusId: own.board.stages[stage], index: random.between(0, 2) };
  return random.pick(callers)?.write("POST", `/v1/cards/${number}/move`, sent);
}

/** Each way returns the cards that may have entered the stage. */
async function moveAll(context: LimitedStageContext): Promise<readonly number[]> {
  const responses = await Promise.all(context.numbers.map((number) => move(context, number, LIMITED)));
  return context.numbers.filter((_, at) => responses[at]?.status !== 409);
}

/** Two promotions at the same time. */
async function promoteSome(context: LimitedStageContext): Promise<readonly number[]> {
  const half = Math.ceil(context.numbers.length / 2);
  const halves = [context.numbers.slice(0, half), context.numbers.slice(half)];
  await Promise.all(halves.map((numbers) => promote(context, numbers)));
  return context.numbers;
}

async function promote(
  { callers, random, own }: LimitedStageContext,
  taskNumbers: readonly number[],
): Promise<void> {
  const caller = random.pick(callers);
  const created = await caller?.write("POST", "/v1/releases", { name: uniqueText(own, "release") });
  if (!caller || created?.status !== 201) return;
  const path = `/v1/releases/${(created.body as { id: string }).id}`;
  await caller.write("PUT", `${path}/cards`, { taskNumbers });
  await caller.write("POST", `${path}/promote`, { statusId: own.board.stages[LIMITED] });
  await caller.write("PUT", `${path}/cards`, { taskNumbers: [] });
}

async function createSome({ callers, random, own }: LimitedStageContext): Promise<readonly number[]> {
  const created = await Promise.all(
    callers.slice(0, 3).map((caller) =>
      caller.write("POST", "/v1/cards", {
        title: uniqueText(own, "card"),
        description: uniqueText(own, "created as"),
        statusId: own.board.stages[LIMITED],
        repositoryIds: [],
        ...(random.chance(0.3) && { hotfix: true }),
      }),
    ),
  );
  return created.flatMap(({ status, body }) => (status === 201 ? [(body as { number: number }).number] : []));
}

/** The gates between which the stage changes. Most of them are limits. */
const GATES: readonly NonNullable<Stage["gates"]>[] = [
  { wipLimit: 1, humanOnly: false },
  { wipLimit: 2, humanOnly: false },
  { wipLimit: 1, humanOnly: false },
  { wipLimit: null, humanOnly: true },
];

/** Sets gates of a stage. It waits while a card of the project is being moved. */
export async function setGates(
  caller: Caller,
  { board }: BoardKnowledge,
  stage: string,
  gates: Stage["gates"] = {},
): Promise<void> {
  const path = `/v1/projects/${board.projectId}/flow`;
  const { status, body } = await caller.get(path);
  if (status === 200) await caller.write("PUT", path, withStage(body as Flow, stage, { gates }));
}

export async function changeGates(
  context: Pick<LimitedStageContext, "own" | "random"> & { readonly caller: Caller },
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await sleep(context.random.between(500, 2_500));
    await setGates(context.caller, context.own, LIMITED, context.random.pick(GATES));
  }
}
