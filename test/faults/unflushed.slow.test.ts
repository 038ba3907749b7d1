/** PostgreSQL crashes just after a commit that did not wait for the disk, and has lost it when it is back. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { Client } from "pg";
import type { CallMatch } from "../../src/sandbox/forge/control/match.ts";
import { eventually, type ApiCard } from "../support/api.ts";
import { startCrashingWorld, type CrashingWorld } from "../support/crashing-world.ts";
import { allWorkedIn } from "../support/deliveries.ts";
import { expectConsistent } from "../support/invariants.ts";
import { keepCalls } from "../support/kept-calls.ts";
import { writeFile } from "../support/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";

const LONG = 300_000;
/** Something else may wait for the disk just then, and takes what is before it along. */
const TRIES = 5;

let world: CrashingWorld;
beforeAll(async () => {
  world = await startCrashingWorld(true);
  // By itself PostgreSQL writes its log to the disk as late as it can be told to.
  await world.db.raw("alter system set wal_writer_delay = '10s'");
  await world.db.raw("alter system set wal_writer_flush_after = '1GB'");
  await world.postgres.crash();
}, LONG);
afterAll(() => world.stop(), LONG);

/** Keeps what is written to these tables waiting until PostgreSQL crashes; they can be read, and their rows held. Gives how to crash it. */
async function crashKeptFrom(...tables: string[]): Promise<() => Promise<void>> {
  const holder = new Client({ connectionString: world.databaseUrl });
  holder.on("error", () => undefined);
  await holder.connect();
  await holder.query("begin");
  await holder.query(`lock table ${tables.join(", ")} in share row exclusive mode`);
  return async () => {
    await world.postgres.crash();
    await holder.end();
  };
}

interface Lazy {
  /** What the next step writes to, which waits for the disk. */
  readonly next: string;
  /** A call to the forge before which nothing is kept waiting, since the move has to write to the same before. */
  readonly notBefore?: CallMatch;
  /** Whether what was committed is there, for the move with this key of this card. */
  readonly isThere: (move: { readonly key: string; readonly card: ApiCard }) => Promise<boolean>;
}

const isAny = async (sql: string, bindings: Record<string, string>): Promise<boolean> => {
  const { rows } = await world.db.raw<{ rows: unknown[] }>(sql, bindings);
  return rows.length > 0;
};

const LAZY: Readonly<Record<string, Lazy>> = {
  "the claim of a key, with the begin of its move": {
    next: "forge_intents",
    isThere: ({ key, card: { id } }) =>
      isAny(
        `select 1 from operations join idempotency_keys k on k.key = :key where card_id = :id and operations.state = 'running'`,
        { key, id },
      ),
  },
  "word of a cut branch": {
    next: "operations",
    notBefore: { method: "POST", path: "/repositories/*/git/refs" },
    isThere: ({ card: { id } }) =>
      isAny("select 1 from card_repositories where card_id = :id and branch_name is not null", { id }),
  },
};

/** A card that is about to be moved, and what was answered just before. */
async function aboutToMove(board: TestBoard) {
  const { api, stages } = board;
  const card = (await api.post<ApiCard>("/v1/cards", { title: "Say hello" })).body;
  const key = `unflushed-${randomUUID()}`;
  await allWorkedIn(world);
  world.forge.control.webhooks.add({ fault: { kind: "hold" } });
  expect((await api.post(`/v1/cards/${card.number}/comments`, { body: "Said" })).status).toBe(201);
  return { card, key, move: () => api.move(card.number, stages["In progress"], 0, { key }) };
}

/** Begins a move, and crashes PostgreSQL once what is left to later commits is committed. Gives whether that is lost. */
async function crashAfter(
  { next, notBefore, isThere }: Lazy,
  { card, key, move }: Awaited<ReturnType<typeof aboutToMove>>,
): Promise<boolean> {
  const call = notBefore && keepCalls(world, notBefore);
  const kept = call && move();
  await call?.met();
  // Nor does a sign of life come in between.
  const crash = await crashKeptFrom(next, "instances");
  call?.letGo();
  const answering = kept ?? move();
  await eventually(() => isThere({ key, card }), Boolean);
  await crash();
  const isLost = !(await isThere({ key, card }));
  expect((await answering).status).toBe(503);
  return isLost;
}

/** The trunk goes on: whoever does not know of a branch of theirs by then takes it for another's. */
async function trunkGoesOn(board: TestBoard, file: string): Promise<void> {
  const { webhooks } = world.forge.control;
  webhooks.clear();
  await webhooks.release("kept");
  await writeFile(board, "web", "main", file, "More");
  await allWorkedIn(world);
}

async function expectOnce(board: TestBoard, number: number): Promise<void> {
  const told = (await board.api.timeline(number)).map(({ type, kind }) => kind ?? type);
  for (const each of ["comment", "branch_created", "status_changed"])
    expect([each, told.filter((kind) => kind === each)]).toEqual([each, [each]]);
  const path = `/repos/${board.owner}/web/git/matching-refs/heads/card/${number}-`;
  expect((await board.person("ada", "GET", path)).body).toHaveLength(1);
}

it.each(Object.entries(LAZY))(
  "%s is lost: what was answered is there, and the move, asked for again, is made once",
  async (_, lazy) => {
    const { db } = world;
    const on = "name in ('fsync', 'synchronous_commit') and setting = 'on'";
    expect(await db("pg_settings").whereRaw(on).select("name")).toHaveLength(2);
    const board = await world.board();
    // The first move of an account writes more, which waits.
    const { number } = await board.api.card();
    expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
    let hasLost = false;
    for (let tries = 1; tries <= TRIES && !hasLost; tries++) {
      const moving = await aboutToMove(board);
      hasLost = await crashAfter(lazy, moving);
      await trunkGoesOn(board, `${tries}.txt`);
      const moved = await eventually(moving.move, ({ status }) => status === 200, 60_000);
      expect((await moving.move()).text).toBe(moved.text);
      await allWorkedIn(world);
      await expectOnce(board, moving.card.number);
      await expectConsistent(world, board);
    }
    expect(hasLost).toBe(true);
  },
  LONG,
);
