/**
 * Plays seeds: the whole product under agents, people and faults, then everything that must hold is held against what came of it. Exits 1 when
 * anything did not.
 *
 *     npm run faults -- [--seed N] [--seeds K] [--seconds S] [--lanes L] [--keep]
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { playSeed, type Played } from "./play-seed.ts";
import { startCrashingPostgres } from "./world/postgres.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    seconds: { type: "string" },
    lanes: { type: "string" },
    keep: { type: "boolean" },
  },
});
const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const seeds = Number(values.seeds ?? 1);
const seconds = Number(values.seconds ?? 8);
const lanes = Math.min(Number(values.lanes ?? 2), seeds);
const root = join(import.meta.dirname, "..");

function tell({ seed, violations, calls, faults, seconds: took, folder }: Played): void {
  const verdict = violations.length === 0 ? "holds" : "BROKEN";
  console.log(`seed ${seed}: ${verdict}, ${calls} calls, ${faults} faults, ${took.toFixed(1)} s`);
  for (const { invariant, text } of violations) console.log(`  ${invariant} ${text}`);
  if (violations.length > 0 || values.keep) console.log(`  the record: ${folder}`);
}

async function playLane(folder: string, left: number[], played: Played[]): Promise<void> {
  const postgres = await startCrashingPostgres();
  try {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const one = await playSeed({ seed, postgres, root, folder, seconds });
      tell(one);
      played.push(one);
      if (one.violations.length === 0 && !values.keep) await rm(one.folder, { recursive: true, force: true });
    }
  } finally {
    await postgres.stop();
  }
}

execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit", cwd: root });
const folder = await mkdtemp(join(tmpdir(), "trunkline-faults-"));
console.log(
  `seeds ${first} to ${first + seeds - 1}; the same seed makes the same decisions, though not at the same moments`,
);
const left = Array.from({ length: seeds }, (_, at) => first + at);
const played: Played[] = [];
await Promise.all(Array.from({ length: lanes }, () => playLane(folder, left, played)));
const broken = played.filter(({ violations }) => violations.length > 0);
console.log(`${played.length} seeds, ${broken.length} broken`);
if (broken.length === 0 && !values.keep) await rm(folder, { recursive: true, force: true });
process.exitCode = broken.length > 0 ? 1 : 0;
