/**
 * Measures the service as shipped against floors on the same PostgreSQL, in turns, and writes the table to bench/README.md. `--short` proves only that
 * it runs. Exits 1 when a goal is missed, except with `--short`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Db } from "../src/store/connect.ts";
import { compare, type Pace } from "./compare.ts";
import { compareDeliveries, measureDeliveries, seedLanes } from "./deliveries.ts";
import { runToItsEnd, type Ends } from "./ends.ts";
import { measureGitMoves } from "./git-moves.ts";
import { growthWorkloads, LARGE, TINY } from "./growth-workloads.ts";
import { measureMovers } from "./movers.ts";
import { isMissed, limitRow, writeReport, type Row } from "./report.ts";
import { reportWorkloads } from "./report-workloads.ts";
import { seedHistory } from "./seed-history.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import { copyTables, startFloors } from "./setting.ts";
import { boardWorkloads, workloadsOf } from "./workloads.ts";
import { startBenchWorld, type BenchWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    short: { type: "boolean" },
    only: { type: "string" },
    rounds: { type: "string" },
  },
});
const isShort = values.short === true;
const pace: Pace = {
  isShort,
  rounds: Number(values.rounds ?? (isShort ? 1 : 5)),
  seconds: isShort ? 1 : 1.5,
};
const wanted = new RegExp(values.only ?? "");

const WRITE_EVERY_MS = 3;
/** The most bytes of a board for each of its cards. */
const BYTES_A_CARD = 330;

/** Writes one card of a board over and over, until what it gives is called. */
function keepWriting(db: Db, { projectId }: BenchBoard): () => Promise<void> {
  const over = new AbortController();
  const writing = (async (): Promise<void> => {
    while (!over.signal.aborted) {
      await db.raw("update cards set title = title where project_id = ? and number = 1", [projectId]);
      await sleep(WRITE_EVERY_MS);
    }
  })();
  return () => {
    over.abort();
    return writing;
  };
}

/** Rows of a board beside its floors. */
async function compareBoard(
  world: BenchWorld,
  board: BenchBoard,
  workloadsFor: typeof workloadsOf,
): Promise<Row[]> {
  const { db, service } = world;
  await copyTables(world.seeding);
  const { stop, ...floors } = await startFloors(world.connectionString, board, world.env);
  world.ends.push(stop);
  const headers = { authorization: `Bearer ${board.apiKey}` };
  const etag = (await fetch(`${service}/v1/board`, { headers })).headers.get("etag") ?? "";
  const made: Row[] = [];
  for (const workload of workloadsFor({ service, ...floors }, board, etag)) {
    if (!wanted.test(workload.name)) continue;
    const stopWriting = workload.isBoardWritten ? keepWriting(db, board) : null;
    made.push(...(await compare(world, pace, workload)));
    await stopWriting?.();
  }
  await stop();
  return made;
}

async function measureBytes({ service }: BenchWorld, board: BenchBoard): Promise<Row[]> {
  const headers = { authorization: `Bearer ${board.apiKey}` };
  const bytes = Buffer.from(await (await fetch(`${service}/v1/board`, { headers })).arrayBuffer());
  const { columns } = JSON.parse(bytes.toString("utf8")) as { columns: { tasks: unknown[] }[] };
  const cards = columns.reduce((sum, { tasks }) => sum + tasks.length, 0);
  return [limitRow(`bytes a card of a board of ${board.cards}`, bytes.byteLength / cards, BYTES_A_CARD)];
}

async function compareGrowth(world: BenchWorld): Promise<Row[]> {
  const { seeding } = world;
  const small = await seedBoard(seeding, 500, "small");
  const tiny = await seedBoard(seeding, TINY, "tiny");
  const large = await seedBoard(seeding, isShort ? 5_000 : LARGE, "large");
  await seeding.raw("vacuum analyze");
  const made: Row[] = [];
  for (const workload of growthWorkloads(world.service, large, small, tiny)) {
    if (wanted.test(workload.name)) made.push(...(await compare(world, pace, workload)));
  }
  if (wanted.test("recording a webhook")) {
    const [few, many] = [await seedLanes(world.db, small), await seedLanes(world.db, large)];
    made.push(await compareDeliveries(world, pace, many, few));
  }
  if (wanted.test("movers")) made.push(...(await measureMovers(world, pace, large)));
  return made;
}

async function main(ends: Ends): Promise<readonly Row[]> {
  const world = await startBenchWorld(ends);
  const { db, seeding } = world;
  await sleep(isShort ? 0 : 3_000);
  const idle = await world.memory("VmRSS");
  const table: Row[] = [];
  const add = async (name: string, measured: () => Promise<readonly Row[]>): Promise<void> => {
    if (wanted.test(name)) table.push(...(await measured()));
  };
  const board = await seedBoard(seeding, 500);
  // Before its cards are written and moved, some of them off the board.
  await add("bytes", () => measureBytes(world, board));
  table.push(...(await compareBoard(world, board, workloadsOf)));
  await add("a move with Git", () => measureGitMoves(world, pace, board));
  await add("deliveries", async () => measureDeliveries(world, pace, await seedLanes(db, board)));
  if (!isShort) {
    const larger = await seedBoard(seeding, 5_000);
    await add("bytes", () => measureBytes(world, larger));
    table.push(...(await compareBoard(world, larger, boardWorkloads)));
  }
  table.push(
    ...(await compareBoard(world, await seedHistory(seeding, isShort ? 50 : 5_000), reportWorkloads)),
  );
  if (/growth|cards|move|webhook/.test(values.only ?? "growth")) table.push(...(await compareGrowth(world)));
  table.push(
    limitRow("memory idle, MB", idle, 150),
    limitRow("memory at most, under all of this load, MB", await world.memory("VmHWM"), 400),
  );
  return table;
}

await runToItsEnd(async (ends) => {
  const table = await main(ends);
  const missed = table.filter(isMissed);
  if (!isShort && !values.only) await writeReport(table);
  console.log(`${missed.length} of ${table.length} goals missed`);
  return missed.length > 0 && !isShort ? 1 : 0;
});
