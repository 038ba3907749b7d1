import { setTimeout as sleep } from "node:timers/promises";
import { FLOODS } from "../faults/attack/floods.ts";
import type { Pace } from "./compare.ts";
import { cardReads } from "./fairness.ts";
import { atMost, median, report, short, type Measurement } from "./report.ts";
import { seedBoard } from "./seed.ts";
import { WEBHOOKS } from "./workloads.ts";
import { memoryOf, startService, type BenchWorld } from "./world.ts";

const START_MS = 1_000;
const SETTLE_MS = 2_000;

/** The p95 of signed deliveries and of a neighbor's calls, in milliseconds. */
interface Times {
  readonly delivery: number;
  readonly card: number;
}

/** Measures deliveries and calls without other load, and while senders without a key flood the service. */
export async function measureFloods(world: BenchWorld, pace: Pace): Promise<Measurement[]> {
  const { seeding, loader, forge } = world;
  const board = await seedBoard(seeding, 500, "flooded");
  const { url, pid, stop } = await startService(world, world.connectionString, {
    CLIENT_ID: forge.app.clientId,
    CLIENT_SECRET: forge.app.clientSecret,
    PUBLIC_URL: "https://trunkline.example.test",
  });
  const delivery = { method: "POST", path: WEBHOOKS, headers: { "x-github-event": "ping" } } as const;
  const body = JSON.stringify({ zen: "Design for failure.", hook_id: 1 });
  const read = async (): Promise<Times> => {
    const load = { url, connections: 1, seconds: pace.seconds };
    const { p95: hook } = await loader.run({ ...load, calls: [{ ...delivery, body }], fresh: "delivery" });
    const { p95: card } = await loader.run({ ...load, calls: cardReads(board) });
    return { delivery: hook, card };
  };
  const readDuring = async (flood: (typeof FLOODS)[string]): Promise<Times> => {
    const end = flood(url);
    await sleep(START_MS);
    const times = await read();
    end();
    await sleep(SETTLE_MS);
    return times;
  };
  await read();
  const measurements: Measurement[] = [];
  for (const [name, flood] of Object.entries(FLOODS)) {
    const rounds: { quiet: Times; flooded: Times }[] = [];
    while (rounds.length < pace.rounds)
      rounds.push({ quiet: await read(), flooded: await readDuring(flood) });
    for (const what of ["delivery", "card"] as const) {
      const value = median(rounds.map(({ quiet, flooded }) => flooded[what] / quiet[what]));
      const [flooded, quiet] = (["flooded", "quiet"] as const).map((when) =>
        short(median(rounds.map((round) => round[when][what]))),
      );
      const goal = { name: `p95 of ${what} during ${name} ÷ without`, value, goal: atMost(3) };
      measurements.push(report(goal, `: ${flooded} and ${quiet} ms`));
    }
  }
  const memory = await memoryOf(pid, "VmHWM");
  measurements.push(report({ name: "memory under floods, MB", value: memory, goal: atMost(400) }));
  await stop();
  return measurements;
}
