import { EventEmitter } from "node:events";
import { expect, it } from "@jest/globals";
import type { Runner } from "graphile-worker";
import { pino } from "pino";
import { keepRunning } from "../../src/jobs/start-worker.ts";
import { eventually } from "../support/api.ts";

const log = pino({ level: "silent" });

/** A worker that runs until `stop` or `end`. As in graphile-worker, `stop` fails after `end`. */
function makeWorker() {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  const stops: string[] = [];
  const runner: Runner = {
    promise,
    stop: async () => {
      stops.push("stop");
      end();
    },
    kill: () => Promise.reject(new Error("not used")),
    addJob: () => Promise.reject(new Error("not used")),
    events: new EventEmitter(),
  };
  return { runner, stops, end: () => end() };
}

it("restarts a worker that stopped by itself, even if the first attempt fails", async () => {
  const workers = [makeWorker(), makeWorker()] as const;
  const starts: (() => Promise<Runner>)[] = [
    async () => workers[0].runner,
    () => Promise.reject(new Error("PostgreSQL is away")),
    async () => workers[1].runner,
  ];
  const stop = await keepRunning(() => starts.shift()!(), log);
  workers[0].end();
  await eventually(
    () => Promise.resolve(starts.length),
    (left) => left === 0,
  );
  await stop();
  expect(workers.map(({ stops }) => stops.length)).toEqual([0, 1]);
});

it("starts no worker after it is stopped", async () => {
  const worker = makeWorker();
  let starts = 0;
  const start = async (): Promise<Runner> => {
    if (++starts > 1) throw new Error("PostgreSQL is away");
    return worker.runner;
  };
  const stop = await keepRunning(start, log);
  worker.end();
  await eventually(
    () => Promise.resolve(starts),
    (count) => count === 2,
  );
  await stop();
  expect(starts).toBe(2);
  expect(worker.stops).toEqual([]);
});

it("fails if the worker cannot be started the first time", async () => {
  await expect(keepRunning(() => Promise.reject(new Error("away")), log)).rejects.toThrow("away");
});
