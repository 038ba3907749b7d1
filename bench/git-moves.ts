import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { firstRow } from "../src/store/db/connect.ts";
import { measureInTurns, reportRatio, type Pace } from "./compare.ts";
import { atLeast, atMost, median, report, type Measurement } from "./report.ts";
import { issueBoardCredential, type BenchBoard } from "./seed.ts";
import { auth } from "./workloads.ts";
import type { BenchWorld } from "./world.ts";

const FORGE_MS = 100;
/** The most that a move takes beyond its calls to the forge. */
const OWN_MS = 15;
/** GitHub asks for one second between writes, and the service waits that long. */
const BETWEEN_MS = 1_100;
const WARM_UP = 40;
const MEASURED = 25;
/** More than a process has connections to PostgreSQL. */
const MOVERS = 16;

type Move = () => Promise<Response>;

/** Returns a function that creates a card and returns the move that creates the card's branch. */
async function prepareMoves({ db, service }: BenchWorld): Promise<() => Promise<Move>> {
  const board = await firstRow<{ workspaceId: string; repositoryId: string; statusId: string }>(
    db,
    `select p.workspace_id as "workspaceId", r.id as "repositoryId", s.id as "statusId"
       from repositories r join projects p on p.id = r.project_id
       join stages s on s.project_id = p.id and s.rule_type = 'draft_pull_request'
      where r.full_name = 'acme/web'`,
  );
  if (!board) throw new Error("The service has no repository acme/web.");
  const { workspaceId, repositoryId, statusId } = board;
  const headers = auth(await issueBoardCredential(db, workspaceId));
  const post = (path: string, body: object, key = randomUUID()): Promise<Response> =>
    fetch(`${service}${path}`, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        "idempotency-key": `bench-${key}`,
      },
      body: JSON.stringify(body),
    });
  return async () => {
    const card = await post("/v1/cards", { title: "Moved with Git", repositoryIds: [repositoryId] });
    const { number } = (await card.json()) as { number: number };
    const key = randomUUID();
    return () => post(`/v1/cards/${number}/move`, { statusId, index: 0 }, key);
  };
}

/** The times at which the forge received a call and finished its response. */
interface ForgeCall {
  readonly from: number;
  readonly to: number;
}

/** Runs `work` and returns the calls that the forge, which runs in this process, received. */
async function forgeCallsOf(work: () => Promise<unknown>): Promise<ForgeCall[]> {
  const arrivals = new WeakMap<object, number>();
  const calls: ForgeCall[] = [];
  const onStart = (message: unknown): void => {
    arrivals.set((message as { request: object }).request, performance.now());
  };
  const onFinish = (message: unknown): void => {
    const from = arrivals.get((message as { request: object }).request);
    if (from !== undefined) calls.push({ from, to: performance.now() });
  };
  subscribe("http.server.request.start", onStart);
  subscribe("http.server.response.finish", onFinish);
  try {
    await work();
  } finally {
    unsubscribe("http.server.request.start", onStart);
    unsubscribe("http.server.response.finish", onFinish);
  }
  return calls;
}

/** The time in which the forge worked on calls. They may overlap. */
function busyMs(calls: readonly ForgeCall[]): number {
  let [busy, until] = [0, 0];
  for (const { from, to } of calls.toSorted((a, b) => a.from - b.from)) {
    busy += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return busy;
}

/** The time of `work` without the time of its forge calls, and the number of those calls. */
async function beyondForge(work: () => Promise<unknown>): Promise<{ ms: number; calls: number }> {
  const from = performance.now();
  let took = 0;
  const calls = await forgeCallsOf(async () => {
    await work();
    took = performance.now() - from;
  });
  return { ms: took - busyMs(calls), calls: calls.length };
}

/**
 * Moves cards one after another. Measures the time of a move without its forge calls, less the
 * overhead of a bare forge call for each, and counts the forge calls of replays.
 */
async function measureMoves(
  makeMove: () => Promise<Move>,
  forgeUrl: string,
  { isShort }: Pace,
): Promise<Measurement[]> {
  const own: number[] = [];
  let replayed = 0;
  const [warmUp, measured] = isShort ? [1, 2] : [WARM_UP, MEASURED];
  for (let nth = 0; nth < warmUp + measured; nth++) {
    const move = await makeMove();
    await sleep(BETWEEN_MS / 2);
    const bare = await beyondForge(async () => (await fetch(forgeUrl)).arrayBuffer());
    await sleep(BETWEEN_MS / 2);
    const moved = await beyondForge(() => succeed(move, [200]));
    replayed += (await forgeCallsOf(() => succeed(move, [200]))).length;
    if (nth >= warmUp) own.push(moved.ms - moved.calls * bare.ms);
  }
  return [
    report({
      name: `move with Git beyond its calls to a ${FORGE_MS} ms forge, ms`,
      value: median(own),
      goal: atMost(OWN_MS),
    }),
    report({ name: "forge calls of replayed moves with Git", value: replayed, goal: atMost(0) }),
  ];
}

async function succeed(move: Move, statuses: readonly number[]): Promise<void> {
  const response = await move();
  await response.arrayBuffer();
  if (!statuses.includes(response.status))
    throw new Error(`A move with Git got the response ${response.status}.`);
}

/** Measures moves with Git on a slow forge, and reads of a board while many moves wait. */
export async function measureGitMoves(
  world: BenchWorld,
  pace: Pace,
  board: BenchBoard,
): Promise<Measurement[]> {
  const { control } = world.forge;
  const makeMove = await prepareMoves(world);
  const delay = control.faults.add({ fault: { kind: "delay", ms: FORGE_MS } });
  const measurements = await measureMoves(makeMove, world.forge.apiUrl, pace);
  for (const connections of [1, 16]) {
    const readAlone = async (): Promise<number> => {
      const call = { method: "GET", path: "/v1/board", headers: auth(board) } as const;
      const load = { url: world.service, calls: [call], connections, seconds: pace.seconds };
      return (await world.loader.run(load)).rate;
    };
    const readDuringMoves = async (): Promise<number> => {
      const moves = await Promise.all(Array.from({ length: MOVERS }, makeMove));
      // The service returns 503 if the wait for the forge would be too long.
      const moving = Promise.all(moves.map((move) => succeed(move, [200, 503])));
      const rate = await readAlone();
      await moving;
      return rate;
    };
    measurements.push(
      reportRatio(
        {
          name: `board while ${MOVERS} moves with Git wait ÷ board alone`,
          load: connections === 1 ? "1 connection" : "16 connections",
          goal: atLeast(0.8),
        },
        await measureInTurns(pace, readDuringMoves, readAlone),
      ),
    );
  }
  control.faults.remove(delay);
  return measurements;
}
