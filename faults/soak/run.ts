/**
 * Runs the compiled service under constant load and checks that its resources do not grow. Exits 1
 * if a value is not flat or if unfinished work is left.
 *
 *     npm run soak -- [--minutes N] [--boards N] [--lives N] [--note TEXT]
 *                     [--leak heap|files|connections|jobs|temporary]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { shipService } from "../../test/support/processes/shipped-service.ts";
import { createRandom } from "../seeded-random.ts";
import { waitUntilIdle } from "../idle.ts";
import { judgeFlatness, type Sample } from "./flatness.ts";
import { runLoad } from "./load.ts";
import type { Progress } from "./visitors.ts";
import { tableOf, writeReport, type SoakResult } from "./report.ts";
import { readCpuSeconds, takeSample } from "./sampling.ts";
import { startSoakWorld, type SoakWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    boards: { type: "string" },
    lives: { type: "string" },
    note: { type: "string" },
    leak: { type: "string" },
  },
});
const minutes = Number(values.minutes ?? 30);
const boards = Number(values.boards ?? 4);
const lives = Number(values.lives ?? 2);
const SAMPLES = 180;
/** Seconds that unfinished work may take after the load. */
const IDLE_TIMEOUT = 120;
/** Leaks per run with `--leak`. PostgreSQL accepts at most 100 connections. */
const LEAKS = 40;
/** Runs of at least this length update the documentation. */
const REPORTED_MINUTES = 30;

async function soak(world: SoakWorld): Promise<SoakResult> {
  const progress: Progress = { finishedCards: 0, calls: 0, failed: 0, faults: 0 };
  const startedAt = Date.now();
  const end = startedAt + minutes * 60_000;
  const load = runLoad(world, { lives, random: createRandom(1), isOver: () => Date.now() > end }, progress);
  const failed = new AbortController();
  load.catch(() => failed.abort());
  const samples: Sample[] = [];
  while (Date.now() < end && !failed.signal.aborted) {
    await sleep(Math.max(1_000, (minutes * 60_000) / SAMPLES));
    const sample = await takeSample(world, (Date.now() - startedAt) / 1_000, progress.finishedCards);
    samples.push(sample);
    if (samples.length % 10 === 0) console.log(lineOf(sample));
  }
  const wrong = await load;
  const left = await waitUntilIdle(world, IDLE_TIMEOUT);
  const processor = await readCpuSeconds(world);
  const code = await world.service.terminate();
  const troubles = [
    ...wrong.slice(0, 20),
    ...(left === null ? [] : [`unfinished work after the load: ${left}`]),
    ...(code === 0 ? [] : [`the service exited with ${code} on SIGTERM`]),
  ];
  return { minutes, boards, lives, verdicts: judgeFlatness(samples), troubles, processor, ...progress };
}

function lineOf(sample: Sample): string {
  const parts = Object.entries(sample).map(
    ([name, value]) => `${name} ${Math.round(Number(value) * 10) / 10}`,
  );
  return parts.join("  ");
}

const shipped = await shipService();
const folder = await mkdtemp(join(tmpdir(), "trunkline-soak-"));
try {
  const what = values.leak ?? null;
  const leak = what === null ? null : { what, everyMs: (minutes * 60_000) / LEAKS };
  const world = await startSoakWorld({ folder, root: shipped.dir, boards, leak });
  let soaked: SoakResult;
  try {
    soaked = await soak(world);
  } finally {
    await world.stop();
  }
  console.log(tableOf(soaked));
  const isFlat = soaked.troubles.length === 0 && soaked.verdicts.every((verdict) => verdict.isFlat);
  if (minutes >= REPORTED_MINUTES && leak === null) await writeReport(soaked, values.note);
  if (isFlat) await rm(folder, { recursive: true, force: true });
  else console.log(`failed; the log of the service is in ${folder}`);
  process.exitCode = isFlat ? 0 : 1;
} finally {
  await shipped.remove();
}
