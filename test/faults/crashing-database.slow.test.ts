import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, type ApiResponse, type ApiCard } from "../support/api.ts";
import { startCrashingWorld, type CrashingWorld } from "../support/processes/crashing-world.ts";
import { expectConsistent } from "../support/invariants.ts";
import type { TestBoard } from "../support/world.ts";

const CARDS = 6;
const CRASHES = 5;
const LONG = 300_000;

let world: CrashingWorld;
beforeAll(async () => {
  world = await startCrashingWorld(true);
}, LONG);
afterAll(() => world.stop(), LONG);

/** The responses of failed calls. */
const failures: string[] = [];

/** Repeats a call with its key until it succeeds. */
async function untilSuccess<Body>(call: (key: string) => Promise<ApiResponse<Body>>): Promise<Body> {
  const key = randomUUID();
  for (const until = Date.now() + LONG / 2; Date.now() < until; await sleep(100)) {
    const { status, headers, body, text } = await call(key);
    if (status < 300) return body;
    failures.push(`${status}${headers.has("retry-after") ? ", come again" : ` ${text}`}`);
  }
  throw new Error("the call never succeeded");
}

/** Runs a card's life, with pauses as between the actions of people. */
async function runLife(board: TestBoard, title: string): Promise<number> {
  const { api, stages, owner } = board;
  const { number } = await untilSuccess((key) => api.post<ApiCard>("/v1/cards", { title }, { key }));
  const move = (statusId: string) => untilSuccess((key) => api.move(number, statusId, 0, { key }));
  await move(stages["In progress"]);
  const { repositories } = await untilSuccess(() => api.get<ApiCard>(`/v1/cards/${number}`));
  await board.person("ada", "PUT", `/repos/${owner}/web/contents/${number}.txt`, {
    message: "Work",
    content: "",
    branch: repositories[0]?.branchName ?? "",
  });
  await untilSuccess((key) => api.post(`/v1/cards/${number}/comments`, { body: "Said" }, { key }));
  await move(stages["In review"]);
  await move(stages.Done);
  return number;
}

// Fault: E6 PostgreSQL crashes under load => 503, then everything is done once
it(
  `calls that fail in ${CRASHES} crashes of PostgreSQL are 503 and succeed once when repeated`,
  async () => {
    const { postgres, db, forge } = world;
    const service = world.service();
    const board = await world.board();
    const over = new AbortController();
    const crash = async (): Promise<void> => {
      for (let crashes = 0; crashes < CRASHES; crashes++) {
        await sleep(2_000);
        await postgres.crash();
      }
      over.abort();
    };
    const numbers: number[] = [];
    const live = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const created = Array.from({ length: CARDS }, (_, at) =>
          runLife(board, `Life ${numbers.length + at}`),
        );
        numbers.push(...(await Promise.all(created)));
      }
    };
    await Promise.all([crash(), live()]);
    expect(new Set(failures)).toEqual(new Set(["503, come again", "409, come again"]));
    expect(new Set(numbers).size).toBe(numbers.length);
    // Still the first process.
    expect(service.child.exitCode).toBeNull();
    expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200);
    await eventually(
      () => db("deliveries").whereNot({ state: "done" }).select("guid", "event", "state"),
      ({ length }) => length === 0,
      120_000,
    );
    await expectConsistent({ forge, db }, board);
    for (const number of numbers) {
      const timeline = await board.api.timeline(number);
      const times = (wanted: string): number => timeline.filter(({ kind }) => kind === wanted).length;
      for (const kind of ["branch_created", "pull_request_opened", "pull_request_merged"]) {
        expect([number, kind, times(kind)]).toEqual([number, kind, 1]);
      }
      expect([number, times("status_changed")]).toEqual([number, 3]);
      expect([number, timeline.filter(({ type }) => type === "comment").length]).toEqual([number, 1]);
    }
  },
  LONG,
);
