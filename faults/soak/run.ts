/**
 * Keeps the compiled service at work for a while and holds what it uses against what it used before. Exits 1 when anything was not flat, or did
 * not come to rest in the end.
 *
 *     npm run soak -- [--minutes N] [--boards N] [--lives N] [--note WORDS] [--leak heap|files|connections|jobs|temporary]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { shipService } from "../../test/support/processes/shipped-service.ts";
import { makeDice } from "../dice.ts";
import { untilIdle } from "../quiesce.ts";
import { judge, type Sample } from "./flatness.ts";
import { runLoad, type Progress } from "./load.ts";
import { tableOf, writeReport, type Soaked } from "./report.ts";
import { processorSeconds, takeSample } from "./sampling.ts";
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
/** So many looks, however long the run is. */
const LOOKS = 180;
/** How long, in seconds, what is under way at the end may take to come to rest. */
const PATIENCE = 120;
/** So many times in a run something is leaked where that is asked for: PostgreSQL takes no more than a hundred connections. */
const LEAKS = 40;
/** A run at least so long is what the documentation tells of. */
const WHOLE_MINUTES = 30;

async function soak(world: SoakWorld): Promise<Soaked> {
  const progress: Progress = { through: 0, calls: 0, failed: 0, faults: 0 };
  const began = Date.now();
  const end = began + minutes * 60_000;
  const load = runLoad(world, { lives, dice: makeDice(1), isOver: () => Date.now() > end }, progress);
  const broken = new AbortController();
  load.catch(() => broken.abort());
  const samples: Sample[] = [];
  while (Date.now() < end && !broken.signal.aborted) {
    await sleep(Math.max(1_000, (minutes * 60_000) / LOOKS));
    const sample = await takeSample(world, (Date.now() - began) / 1_000, progress.through);
    samples.push(sample);
    if (samples.length % 10 === 0) console.log(inOneLine(sample));
  }
  await load;
  const left = await untilIdle(world, PATIENCE);
  const processor = await processorSeconds(world);
  const code = await world.service.end();
  const troubles = [
    ...(left === null ? [] : [`what was left when the load had ended: ${left}`]),
    ...(code === 0 ? [] : [`asked to end, the service ended with ${code}`]),
  ];
  return { minutes, boards, lives, verdicts: judge(samples), troubles, processor, ...progress };
}

function inOneLine(sample: Sample): string {
  const parts = Object.entries(sample).map(
    ([name, value]) => `${name} ${Math.round(Number(value) * 10) / 10}`,
  );
  return parts.join("  ");
}

async function soakAndStop(world: SoakWorld): Promise<Soaked> {
  try {
    return await soak(world);
  } finally {
    await world.stop();
  }
}

const shipped = await shipService();
const folder = await mkdtemp(join(tmpdir(), "trunkline-soak-"));
try {
  const what = values.leak ?? null;
  const leak = what === null ? null : { what, everyMs: (minutes * 60_000) / LEAKS };
  const world = await startSoakWorld({ folder, root: shipped.dir, boards, leak });
  const soaked = await soakAndStop(world);
  console.log(tableOf(soaked));
  const isFlat = soaked.troubles.length === 0 && soaked.verdicts.every((verdict) => verdict.isFlat);
  if (minutes >= WHOLE_MINUTES && leak === null) await writeReport(soaked, values.note);
  if (isFlat) await rm(folder, { recursive: true, force: true });
  else console.log(`not flat; the service's log is in ${folder}`);
  process.exitCode = isFlat ? 0 : 1;
} finally {
  await shipped.remove();
}
