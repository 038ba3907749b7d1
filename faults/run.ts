/**
 * Plays seeds: the whole product under agents, people and faults, then everything that must hold is held against what came of it. Exits 1 when
 * anything did not, or when a mistake that was made on purpose was not seen.
 *
 *     npm run faults -- [--seed N] [--seeds K] [--seconds S] [--lanes L] [--keep]
 *     npm run faults -- --seeded-bugs [--only PATTERN]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { shipService } from "../test/support/shipped-service.ts";
import { playSeed, type Played } from "./play-seed.ts";
import { huntBugs, wantedBugs } from "./seeded-bugs/run-seeded-bugs.ts";
import { startCrashingPostgres, type CrashingPostgres } from "./world/postgres.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    seconds: { type: "string" },
    lanes: { type: "string" },
    keep: { type: "boolean" },
    "seeded-bugs": { type: "boolean" },
    only: { type: "string" },
  },
});
const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const seeds = Number(values.seeds ?? 1);
const seconds = Number(values.seconds ?? 8);
const lanes = Number(values.lanes ?? 2);
/** How long, in seconds, what is under way at the end of the faults may take to come to rest. */
const PATIENCE = 90;

function tell({ seed, violations, calls, faults, seconds: took, folder }: Played): void {
  const verdict = violations.length === 0 ? "holds" : "BROKEN";
  console.log(`seed ${seed}: ${verdict}, ${calls} calls, ${faults} faults, ${took.toFixed(1)} s`);
  for (const { invariant, text } of violations) console.log(`  ${invariant} ${text}`);
  if (violations.length > 0 || values.keep) console.log(`  the record: ${folder}`);
}

/** Works in so many lanes at once, each on a PostgreSQL of its own, since that is crashed. */
async function inLanes<T>(count: number, work: (postgres: CrashingPostgres) => Promise<T[]>): Promise<T[]> {
  const lane = async (): Promise<T[]> => {
    const postgres = await startCrashingPostgres();
    try {
      return await work(postgres);
    } finally {
      await postgres.stop();
    }
  };
  return (await Promise.all(Array.from({ length: count }, lane))).flat();
}

async function playSeeds(root: string, folder: string): Promise<boolean> {
  console.log(
    `seeds ${first} to ${first + seeds - 1}; the same seed makes the same decisions, though not at the same moments`,
  );
  const left = Array.from({ length: seeds }, (_, at) => first + at);
  const broken = await inLanes(Math.min(lanes, seeds), async (postgres) => {
    const own: number[] = [];
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const played = await playSeed({ seed, postgres, root, folder, seconds, patience: PATIENCE });
      tell(played);
      if (played.violations.length > 0) own.push(seed);
      else if (!values.keep) await rm(played.folder, { recursive: true, force: true });
    }
    return own;
  });
  console.log(`${seeds} seeds, ${broken.length} broken`);
  return broken.length === 0;
}

async function playBugs(root: string, folder: string): Promise<boolean> {
  const bugs = wantedBugs(new RegExp(values.only ?? ""));
  const left = [...bugs];
  const hunt = { root, folder, seed: first, seconds, tries: Math.max(seeds, 3) };
  const missed = await inLanes(lanes, (postgres) => huntBugs(hunt, left, postgres, console.log));
  console.log(`${bugs.length} seeded bugs, ${bugs.length - missed.length} caught`);
  return missed.length === 0;
}

const shipped = await shipService();
const folder = await mkdtemp(join(tmpdir(), "trunkline-seeds-"));
try {
  const isFine = await (values["seeded-bugs"] ? playBugs : playSeeds)(shipped.dir, folder);
  if ((isFine || values["seeded-bugs"]) && !values.keep) await rm(folder, { recursive: true, force: true });
  process.exitCode = isFine ? 0 : 1;
} finally {
  await shipped.remove();
}
