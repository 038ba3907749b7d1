import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { RateLimit } from "../../sandbox/forge/control/rate-limit.ts";
import { reconcile } from "../../src/actions/reconcile/reconcile.ts";
import type { RunningService } from "../../src/service.ts";
import { eventually, type Api, type ApiResponse } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { apisOf } from "../support/processes/two-processes.ts";
import { runDeferredJobs } from "../support/stories/deferred-jobs.ts";
import { cardInReview, mergedCard } from "../support/stories/merged-card.ts";
import {
  frozenRelease,
  makeRelease,
  pick,
  promote,
  type PromotionResponse,
} from "../support/stories/releases.ts";
import { resumeMovesAfter } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let other: RunningService;
let board: TestBoard;
/** One credential at each of the two processes. */
let apis: readonly [Api, Api];
let installationId: number;
beforeAll(async () => {
  other = await startSecondService(world);
  board = await world.board();
  apis = await apisOf(world, other, board);
  const { control } = world.forge;
  installationId = control.installations().find(({ account }) => account === board.owner)?.id ?? 0;
});
afterEach(() => leaveConsistent(world));

/** Whether it is REST or GraphQL depends on the request that is limited. */
const FORMS: readonly RateLimit[] = [
  { limit: "primary", resetIn: 90, type: "RATE_LIMIT" },
  { limit: "secondary", retryAfter: 90, status: 200 },
  { limit: "content", retryAfter: null, status: 429 },
  { limit: "primary", resetIn: 90, status: 429 },
  { limit: "secondary", retryAfter: null, status: 200 },
  { limit: "secondary", retryAfter: 90 },
];

interface Story {
  readonly ask: (api: Api) => Promise<ApiResponse | null>;
  /** The cards that the action merges. */
  readonly merges?: readonly number[];
}

const inReview = (name: string): Promise<number> =>
  cardInReview(world, board, { web: { [`${name}.txt`]: "hello\n" } });

/** Prepares one, and gives how it is asked for. */
const STORIES: Readonly<Record<string, (name: string) => Promise<Story>>> = {
  move: async (name) => {
    const number = await inReview(name);
    const key = randomUUID();
    return { ask: (api) => api.move(number, board.stages.Done, 0, { key }), merges: [number] };
  },
  promotion: async (name) => {
    const merges = [await inReview(`${name}-a`), await inReview(`${name}-b`)];
    const release = await makeRelease(board.api, name, merges);
    const key = randomUUID();
    const ask = async (api: Api) => {
      const response = await promote(api, release, { statusId: board.stages.Done }, { key });
      const { operationId } = response.body;
      return operationId ? api.get<PromotionResponse>(`/v1/operations/${operationId}`) : response;
    };
    return { ask, merges };
  },
  pick: async (name) => {
    const release = await frozenRelease(board.api, name);
    const number = await mergedCard(world, board, { web: { [`${name}.txt`]: "hello\n" } });
    const key = randomUUID();
    return { ask: (api) => pick(api, release, number, { key }) };
  },
  repair: async (name) => {
    await inReview(name);
    return {
      ask: async (api) => {
        const { deps } = api === apis[0] ? world.service : other;
        await reconcile(deps, { minAgeMs: 0, pauseMs: 0 });
        return null;
      },
    };
  },
};

/** A 202 is stored under its key: a job or a webhook completes the move. */
function isFinal(response: ApiResponse | null): boolean {
  if (response === null || response.status === 202) return true;
  const { pending = [] } = response.body as Partial<PromotionResponse>;
  return pending.length === 0 && !response.headers.has("retry-after");
}

const limitIsStored = () =>
  eventually(
    () => board.db("forge_limits").where("limited_until", ">", board.db.fn.now()),
    ({ length }) => length > 0,
  );

/** Lets everything that waits run on both processes. */
async function everythingTries(): Promise<void> {
  await runDeferredJobs(world);
  await resumeMovesAfter(world, board);
  for (const { deps } of [world.service, other]) await reconcile(deps, { minAgeMs: 0, pauseMs: 0 });
  await eventually(
    () => board.db("graphile_worker._private_jobs").where("run_at", "<=", board.db.fn.now()),
    ({ length }) => length === 0,
  );
}

async function limitEnds(): Promise<void> {
  world.forge.control.reset();
  await board.db("forge_limits").update({ limited_until: board.db.fn.now() });
  await runDeferredJobs(world);
  await resumeMovesAfter(world, board);
}

/** What a response of 503 does not say about the limit. */
function missingIn(response: ApiResponse | null): string[] {
  if (response?.status !== 503) return [];
  const isTimed = Number(response.headers.get("retry-after")) > 30;
  const isNamed = /GitHub limits requests until \d{4}-\d\d-\d\dT[\d:]{8}Z/.test(response.text);
  return isTimed && isNamed ? [] : [`${response.headers.get("retry-after")} ${response.text}`];
}

/** Each card is in the last stage and was merged once. Returns the numbers of the others. */
async function notMergedOnce(numbers: readonly number[]): Promise<number[]> {
  const found: number[] = [];
  for (const number of numbers) {
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
    if (kinds.filter((kind) => kind === "pull_request_merged").length !== 1) found.push(number);
  }
  return found;
}

/** Limits the nth request. `isLimited` is false if there was none. */
async function limitAt(nth: number, form: RateLimit, { ask, merges = [] }: Story) {
  const { control } = world.forge;
  await allProcessed(world);
  const fault = { kind: "rate-limit", ...form } as const;
  control.faults.add({ match: { installationId }, fault, skip: nth - 1, times: 1 });
  await ask(apis[0]);
  const imposed = control.limits.list();
  const isLimited = imposed.length > 0;
  if (isLimited) await limitIsStored();
  // Calls that were sent before both processes could know of the limit are no violations.
  const sentBefore = imposed.map((limit) => limit.violations.length);
  const missing = isLimited ? [...missingIn(await ask(apis[0])), ...missingIn(await ask(apis[1]))] : [];
  if (isLimited) await everythingTries();
  const violations = imposed.flatMap((limit, index) => limit.violations.slice(sentBefore[index]));
  await limitEnds();
  const done = await eventually(() => ask(apis[1]), isFinal);
  // 202: the merge that GitHub was asked for is still running.
  const isDone = done === null || done.status === 200 || done.status === 202;
  return { isLimited, missing, violations, isDone, unmerged: await notMergedOnce(merges) };
}

/** The nth request is limited in the nth form after these. All forms at all requests take minutes. */
const STARTS: Readonly<Record<string, readonly number[]>> = {
  move: [0, 3],
  repair: [0, 1, 2, 3, 4, 5],
  pick: [0],
  promotion: [0],
};

// Fault: C4
// Fault: C5
// Invariant: I11
describe("a limit at any request", () => {
  it.each(
    Object.entries(STARTS).flatMap(([story, starts]) => starts.map((start) => [story, start] as const)),
  )("of a %s stops both processes until its time, in every form (from form %i)", async (story, start) => {
    let nth = 0;
    let isLimited = true;
    while (isLimited) {
      nth += 1;
      const prepared = await STORIES[story]!(`${story}-${start}-${nth}`);
      const result = await limitAt(nth, FORMS[(nth + start) % FORMS.length]!, prepared);
      expect(result).toEqual({ ...result, missing: [], violations: [], isDone: true, unmerged: [] });
      isLimited = result.isLimited;
    }
    expect(nth).toBeGreaterThan(1);
  });
});
