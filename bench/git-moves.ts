import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { v7 as uuidv7 } from "uuid";
import { issueCredential } from "../src/actions/issue-credential.ts";
import { rows } from "../src/store/connect.ts";
import type { Pace } from "./compare.ts";
import { limitRow, median, told, type Row } from "./report.ts";
import type { BenchBoard } from "./seed.ts";
import { startFloors } from "./setting.ts";
import type { BenchWorld } from "./world.ts";

const FORGE_MS = 100;
/** The service's own share of a move. */
const OWN_MS = 10;
/** GitHub asks for a second between two writes, and the service keeps to it. */
const BETWEEN_MS = 1_100;
/** Moves before those that are measured, as every load is preceded by one that warms up. */
const WARM_UP = 40;
const MEASURED = 25;
/** More than a process has connections to PostgreSQL. */
const MOVERS = 16;

interface GitBoard {
  readonly headers: Record<string, string>;
  readonly repositoryId: string;
  readonly doing: string;
}

/** The board that the service has made of the forge's own organization. */
async function gitBoard({ db }: BenchWorld): Promise<GitBoard> {
  const [found] = await rows<{ workspaceId: string; repositoryId: string; doing: string }>(
    db,
    `select p.workspace_id as "workspaceId", r.id as "repositoryId", s.id as doing
       from repositories r join projects p on p.id = r.project_id
       join stages s on s.project_id = p.id and s.rule_type = 'draft_pull_request'
      where r.full_name = 'acme/web'`,
  );
  if (!found) throw new Error("the service knows nothing of acme/web");
  const { workspaceId, ...rest } = found;
  const { apiKey } = await issueCredential(
    { db, newId: uuidv7 },
    {
      name: "bench git",
      boards: [{ workspaceId, role: "maintainer" }],
      scopes: ["read", "write"],
      expiresAt: null,
    },
  );
  return { ...rest, headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" } };
}

/** A move that cuts a branch, of a card made for it. */
async function makeMove({ service }: BenchWorld, board: GitBoard): Promise<() => Promise<number>> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${service}${path}`, {
      method: "POST",
      headers: { ...board.headers, "idempotency-key": `bench-${randomUUID()}` },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as { readonly number: number } };
  };
  const made = await post("/v1/cards", { title: "Moved with Git", repositoryIds: [board.repositoryId] });
  const { number } = made.body;
  return async () => (await post(`/v1/cards/${number}/move`, { statusId: board.doing, index: 0 })).status;
}

interface Call {
  readonly from: number;
  readonly to: number;
}

/** The calls that a forge in this process has, each from its arrival to the end of its answer. Gives how to have those since the last time, and how to stop. */
function watchCalls() {
  const arrived = new WeakMap<object, number>();
  let calls: Call[] = [];
  const onStart = (message: unknown): void => {
    arrived.set((message as { request: object }).request, performance.now());
  };
  const onFinish = (message: unknown): void => {
    const from = arrived.get((message as { request: object }).request);
    if (from !== undefined) calls.push({ from, to: performance.now() });
  };
  subscribe("http.server.request.start", onStart);
  subscribe("http.server.response.finish", onFinish);
  return {
    take: (): readonly Call[] => {
      const taken = calls;
      calls = [];
      return taken;
    },
    stop: (): void => {
      unsubscribe("http.server.request.start", onStart);
      unsubscribe("http.server.response.finish", onFinish);
    },
  };
}

/** How long the forge was at work on calls, some of which may have come at once. */
function busyMs(calls: readonly Call[]): number {
  let [busy, until] = [0, 0];
  for (const { from, to } of calls.toSorted((a, b) => a.from - b.from)) {
    busy += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return busy;
}

/**
 * What a move takes beside its calls to the forge: beside the time the forge has them, and beside what they take on the way there and back, as it is measured of bare calls in the same
 * rhythm.
 */
async function ownShare(
  world: BenchWorld,
  board: GitBoard,
  read: BenchBoard,
  [warmUp, measured]: readonly [number, number],
): Promise<number> {
  const floors = await startFloors(world.connectionString, read, world.env);
  const calls = watchCalls();
  const [onTheWay, beside]: [number[], { ms: number; calls: number }[]] = [[], []];
  for (let nth = 0; nth < warmUp + measured; nth++) {
    const move = await makeMove(world, board);
    await sleep(BETWEEN_MS / 2);
    calls.take();
    const probe = await fetch(`${floors.floors}/forge/${encodeURIComponent(world.forge.apiUrl)}`);
    const { ms } = (await probe.json()) as { readonly ms: number };
    const bare = ms - busyMs(calls.take());
    await sleep(BETWEEN_MS / 2);
    calls.take();
    const from = performance.now();
    const status = await move();
    const took = performance.now() - from;
    if (status !== 200) throw new Error(`a move with Git was answered ${status}`);
    const made = calls.take();
    if (nth < warmUp) continue;
    onTheWay.push(bare);
    beside.push({ ms: took - busyMs(made), calls: made.length });
  }
  calls.stop();
  await floors.stop();
  const way = median(onTheWay);
  return median(beside.map(({ ms, calls }) => ms - calls * way));
}

/** Moves that cut a branch at a forge that takes its time: what they take beside it, and what reading boards suffers from many of them. */
export async function measureGitMoves(
  world: BenchWorld,
  { isShort, rounds, seconds }: Pace,
  read: BenchBoard,
): Promise<Row[]> {
  const { control } = world.forge;
  const board = await gitBoard(world);
  const delay = control.faults.add({ fault: { kind: "delay", ms: FORGE_MS } });
  const made = [
    limitRow(
      `a move with Git beside a forge of ${FORGE_MS} ms: its own share, ms`,
      await ownShare(world, board, read, isShort ? [1, 2] : [WARM_UP, MEASURED]),
      OWN_MS,
    ),
  ];
  const reading = {
    url: world.service,
    method: "GET",
    paths: ["/v1/board"],
    headers: { authorization: `Bearer ${read.apiKey}` },
  } as const;
  for (const connections of isShort ? [4] : [1, 16]) {
    const pairs: [number, number][] = [];
    for (let round = 0; round < rounds; round++) {
      const { rate: alone } = await world.loader.measure({ ...reading, connections, seconds });
      const stop = await keepMoving(world, board);
      const { rate: meanwhile } = await world.loader.measure({ ...reading, connections, seconds });
      await stop();
      pairs.push([meanwhile, alone]);
    }
    made.push(
      told({
        name: `board while ${MOVERS} cards are moved with Git ÷ alone`,
        connections,
        service: median(pairs.map(([of]) => of)),
        floor: median(pairs.map(([, of]) => of)),
        ratio: median(pairs.map(([of, other]) => of / other)),
        goal: 0.8,
      }),
    );
  }
  control.faults.remove(delay);
  return made;
}

/** Has so many moves wait for the forge, or for their turn there, until what it gives is called. */
async function keepMoving(world: BenchWorld, board: GitBoard): Promise<() => Promise<void>> {
  const moves = await Promise.all(Array.from({ length: MOVERS }, () => makeMove(world, board)));
  const moving = moves.map((move) => move());
  return async () => {
    const answers = await Promise.all(moving);
    // 503 is a turn that would come too late.
    const wrong = answers.find((status) => status !== 200 && status !== 503);
    if (wrong !== undefined) throw new Error(`a move with Git was answered ${wrong}`);
  };
}
