import { setTimeout as sleep } from "node:timers/promises";
import { isFinal } from "../faults/actors/caller.ts";
import { check } from "../faults/checker/check.ts";
import { writesOf } from "../faults/checker/subject.ts";
import type { History, RecordedCall } from "../faults/history.ts";
import { repairAndWait, waitUntilIdle } from "../faults/idle.ts";
import { rows } from "../src/store/db/connect.ts";
import type { Load } from "./load/load.ts";
import type { HaWorld } from "./world.ts";

/** Seconds that unfinished work may take after the load. */
const IDLE_TIMEOUT = 90;
/** Fewer would show little. */
const LEAST_CALLS = 40;

/** Whether an attempt failed, except by the caller's own timeout. */
const hasFailed = ({ status, text }: RecordedCall): boolean =>
  status === null ? !/TimeoutError|aborted/.test(text) : status >= 500;

/** The attempts that failed, as text. */
export const failedAttempts = ({ history }: HaWorld): string[] =>
  history.calls
    .filter(hasFailed)
    .map(
      ({ method, path, status, text }) =>
        `${method} ${path}: ${status ?? "no response"} ${text.slice(0, 200)}`,
    );

/** Requests without a final response, although their callers followed the retry rules. */
export const writesWithoutResponse = ({ history }: HaWorld): string[] =>
  writesOf(history.calls)
    .filter(({ attempts }) => !attempts.some(isFinal))
    .map(
      ({ method, path, attempts }) =>
        `${method} ${path} has no final response after ${attempts.length} attempts`,
    );

/** A time whose effects are lost. Unix time in milliseconds. */
export interface LostTime {
  readonly from: number;
  readonly until: number;
}

/** The history in which calls of the lost time have no response: their effects may be lost. */
const withoutResponses = (history: History, { from, until }: LostTime): History => ({
  ...history,
  calls: history.calls.map((call) =>
    call.end > from && call.start < until ? { ...call, status: null, isReplay: false, text: "lost" } : call,
  ),
});

/** Acknowledged comments of tools and of people in the console that do not exist. */
async function lostComments(
  { deps }: HaWorld,
  { comments }: Load,
  { from, until }: LostTime,
): Promise<string[]> {
  const kept = comments.filter(({ at }) => at <= from || at >= until);
  const found = await rows<{ id: string }>(
    deps.db,
    "select id from timeline_items where id = any(cast(:ids as uuid[]))",
    { ids: kept.map(({ id }) => id) },
  );
  const ids = new Set(found.map(({ id }) => id));
  return kept
    .filter(({ id }) => !ids.has(id))
    .map(({ body }) => `the acknowledged comment "${body}" is lost`);
}

/** Ends the load, lets the service finish its work, and checks all invariants. */
export async function judge(
  world: HaWorld,
  load: Load,
  lost: LostTime = { from: Infinity, until: -Infinity },
): Promise<string[]> {
  await load.end();
  await waitUntilIdle(world, IDLE_TIMEOUT);
  for (let round = 1; round <= 2; round++) await repairAndWait(world, IDLE_TIMEOUT);
  const { known, followers, comments } = load;
  const history = withoutResponses(world.history, lost);
  const violations = await check({ world, history, known, followers });
  return [
    ...(history.calls.length < LEAST_CALLS || comments.length === 0 ? ["the load was too small"] : []),
    ...writesWithoutResponse(world),
    ...load.withoutResponse,
    ...(await lostComments(world, load, lost)),
    ...violations.map(({ invariant, text }) => `${invariant} ${text}`),
  ];
}

/** Waits until `isTrue`, and returns the seconds since `from`; null after `seconds`. */
export async function secondsUntil(
  from: number,
  seconds: number,
  isTrue: () => Promise<boolean> | boolean,
): Promise<number | null> {
  for (;;) {
    const took = (Date.now() - from) / 1_000;
    if (await isTrue()) return took;
    if (took > seconds) return null;
    await sleep(50);
  }
}
