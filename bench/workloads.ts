import { randomUUID } from "node:crypto";
import type { Load } from "./load.ts";
import type { BenchBoard } from "./seed.ts";

/** Where the two sides of a comparison answer. */
export interface Sides {
  readonly service: string;
  readonly floors: string;
  readonly hello: string;
}

export type Side = Omit<Load, "connections" | "seconds" | "amount">;

/** One row of the table: what the service is measured on, what against, and the least ratio that will do. */
export interface Workload {
  readonly name: string;
  readonly service: Side;
  readonly floor: Side;
  /** The least that service ÷ floor may be, by connections. */
  readonly atLeast: Readonly<Record<number, number>>;
  /** Whether a card of the board is written every few milliseconds meanwhile, on both sides. */
  readonly isBoardWritten?: boolean;
  /** The most that the service's p99 ÷ p50 may be. */
  readonly spread?: number;
}

/** Those of a board that depend on its size, for a large one. */
export const boardWorkloads: typeof workloadsOf = (...given) =>
  workloadsOf(...given).filter(({ name }) => /^(board|card)/.test(name));

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);
const both = (ratio: number): Record<number, number> => ({ 1: ratio, 16: ratio });

/** What is compared on a board. `etag` is that of the board as it stands. */
export function workloadsOf({ service, floors, hello }: Sides, board: BenchBoard, etag: string): Workload[] {
  const auth = { authorization: `Bearer ${board.apiKey}` };
  const cards = numbers(Math.min(board.cards, 400));
  const read = (path: string, headers: Record<string, string> = {}): Side => ({
    url: service,
    method: "GET",
    paths: [path],
    headers: { ...auth, ...headers },
  });
  const write = (method: "POST" | "PATCH", paths: string[], bodies: unknown[]): Side => ({
    url: service,
    method,
    paths,
    headers: auth,
    bodies: bodies.map((body) => JSON.stringify(body)),
    fresh: "key",
  });
  const floor = (method: Side["method"], paths: string[], bodies?: unknown[]): Side => ({
    url: floors,
    method,
    paths,
    headers: {},
    ...(bodies && { bodies: bodies.map((body) => JSON.stringify(body)) }),
  });
  const doing = board.stages[1]?.id;
  const waiting = board.stages[0]?.id;
  const push = {
    ref: "refs/heads/main",
    before: "a".repeat(40),
    after: "b".repeat(40),
    repository: { id: 1, full_name: "acme/unknown", default_branch: "main" },
    commits: numbers(5).map((at) => ({ id: String(at).repeat(40), message: `Commit ${at}`, distinct: true })),
  };
  const replayKey = `bench-replay-${randomUUID()}`;
  const size = `${board.cards} cards`;
  return [
    {
      name: `board unchanged, ${size}`,
      service: read("/v1/board"),
      floor: floor("GET", ["/board"]),
      atLeast: both(8),
    },
    {
      name: `board while it is written, ${size}`,
      service: read("/v1/board"),
      floor: floor("GET", ["/board"]),
      atLeast: both(0.8),
      isBoardWritten: true,
    },
    {
      name: `board not modified, ${size}`,
      service: read("/v1/board", { "if-none-match": etag }),
      floor: { url: hello, method: "GET", paths: ["/hello"], headers: {} },
      atLeast: both(0.5),
    },
    {
      name: `card, ${size}`,
      service: { ...read(""), paths: cards.map((number) => `/v1/cards/${number}`) },
      floor: floor(
        "GET",
        cards.map((number) => `/card/${number}`),
      ),
      atLeast: both(0.5),
    },
    {
      name: `create, ${size}`,
      service: write("POST", ["/v1/cards"], [{ title: "A card that the bench has made" }]),
      floor: floor("POST", ["/create"], [{ title: "A card that the bench has made" }]),
      atLeast: { 1: 0.55, 16: 0.75 },
      spread: 4,
    },
    {
      name: `update, ${size}`,
      service: write(
        "PATCH",
        cards.map((number) => `/v1/cards/${number}`),
        [{ title: "One title" }, { title: "Another" }],
      ),
      floor: floor(
        "PATCH",
        cards.map((number) => `/update/${number}`),
        [{ title: "One title" }, { title: "Another" }],
      ),
      atLeast: both(0.6),
    },
    {
      name: `move without Git, ${size}`,
      service: write(
        "POST",
        cards.map((number) => `/v1/cards/${number}/move`),
        cards.map((number) => ({ statusId: number % 2 === 0 ? doing : waiting, index: 0 })),
      ),
      floor: floor(
        "POST",
        cards.map((number) => `/move/${number}`),
        [{ index: 0 }],
      ),
      atLeast: both(0.55),
    },
    {
      name: `comment, ${size}`,
      service: write(
        "POST",
        cards.map((number) => `/v1/cards/${number}/comments`),
        [{ body: "A few words of a comment" }],
      ),
      floor: floor(
        "POST",
        cards.map((number) => `/comment/${number}`),
        [{ body: "A few words of a comment" }],
      ),
      atLeast: both(0.55),
    },
    {
      name: `replay ÷ first call, ${size}`,
      service: {
        ...write("POST", ["/v1/cards/1/comments"], [{ body: "Said once" }]),
        headers: { ...auth, "idempotency-key": replayKey },
        fresh: "replay",
      },
      floor: write("POST", ["/v1/cards/1/comments"], [{ body: "Said again and again" }]),
      atLeast: both(1),
    },
    {
      name: "webhook accepted",
      service: {
        url: service,
        method: "POST",
        paths: ["/api/github/webhooks"],
        headers: { "x-github-event": "push" },
        bodies: [JSON.stringify(push)],
        fresh: "delivery",
      },
      floor: {
        url: floors,
        method: "POST",
        paths: ["/hook"],
        headers: { "x-github-event": "push" },
        bodies: [JSON.stringify(push)],
        fresh: "delivery",
      },
      atLeast: both(0.6),
    },
  ];
}
