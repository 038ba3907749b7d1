/**
 * Two processes number the events of one board. `KILLS=50` kills more often than the test needs to,
 * and prints how long the other process took.
 */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";
import { recordChange } from "../../src/store/events/feed.ts";
import { startSurroundings, type Surroundings } from "../faults/support/surroundings.ts";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { shipService, type Shipped, type ShippedProcess } from "../support/processes/shipped-service.ts";
import type { ApiEvent, EventPage } from "../support/stories/event-stream.ts";
import { followByPolling, followByStream, seqOf, type Follower } from "../support/stories/feed-followers.ts";
import type { TestBoard } from "../support/world.ts";

const WRITERS = 50;
const ROUNDS = 6;
const KILLS = Number(process.env["KILLS"] ?? 5);
const LONG = 600_000;
const NAMES = ["one", "two"] as const;

let shipped: Shipped;
let surroundings: Surroundings;
let db: Db;
let processes: ShippedProcess[];

/** Starts a process whose database connections have its name. */
function start(at: number, port?: number): Promise<ShippedProcess> {
  const url = new URL(surroundings.databaseUrl);
  url.searchParams.set("application_name", NAMES[at] ?? "");
  const { github } = surroundings;
  return shipped.start({ databaseUrl: url.href, github, ...(port !== undefined && { port }) });
}

beforeAll(async () => {
  [shipped, surroundings] = await Promise.all([shipService(), startSurroundings()]);
  processes = await Promise.all(NAMES.map((_, at) => start(at)));
  db = connect({ connectionString: surroundings.databaseUrl, max: 15, onError: () => undefined });
}, LONG);
afterAll(async () => {
  for (const service of processes) await service.kill();
  await db.destroy();
  await surroundings.stop();
  await shipped.remove();
}, LONG);

const urls = (): string[] => processes.map(({ baseUrl }) => baseUrl);

/** A transaction of random length. Returns its mark if it commits. */
async function writeDirectly({ workspaceId }: TestBoard): Promise<string | null> {
  const mark = randomUUID();
  const trx = await beginTransaction(db);
  await recordChange(trx, { workspaceId, userId: null }, { kind: "flow_changed", data: { mark } });
  await sleep(randomInt(150));
  if (randomInt(3) === 0) {
    await trx.rollback();
    return null;
  }
  await trx.commit();
  return mark;
}

/** Creates a label at a process. A name that is taken rolls back. Returns the name if it is new. */
async function writeThrough(api: Api): Promise<string | null> {
  const name = `label ${randomInt(150)}`;
  const { status } = await api.post("/v1/labels", { name });
  expect([201, 409]).toContain(status);
  return status === 201 ? name : null;
}

/** All writers write; the result is what committed. */
async function writeAll(board: TestBoard): Promise<string[]> {
  const writer = async (at: number): Promise<(string | null)[]> => {
    const api = makeApi(urls()[at % 2] ?? "", board.api.apiKey);
    const marks: (string | null)[] = [];
    for (let round = 0; round < ROUNDS; round++)
      marks.push(await (randomInt(2) === 0 ? writeDirectly(board) : writeThrough(api)));
    return marks;
  };
  const marks = await Promise.all(Array.from({ length: WRITERS }, (_, at) => writer(at)));
  return marks.flat().filter((mark) => mark !== null);
}

/** The feed when everything committed is numbered, as one response has it. */
async function feedOf({ api, workspaceId }: TestBoard): Promise<ApiEvent[]> {
  await eventually(
    () => db("events").where({ workspace_id: workspaceId, seq: null }).select("id"),
    ({ length }) => length === 0,
  );
  const events: ApiEvent[] = [];
  for (;;) {
    const { body } = await api.get<EventPage>(`/v1/events?after=${events.length}&limit=1000`);
    if (body.events.length === 0) return events;
    events.push(...body.events);
  }
}

/** The mark of a direct write, or the name of a new label. */
const markOf = ({ data }: ApiEvent): string => {
  const { mark, to } = data as { readonly mark?: string; readonly to?: { readonly name: string } | null };
  return mark ?? to?.name ?? "";
};

const byText = (one: string, other: string): number => one.localeCompare(other);

const followAll = (apiKey: string): Follower[] => {
  const [one = "", two = ""] = urls();
  const places = [[one], [two], [one, two]].map((baseUrls) => ({ baseUrls, apiKey }));
  return places.flatMap((place) => [followByPolling(place), followByStream(place)]);
};

/** Every follower has the whole feed, once and in order, with the same bytes. */
async function expectFollowed(followers: readonly Follower[], feed: readonly ApiEvent[]): Promise<void> {
  const texts = feed.map((event) => JSON.stringify(event));
  expect(texts.map(seqOf)).toEqual(feed.map((_, at) => at + 1));
  for (const follower of followers) {
    await follower.until(feed.length);
    await follower.stop();
    expect(follower.lost).toEqual([]);
    expect(follower.texts).toEqual(texts);
  }
}

it(
  `numbers what ${WRITERS} writers commit at two processes without gap, and every reader gets it once`,
  async () => {
    const board = await surroundings.board(urls()[0] ?? "");
    const followers = followAll(board.api.apiKey);
    const committed = await writeAll(board);
    const feed = await feedOf(board);
    const marked = feed.filter(({ kind }) => kind === "flow_changed" || kind === "label_changed");
    expect(marked.map(markOf).toSorted(byText)).toEqual(committed.toSorted(byText));
    await expectFollowed(followers, feed);
    for (let after = 0; after <= feed.length; after++) {
      const api = makeApi(urls()[after % 2] ?? "", board.api.apiKey);
      const limit = randomInt(1, 30);
      const { body } = await api.get<EventPage>(`/v1/events?after=${after}&limit=${limit}`);
      expect(body.events).toEqual(feed.slice(after, after + limit));
      expect(body.next).toBe(String(Math.min(after + limit, feed.length)));
    }
  },
  LONG,
);

/**
 * Kills the process that is numbering, in the middle of it. Returns its index, and the milliseconds
 * until the other has numbered its events.
 */
async function killNumbering(board: TestBoard): Promise<{ readonly dead: number; readonly tookMs: number }> {
  const where = { workspace_id: board.workspaceId };
  const holding = await beginTransaction(db);
  const { rows: pids } = await holding.raw<{ rows: { pid: number }[] }>("select pg_backend_pid() as pid");
  await holding.raw("select 1 from feeds where workspace_id = ? for update", [board.workspaceId]);
  await db("events").insert({ ...where, kind: "flow_changed", data: { mark: randomUUID() } });
  const blocked = await eventually(
    async () => {
      const query =
        "select application_name as name from pg_stat_activity where ? = any(pg_blocking_pids(pid))";
      return (await db.raw<{ rows: { name: string }[] }>(query, [pids[0]?.pid ?? 0])).rows;
    },
    ({ length }) => length > 0,
  );
  const dead = NAMES.findIndex((name) => name === blocked[0]?.name);
  await processes[dead]?.kill();
  await holding.rollback();
  const startedAt = Date.now();
  await eventually(
    () =>
      db("events")
        .where({ ...where, seq: null })
        .select("id"),
    ({ length }) => length === 0,
  );
  return { dead, tookMs: Date.now() - startedAt };
}

it(
  `loses and repeats no number when the numbering process is killed ${KILLS} times`,
  async () => {
    const board = await surroundings.board(urls()[0] ?? "");
    const followers = followAll(board.api.apiKey);
    const took: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      const writing = Promise.all(Array.from({ length: 10 }, () => writeDirectly(board)));
      const { dead, tookMs } = await killNumbering(board);
      took.push(tookMs);
      await writing;
      processes[dead] = await start(dead, Number(new URL(urls()[dead] ?? "").port));
    }
    await expectFollowed(followers, await feedOf(board));
    if (process.env["KILLS"])
      process.stdout.write(`numbered again after ${took.toSorted((a, b) => a - b).join(", ")} ms\n`);
  },
  LONG,
);
