/**
 * Compares the compiled service with floors on the same PostgreSQL and writes bench/README.md.
 * Exits 1 if a goal is missed. `--short` only shows that the bench works.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { compare, type Pace, type Workload } from "./compare.ts";
import { measureConsole } from "./console.ts";
import { measureDeliveries } from "./deliveries.ts";
import { measureFairness } from "./fairness.ts";
import { measureFeed } from "./feed.ts";
import { measureFloods } from "./floods.ts";
import { measureGitMoves } from "./git-moves.ts";
import { measureGrowth } from "./growth.ts";
import { runAndCleanUp, type Cleanups } from "./processes.ts";
import { atMost, isMissed, report, writeReport, type Measurement } from "./report.ts";
import { measureManyBoards } from "./many-boards.ts";
import { measureRoundTrips } from "./round-trips.ts";
import { seedDetails } from "./seed-details.ts";
import { seedHistory } from "./seed-history.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import {
  auth,
  boardWorkloads,
  cardWorkloads,
  detailsWorkloads,
  historyWorkloads,
  replayWorkloads,
  webhookWorkloads,
  writeWorkloads,
} from "./workloads.ts";
import { memoryOf, startBenchWorld, startFloors, type Addresses, type BenchWorld } from "./world.ts";

const { values } = parseArgs({
  options: { short: { type: "boolean" }, only: { type: "string" }, rounds: { type: "string" } },
});
const isShort = values.short === true;
const pace: Pace = {
  isShort,
  rounds: Number(values.rounds ?? (isShort ? 1 : 5)),
  seconds: isShort ? 1 : 1.5,
};
const wanted = new RegExp(values.only ?? "");

const BOARDS = 16;
const BYTES_PER_CARD = 330;
const BYTES_PER_CARD_WITH_DETAILS = 1_030;

/** Runs the selected workloads against floors on copies of the current tables. */
async function compareAll(
  world: BenchWorld,
  boards: readonly BenchBoard[],
  workloadsAt: (addresses: Addresses) => readonly Workload[],
): Promise<Measurement[]> {
  const { stop, ...floors } = await startFloors(world, boards);
  const measurements: Measurement[] = [];
  for (const workload of workloadsAt({ service: world.service, ...floors })) {
    if (wanted.test(workload.name)) measurements.push(...(await compare(world, pace, workload)));
  }
  await stop();
  return measurements;
}

/** Reads a board once. */
async function readBoard(
  world: BenchWorld,
  board: BenchBoard,
  path: string,
): Promise<{ readonly etag: string; readonly bytesPerCard: number }> {
  const response = await fetch(`${world.service}${path}`, { headers: auth(board) });
  const text = await response.text();
  const { columns } = JSON.parse(text) as { columns: { tasks: unknown[] }[] };
  const cards = columns.reduce((sum, { tasks }) => sum + tasks.length, 0);
  return { etag: response.headers.get("etag") ?? "", bytesPerCard: Buffer.byteLength(text) / cards };
}

/** The size of a board and reads of it. Later writes change its cards. */
async function measureBoard(world: BenchWorld, board: BenchBoard): Promise<Measurement[]> {
  const { etag, bytesPerCard } = await readBoard(world, board, "/v1/board");
  const name = `bytes per card, board of ${board.cards}`;
  const size = report({ name, value: bytesPerCard, goal: atMost(BYTES_PER_CARD) });
  return [size, ...(await compareAll(world, [board], (at) => boardWorkloads(at, board, etag)))];
}

/** The same with details. */
async function measureDetails(world: BenchWorld, board: BenchBoard): Promise<Measurement[]> {
  const { bytesPerCard } = await readBoard(world, board, "/v1/board?include=details");
  const name = `bytes per card with details, board of ${board.cards}`;
  const size = report({ name, value: bytesPerCard, goal: atMost(BYTES_PER_CARD_WITH_DETAILS) });
  return [size, ...(await compareAll(world, [board], (at) => detailsWorkloads(at, board)))];
}

/** Calls about cards, and webhooks. */
async function measureCards(
  world: BenchWorld,
  board: BenchBoard,
  boards: readonly BenchBoard[],
): Promise<Measurement[]> {
  const replay = {
    method: "POST",
    path: "/v1/cards/1/comments",
    headers: { ...auth(board), "content-type": "application/json", "idempotency-key": randomUUID() },
    body: JSON.stringify({ body: "A repeated comment" }),
  } as const;
  await fetch(`${world.service}${replay.path}`, replay);
  return compareAll(world, [board, ...boards], (addresses) => [
    ...cardWorkloads(addresses, board),
    ...writeWorkloads(addresses, board, boards),
    ...replayWorkloads(addresses, board, replay),
    ...webhookWorkloads(addresses),
  ]);
}

async function main(cleanups: Cleanups): Promise<readonly Measurement[]> {
  const world = await startBenchWorld(cleanups);
  await sleep(isShort ? 0 : 3_000);
  const idle = await memoryOf(world.pid, "VmRSS");
  const { seeding } = world;
  const board = await seedBoard(seeding, 500);
  const measurements = await measureBoard(world, board);
  if (wanted.test("board with details")) {
    measurements.push(...(await measureDetails(world, await seedDetails(seeding, 500))));
  }
  const boards: BenchBoard[] = [];
  for (let nth = 1; nth <= BOARDS; nth++) boards.push(await seedBoard(seeding, 100, `bench-${nth}`));
  measurements.push(...(await measureCards(world, board, boards)));
  const measureIf = async (name: string, measure: () => Promise<Measurement[]>): Promise<void> => {
    if (wanted.test(name)) measurements.push(...(await measure()));
  };
  await measureIf("round trips", () => measureRoundTrips(world, board));
  await measureIf("moves with Git", () => measureGitMoves(world, pace, board));
  await measureIf("deliveries", () => measureDeliveries(world, pace, board));
  await measureIf("fairness", () => measureFairness(world, pace));
  await measureIf("floods", () => measureFloods(world, pace));
  await measureIf("feed", () => measureFeed(world, pace, board));
  await measureIf("console", () => measureConsole(world, pace, board));
  if (!isShort) measurements.push(...(await measureBoard(world, await seedBoard(seeding, 5_000))));
  const history = await seedHistory(seeding, isShort ? 50 : 5_000);
  measurements.push(...(await compareAll(world, [history], (at) => historyWorkloads(at, history))));
  await measureIf("growth", () => measureGrowth(world, pace));
  await measureIf("many boards", () => measureManyBoards(world, pace));
  measurements.push(
    report({ name: "memory idle, MB", value: idle, goal: atMost(150) }),
    report({ name: "memory under load, MB", value: await memoryOf(world.pid, "VmHWM"), goal: atMost(400) }),
  );
  return measurements;
}

await runAndCleanUp(async (cleanups) => {
  const measurements = await main(cleanups);
  const missed = measurements.filter(isMissed);
  if (!isShort && values.only === undefined) await writeReport(measurements);
  console.log(`${missed.length} of ${measurements.length} goals missed`);
  return missed.length > 0 && !isShort ? 1 : 0;
});
