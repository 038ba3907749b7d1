import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { RateLimit } from "../../sandbox/forge/control/rate-limit.ts";
import { reconcile } from "../../src/actions/reconcile/reconcile.ts";
import type { RunningService } from "../../src/service.ts";
import { eventually, type Api, type ApiAnswer } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { apisOf } from "../support/processes/two-processes.ts";
import { runDeferredJobs } from "../support/stories/deferred-jobs.ts";
import { cardInReview, mergedCard } from "../support/stories/merged-card.ts";
import { frozenRelease, pick } from "../support/stories/releases.ts";
import { resumeMovesAfter } from "../support/stories/repairing.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let other: RunningService;
let board: TestBoard;
/** One credential at each of the two processes. */
let apis: readonly [Api, Api];
let installationId: number;
beforeAll(async () => {
  world = await startWorld();
  other = await startSecondService(world);
  board = await world.board();
  apis = await apisOf(world, other, board);
  const { control } = world.forge;
  installationId = control.installations().find(({ account }) => account === board.owner)?.id ?? 0;
});
afterEach(() => leaveConsistent(world));
afterAll(async () => {
  await other.stop();
  await world.stop();
});

/** Whether it is REST or GraphQL depends on the request that is limited. */
const FORMS: readonly RateLimit[] = [
  { limit: "primary", resetIn: 90, type: "RATE_LIMIT" },
  { limit: "secondary", retryAfter: 90, status: 200 },
  { limit: "content", retryAfter: null, status: 429 },
  { limit: "primary", resetIn: 90, status: 429 },
  { limit: "secondary", retryAfter: null, status: 200 },
  { limit: "secondary", retryAfter: 90 },
];

type Ask = (api: Api) => Promise<ApiAnswer | null>;

/** Prepares one, and gives how it is asked for. */
const STORIES: Readonly<Record<string, (nth: string) => Promise<Ask>>> = {
  pick: async (name) => {
    const release = await frozenRelease(board.api, name);
    const number = await mergedCard(world, board, { web: { [`${name}.txt`]: "hello\n" } });
    const key = randomUUID();
    return (api) => pick(api, release, number, { key });
  },
  repair: async (name) => {
    await cardInReview(world, board, { web: { [`${name}.txt`]: "hello\n" } });
    return async (api) => {
      const { deps } = api === apis[0] ? world.service : other;
      await reconcile(deps, { quietMs: 0, pauseMs: 0 });
      return null;
    };
  },
};

const isFinal = (answer: ApiAnswer | null): boolean => answer === null || !answer.headers.has("retry-after");

/** Lets everything that waits run on both processes. */
async function everythingTries(): Promise<void> {
  await runDeferredJobs(world);
  await resumeMovesAfter(world, board);
  for (const { deps } of [world.service, other]) await reconcile(deps, { quietMs: 0, pauseMs: 0 });
}

async function limitEnds(): Promise<void> {
  world.forge.control.reset();
  await board.db("forge_limits").update({ limited_until: board.db.fn.now() });
  await runDeferredJobs(world);
}

/** What an answer of 503 does not say about the limit. */
function missingIn(answer: ApiAnswer | null): string[] {
  if (answer?.status !== 503) return [];
  const isTimed = Number(answer.headers.get("retry-after")) > 30;
  const isNamed = /GitHub limits requests until \d{4}-\d\d-\d\dT[\d:]{8}Z/.test(answer.text);
  return isTimed && isNamed ? [] : [`${answer.headers.get("retry-after")} ${answer.text}`];
}

/** Limits the nth request. `isLimited` is false if there was none. */
async function limitAt(nth: number, form: RateLimit, ask: Ask) {
  const { control } = world.forge;
  await allProcessed(world);
  const fault = { kind: "rate-limit", ...form } as const;
  control.faults.add({ match: { installationId }, fault, skip: nth - 1, times: 1 });
  await ask(apis[0]);
  const imposed = control.limits.list();
  const isLimited = imposed.length > 0;
  const missing = isLimited ? [...missingIn(await ask(apis[0])), ...missingIn(await ask(apis[1]))] : [];
  if (isLimited) await everythingTries();
  const early = imposed.flatMap((limit) => limit.early);
  await limitEnds();
  const done = await eventually(() => ask(apis[1]), isFinal, 30_000);
  // 202: the merge that GitHub was asked for is still running.
  const isDone = done === null || done.status === 200 || done.status === 202;
  return { isLimited, missing, early, isDone };
}

// Fault: C4
// Fault: C5
// Invariant: I11
describe("a limit at any request", () => {
  const cases = [["pick", 0] as const, ["repair", 0] as const];

  it.each(cases)(
    "of a %s stops both processes until its time, in every form (from form %i)",
    async (story, turn) => {
      let nth = 0;
      let isLimited = true;
      while (isLimited) {
        nth += 1;
        const ask = await STORIES[story]!(`${story}-${turn}-${nth}`);
        const result = await limitAt(nth, FORMS[(nth + turn) % FORMS.length]!, ask);
        expect(result).toEqual({ ...result, missing: [], early: [], isDone: true });
        isLimited = result.isLimited;
      }
      expect(nth).toBeGreaterThan(1);
    },
    300_000,
  );
});
