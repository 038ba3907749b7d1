import type { Side, Workload } from "./compare.ts";
import type { Call } from "./load.ts";
import { atLeast, atMost, type Goal } from "./report.ts";
import type { BenchBoard } from "./seed.ts";

/** The addresses of the two sides; `hello` is bare Express. */
export interface Addresses {
  readonly service: string;
  readonly floors: string;
  readonly hello: string;
}

export const WEBHOOKS = "/api/github/webhooks";

/** Loads read and write so many cards of a board in turn. */
const CARDS = 400;

/** The most that a write's p99 may be of its p50. */
const SPREAD = 4;

/**
 * Calls per second of two peers and of the floor in one earlier run, at 1 and at 16 connections. In a run whose floor differs,
 * the peers are taken to differ by the same factor, so a goal of 5 × Planka is the constant ratio 5 × Planka ÷ floor.
 */
const PEERS: Readonly<Record<string, readonly { floor: number; directus: number; planka: number }[]>> = {
  create: [
    { floor: 1_473, directus: 91, planka: 48 },
    { floor: 1_986, directus: 169, planka: 81 },
  ],
  move: [
    { floor: 1_537, directus: 115, planka: 48 },
    { floor: 3_813, directus: 157, planka: 74 },
  ],
  comment: [
    { floor: 1_760, directus: 156, planka: 69 },
    { floor: 4_765, directus: 210, planka: 102 },
  ],
};

/** The goal of a write: `ratio` of its floor, or more where 5 × Planka or 3 × Directus are more. */
function writeGoal(name: string, at: 0 | 1, ratio: number): Goal {
  const peer = PEERS[name]?.[at];
  return atLeast(
    peer ? Math.max(ratio, (5 * peer.planka) / peer.floor, (3 * peer.directus) / peer.floor) : ratio,
  );
}

export const auth = ({ apiKey }: BenchBoard): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
});

export const numbersOf = ({ cards }: BenchBoard): number[] =>
  Array.from({ length: Math.min(cards, CARDS) }, (_, at) => at + 1);

/** Two workloads that differ in the number of connections. */
const atBoth = (name: string, goal: Goal, service: Side, floor: Side): Workload[] => [
  { name, load: "1 connection", connections: 1, service, floor, goal },
  { name, load: "16 connections", connections: 16, service, floor, goal },
];

const read = (url: string, path: string, headers: Record<string, string> = {}): Side => ({
  url,
  calls: [{ method: "GET", path, headers }],
});

/** A write without Git at the service. The floor has it under its name. */
interface Write {
  readonly method: "POST" | "PATCH";
  readonly path: (number: number) => string;
  readonly bodies: (board: BenchBoard) => readonly object[];
}

export const WRITES: Readonly<Record<"create" | "update" | "move" | "comment", Write>> = {
  create: {
    method: "POST",
    path: () => "/v1/cards",
    bodies: () => [{ title: "A card that the bench has made" }],
  },
  update: {
    method: "PATCH",
    path: (number) => `/v1/cards/${number}`,
    bodies: () => [{ title: "The title of update {n}" }],
  },
  move: {
    method: "POST",
    path: (number) => `/v1/cards/${number}/move`,
    bodies: ({ stages }) => [stages[1], stages[0]].map((stage) => ({ statusId: stage?.id, index: 0 })),
  },
  comment: {
    method: "POST",
    path: (number) => `/v1/cards/${number}/comments`,
    bodies: () => [{ body: "A few words of a comment" }],
  },
};
const WRITE_NAMES = Object.keys(WRITES) as (keyof typeof WRITES)[];

/** A write to boards that take turns. All cards get one body before they get the next. */
function writesTo(
  { method, bodies }: Write,
  boards: readonly BenchBoard[],
  pathOf: (number: number, board: BenchBoard) => string,
): Call[] {
  const calls = boards.map((board) =>
    bodies(board).flatMap((body) =>
      numbersOf(board).map((number): Call => {
        return { method, path: pathOf(number, board), headers: auth(board), body: JSON.stringify(body) };
      }),
    ),
  );
  return (calls[0] ?? []).flatMap((_, turn) => calls.flatMap((ofBoard) => ofBoard[turn] ?? []));
}

/** A write at the service and at its floor. */
const sidesOf = (
  name: keyof typeof WRITES,
  { service, floors }: Addresses,
  boards: readonly BenchBoard[],
): { readonly service: Side; readonly floor: Side } => ({
  service: { url: service, calls: writesTo(WRITES[name], boards, WRITES[name].path), fresh: "key" },
  floor: {
    url: floors,
    calls: writesTo(WRITES[name], boards, (number, { projectId }) => `/${name}/${projectId}/${number}`),
  },
});

/** Reads of a whole board. `etag` is that of the board as it is. */
export function boardWorkloads(addresses: Addresses, board: BenchBoard, etag: string): Workload[] {
  const size = `${board.cards} cards`;
  const service = read(addresses.service, "/v1/board", auth(board));
  const floor = read(addresses.floors, `/board/${board.projectId}`);
  const update = sidesOf("update", addresses, [board]);
  return [
    ...atBoth(`board unchanged, ${size} ÷ F-board`, atLeast(8), service, floor),
    ...atBoth(
      `board not modified, ${size} ÷ F-hello`,
      atLeast(0.4),
      read(addresses.service, "/v1/board", { ...auth(board), "if-none-match": etag }),
      read(addresses.hello, "/hello"),
    ),
    ...atBoth(
      `board after every write, ${size} ÷ F-board`,
      atLeast(0.8),
      { ...service, writesBefore: update.service.calls, fresh: "key" },
      { ...floor, writesBefore: update.floor.calls },
    ),
  ];
}

/** Reads of cards. */
export function cardWorkloads({ service, floors }: Addresses, board: BenchBoard): Workload[] {
  const calls = (pathOf: (number: number) => string): Call[] =>
    numbersOf(board).map((number) => ({ method: "GET", path: pathOf(number), headers: auth(board) }));
  return atBoth(
    "card ÷ F-card",
    atLeast(0.45),
    { url: service, calls: calls((number) => `/v1/cards/${number}`) },
    { url: floors, calls: calls((number) => `/card/${board.projectId}/${number}`) },
  );
}

/** Writes without Git to `board`, and from 16 connections to `boards`, one each. */
export function writeWorkloads(
  addresses: Addresses,
  board: BenchBoard,
  boards: readonly BenchBoard[],
): Workload[] {
  return WRITE_NAMES.flatMap((write) => {
    const shared = { name: `${write} ÷ F-${write}`, spread: SPREAD };
    const one = { ...shared, ...sidesOf(write, addresses, [board]) };
    const many = { ...shared, ...sidesOf(write, addresses, boards) };
    return [
      { ...one, load: "1 connection", connections: 1, goal: writeGoal(write, 0, 0.3) },
      { ...one, load: "16 connections", connections: 16, goal: writeGoal(write, 1, 0.25) },
      { ...many, load: "16 boards", connections: 16, goal: atLeast(0.3) },
    ] as const;
  });
}

/** A comment that is sent again with its key. It must have been sent once before. */
export function replayWorkloads({ service }: Addresses, board: BenchBoard, replay: Call): Workload[] {
  const { headers: _, ...first } = replay;
  return atBoth(
    "replay ÷ first call",
    atLeast(1),
    { url: service, calls: [replay] },
    { url: service, calls: [{ ...first, headers: auth(board) }], fresh: "key" },
  );
}

/** A push to a repository that no board has: verified, stored and queued. */
export function webhookWorkloads({ service, floors }: Addresses): Workload[] {
  const push = {
    ref: "refs/heads/main",
    before: "a".repeat(40),
    after: "b".repeat(40),
    repository: { id: 1, full_name: "acme/unknown", default_branch: "main" },
    commits: [1, 2, 3, 4, 5].map((at) => ({
      id: String(at).repeat(40),
      message: `Commit ${at}`,
      distinct: true,
    })),
  };
  const side = (url: string, path: string): Side => ({
    url,
    calls: [{ method: "POST", path, headers: { "x-github-event": "push" }, body: JSON.stringify(push) }],
    fresh: "delivery",
  });
  return atBoth("webhook ÷ F-hook", atLeast(0.5), side(service, WEBHOOKS), side(floors, "/hook"));
}

/** The inbox and the trunk report of a board with a year behind it, beside their one statement. */
export function historyWorkloads({ service, floors }: Addresses, board: BenchBoard): Workload[] {
  return ["inbox", "trunk"].flatMap((name) =>
    atBoth(
      `time of ${name}, ${board.cards} cards ÷ its SQL`,
      atMost(3),
      read(service, `/v1/${name}`, auth(board)),
      read(floors, `/${name}/${board.projectId}`),
    ),
  );
}
