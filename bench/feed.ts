import { randomUUID } from "node:crypto";
import { Agent, get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { rows } from "../src/store/db/connect.ts";
import { beginTransaction } from "../src/store/db/transaction.ts";
import { reportRatio, measureInTurns, type Pace } from "./compare.ts";
import { atLeast, atMost, report, type Measurement } from "./report.ts";
import { issueBoardCredential, type BenchBoard } from "./seed.ts";
import { auth } from "./workloads.ts";
import { cpuSecondsOf, memoryOf, type BenchWorld } from "./world.ts";

const READERS = 100;
const WRITES = 100;
const WRITE_PAUSE_MS = 100;
/** How long the last event may take, in milliseconds. */
const LATE_MS = 2_000;
const STREAMS = 1_000;
/** Below the limit of one credential's concurrent calls. */
const STREAMS_PER_CREDENTIAL = 200;
const OPENED_AT_ONCE = 50;
/** Two keep-alives of each stream. */
const KEEP_ALIVES_MS = 30_000;

type Arrival = (text: string, at: number) => void;

/** Opens a stream and resolves with its response. */
const openStream = (url: string, apiKey: string, agent: Agent): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    get(`${url}/v1/events/stream`, { agent, headers }, (response) => {
      if (response.statusCode === 200) resolve(response.resume());
      else reject(new Error(`A stream got the response ${response.statusCode}.`));
    }).once("error", reject);
  });

/** Reads the feed with long polls until `stop`. */
async function poll(url: string, board: BenchBoard, arrive: Arrival, stop: AbortSignal): Promise<void> {
  let after = "";
  while (!stop.aborted) {
    const path = after === "" ? "/v1/events" : `/v1/events?after=${after}&wait=5`;
    const response = await fetch(`${url}${path}`, { headers: auth(board) });
    const text = await response.text();
    arrive(text, performance.now());
    after = (JSON.parse(text) as { next: string }).next;
  }
}

/** The milliseconds from the response to each write until each reader has its event, sorted. */
async function delaysOf({ service }: BenchWorld, board: BenchBoard, writes: number): Promise<number[]> {
  const stop = new AbortController();
  const agent = new Agent({ maxSockets: Infinity });
  const arrivals = new Map<string, number[]>();
  const arrive: Arrival = (text, at) => {
    for (const [title] of text.matchAll(/bench-[0-9a-f-]{36}/g)) arrivals.get(title)?.push(at);
  };
  const polling = Promise.all(
    Array.from({ length: READERS / 2 }, () => poll(service, board, arrive, stop.signal)),
  );
  for (let nth = 0; nth < READERS / 2; nth++) {
    const stream = await openStream(service, board.apiKey, agent);
    stream.on("data", (data: Buffer) => arrive(data.toString(), performance.now()));
  }
  const delays: number[] = [];
  const written = new Map<string, number>();
  for (let nth = 0; nth < writes; nth++) {
    const title = `bench-${randomUUID()}`;
    arrivals.set(title, []);
    const headers = { ...auth(board), "content-type": "application/json", "idempotency-key": title };
    const body = JSON.stringify({ title });
    const response = await fetch(`${service}/v1/cards/1`, { method: "PATCH", headers, body });
    written.set(title, performance.now());
    if (!response.ok) throw new Error(await response.text());
    await sleep(WRITE_PAUSE_MS);
  }
  await sleep(LATE_MS);
  for (const [title, at] of written) {
    const seen = arrivals.get(title) ?? [];
    if (seen.length !== READERS) throw new Error(`${seen.length} of ${READERS} readers got an event.`);
    delays.push(...seen.map((arrived) => Math.max(0, arrived - at)));
  }
  stop.abort();
  agent.destroy();
  await polling;
  return delays.toSorted((a, b) => a - b);
}

const p95 = (sorted: readonly number[]): number => sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;

/** The delay of events, alone and beside a transaction that has written and stays open. */
async function measureDelay(world: BenchWorld, { isShort }: Pace, board: BenchBoard): Promise<Measurement[]> {
  const writes = isShort ? 10 : WRITES;
  const name = `write answered to event at ${READERS} readers, p95 ms`;
  const alone = p95(await delaysOf(world, board, writes));
  const open = await beginTransaction(world.seeding);
  await rows(open, "insert into events (workspace_id, kind) values (:workspaceId, 'flow_changed')", {
    workspaceId: board.workspaceId,
  });
  const beside = p95(await delaysOf(world, board, writes));
  await open.rollback();
  return [
    report({ name, value: alone, goal: atMost(100) }),
    report({ name: `the same beside an open transaction`, value: beside, goal: atMost(100) }),
  ];
}

/** Updates of cards with the feed, and without: a trigger then drops its rows. */
async function measureWrites(world: BenchWorld, pace: Pace, board: BenchBoard): Promise<Measurement> {
  const { seeding, loader, service } = world;
  await seeding.raw(`create or replace function drop_event() returns trigger language plpgsql as
    'begin return null; end'`);
  const calls = Array.from({ length: 50 }, (_, at) => ({
    method: "PATCH" as const,
    path: `/v1/cards/${at + 1}`,
    headers: auth(board),
    body: '{"title":"Written {n}"}',
  }));
  const rate = async (): Promise<number> =>
    (await loader.run({ url: service, calls, fresh: "key", connections: 16, seconds: pace.seconds })).rate;
  const off = async (): Promise<number> => {
    await seeding.raw(
      "create trigger dropped before insert on events for each row execute function drop_event()",
    );
    const measured = await rate();
    await seeding.raw("drop trigger dropped on events");
    return measured;
  };
  const rates = await measureInTurns(pace, rate, off);
  return reportRatio({ name: "update with the feed ÷ without", goal: atLeast(0.9) }, rates);
}

/** What open streams without events use of the process. */
async function measureStreams(
  world: BenchWorld,
  { isShort }: Pace,
  board: BenchBoard,
): Promise<Measurement[]> {
  const { pid, service, db } = world;
  const ms = isShort ? 2_000 : KEEP_ALIVES_MS;
  const cpuPercent = async (): Promise<number> => {
    const before = await cpuSecondsOf(pid);
    await sleep(ms);
    return (((await cpuSecondsOf(pid)) - before) * 100_000) / ms;
  };
  const [idleMemory, idleCpu] = [await memoryOf(pid, "VmRSS"), await cpuPercent()];
  const agent = new Agent({ maxSockets: Infinity });
  const count = isShort ? STREAMS_PER_CREDENTIAL : STREAMS;
  for (let opened = 0; opened < count; opened += STREAMS_PER_CREDENTIAL) {
    const { apiKey } = await issueBoardCredential(db, board.workspaceId);
    for (let nth = 0; nth < STREAMS_PER_CREDENTIAL; nth += OPENED_AT_ONCE)
      await Promise.all(Array.from({ length: OPENED_AT_ONCE }, () => openStream(service, apiKey, agent)));
  }
  const cpu = (await cpuPercent()) - idleCpu;
  const memory = (await memoryOf(pid, "VmRSS")) - idleMemory;
  agent.destroy();
  return [
    report({ name: `memory of ${count} open streams, MB`, value: memory, goal: atMost(100) }),
    report({ name: `keep-alives of ${count} open streams, % of a core`, value: cpu, goal: atMost(5) }),
  ];
}

/** Readers of the event feed, and what it costs writers. */
export async function measureFeed(world: BenchWorld, pace: Pace, board: BenchBoard): Promise<Measurement[]> {
  return [
    ...(await measureStreams(world, pace, board)),
    ...(await measureDelay(world, pace, board)),
    await measureWrites(world, pace, board),
  ];
}
