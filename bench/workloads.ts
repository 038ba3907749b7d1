import type { Side, Workload } from "./compare.ts";
import type { Call } from "./load.ts";
import { atLeast, atMost, type Goal } from "./report.ts";
import type { BenchBoard } from "./seed.ts";
import type { Addresses } from "./world.ts";

export const WEBHOOKS = "/api/github/webhooks";

/** The number of cards of a board that loads use in turn. */
const CARDS = 400;

/** The limit for p99 ÷ p50 of a write. */
const SPREAD = 4;

/** The limits for the service's CPU per call, in milliseconds. */
const CARD_CPU_MS = 0.5;
const WRITE_CPU_MS = 2;

/**
 * Calls per second of two other products and of the floor in one earlier run, at 1 and at 16
 * connections. A goal of 5 × Planka is the ratio 5 × Planka ÷ floor of that run, because another
 * machine is assumed to change both by the same factor.
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

/** The goal of a write: `ratio` of its floor, or 5 × Planka or 3 × Directus if that is more. */
function writeGoal(name: string, at: 0 | 1, ratio: number): Goal {
  const peer = PEERS[name]?.[at];
  return atLeast(
    peer ? Math.max(ratio, (5 * peer.planka) / peer.floor, (3 * peer.directus) / peer.floor) : ratio,
  );
}

export const auth = ({ apiKey }: Pick<BenchBoard, "apiKey">): Record<string, string> => ({
  authorization: `Bearer ${apiKey}`,
});

export const cardNumbersOf = ({ cards }: BenchBoard): number[] =>
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

/** A write without Git. The floor has a statement of the same name. */
interface Write {
  readonly method: "POST" | "PATCH";
  readonly path: (number: number) => string;
  readonly bodies: (board: BenchBoard) => readonly object[];
}

export const WRITES: Readonly<Record<"create" | "update" | "move" | "comment", Write>> = {
  create: {
    method: "POST",
    path: () => "/v1/cards",
    bodies: () => [{ title: "A card of the bench" }],
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
    bodies: () => [{ body: "A comment of the bench" }],
  },
};
const WRITE_NAMES = Object.keys(WRITES) as (keyof typeof WRITES)[];

/** Writes to boards in turn. All cards get one body before the next body. */
function writesTo(
  { method, bodies }: Write,
  boards: readonly BenchBoard[],
  pathOf: (number: number, board: BenchBoard) => string,
): Call[] {
  const calls = boards.map((board) =>
    bodies(board).flatMap((body) =>
      cardNumbersOf(board).map((number): Call => {
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

/** Reads of a whole board. `etag` is the current one. */
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

/** Reads of a whole board with details. */
export function detailsWorkloads(addresses: Addresses, board: BenchBoard): Workload[] {
  const service = read(addresses.service, "/v1/board?include=details", auth(board));
  const floor = read(addresses.floors, `/board/${board.projectId}`);
  const update = sidesOf("update", addresses, [board]);
  return [
    ...atBoth(`board with details unchanged, ${board.cards} cards ÷ F-board`, atLeast(8), service, floor),
    ...atBoth(
      `board with details after every write, ${board.cards} cards ÷ F-board`,
      atLeast(0.5),
      { ...service, writesBefore: update.service.calls, fresh: "key" },
      { ...floor, writesBefore: update.floor.calls },
    ),
  ];
}

/** Reads of cards. */
export function cardWorkloads({ service, floors }: Addresses, board: BenchBoard): Workload[] {
  const calls = (pathOf: (number: number) => string): Call[] =>
    cardNumbersOf(board).map((number) => ({ method: "GET", path: pathOf(number), headers: auth(board) }));
  return atBoth(
    "card ÷ F-card",
    atLeast(0.45),
    { url: service, calls: calls((number) => `/v1/cards/${number}`) },
    { url: floors, calls: calls((number) => `/card/${board.projectId}/${number}`) },
  ).map((workload) => (workload.connections === 1 ? workload : { ...workload, cpu: CARD_CPU_MS }));
}

/** Writes without Git to `board`, and from 16 connections to one of `boards` each. */
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
      { ...one, load: "16 connections", connections: 16, goal: writeGoal(write, 1, 0.25), cpu: WRITE_CPU_MS },
      { ...many, load: "16 boards", connections: 16, goal: atLeast(0.3) },
    ] as const;
  });
}

/** Repeats of a comment with its key. The caller has sent it once before. */
export function replayWorkloads({ service }: Addresses, board: BenchBoard, replay: Call): Workload[] {
  const { headers: _, ...first } = replay;
  return atBoth(
    "replay ÷ first call",
    atLeast(1),
    { url: service, calls: [replay] },
    { url: service, calls: [{ ...first, headers: auth(board) }], fresh: "key" },
  );
}

/** A push to an unknown repository: verified, stored and queued. */
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

/** Three of a hundred cards and every fourth page have the word. */
const SEARCH_PATH = "/v1/search?q=%22word17%22";
/** About a fifth of the cards is in the stage. */
export const cardListPath = ({ stages }: BenchBoard): string =>
  `/v1/cards?statusId=${stages[1]?.id}&assignee=none&limit=50`;

/** Reports, searches and lists of a board with a year of history, compared with their SQL. */
export function historyWorkloads({ service, floors }: Addresses, board: BenchBoard): Workload[] {
  const paths = {
    inbox: "/v1/inbox",
    trunk: "/v1/trunk",
    search: SEARCH_PATH,
    "cards filtered": cardListPath(board),
  };
  return Object.entries(paths).flatMap(([name, path]) =>
    atBoth(
      `time of ${name}, ${board.cards} cards ÷ its SQL`,
      atMost(3),
      read(service, path, auth(board)),
      read(floors, `/${name.replace(" ", "-")}/${board.projectId}`),
    ),
  );
}
