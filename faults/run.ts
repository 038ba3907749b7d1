/**
 * Runs seeds: the compiled service under agents, people and injected faults, then checks of all
 * invariants. Exits 1 if an invariant is broken, or if a seeded bug is not detected.
 *
 *     npm run faults -- [--seed N] [--seeds K] [--seconds S] [--workers N] [--keep]
 *     npm run faults -- --seeded-bugs [--only PATTERN]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { shipService } from "../test/support/processes/shipped-service.ts";
import { addTallies } from "./history.ts";
import { startSeedWorkers, type SeedWorkers } from "./seed-workers.ts";
import type { SeedResult } from "./run-seed.ts";
import { runSeededBugs, selectBugs } from "./seeded-bugs/run-seeded-bugs.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    seconds: { type: "string" },
    workers: { type: "string" },
    keep: { type: "boolean" },
    "seeded-bugs": { type: "boolean" },
    only: { type: "string" },
  },
});
const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000));
const seeds = Number(values.seeds ?? 1);
const seconds = Number(values.seconds ?? 8);

function printSeed({ seed, violations, calls, happened, seconds: took, folder }: SeedResult): void {
  const verdict = violations.length === 0 ? "passed" : "FAILED";
  const faults = sumOf(happened, "fault: ");
  console.log(`seed ${seed}: ${verdict}, ${calls} calls, ${faults} faults, ${took.toFixed(1)} s`);
  for (const { invariant, text } of violations) console.log(`  ${invariant} ${text}`);
  if (violations.length > 0 || values.keep) console.log(`  record: ${folder}`);
}

const sumOf = (happened: SeedResult["happened"], kind: string): number =>
  Object.entries(happened)
    .filter(([name]) => name.startsWith(kind))
    .reduce((sum, [, count]) => sum + count, 0);

/** Prints the counts of all seeds, highest first. */
function printCounts(results: readonly SeedResult[]): void {
  const all = addTallies(results.map(({ happened }) => happened));
  for (const kind of ["call", "person", "fault"]) {
    const counts = Object.entries(all)
      .filter(([name]) => name.startsWith(`${kind}: `))
      .toSorted(([, one], [, other]) => other - one);
    const texts = counts.map(([name, count]) => `${name.slice(kind.length + 2)} ${count}`);
    console.log(`${kind === "person" ? "people" : `${kind}s`}: ${texts.join(", ")}`);
  }
}

async function runSeeds(workers: SeedWorkers, root: string, folder: string): Promise<boolean> {
  console.log(`seeds ${first} to ${first + seeds - 1}`);
  const all = Array.from({ length: seeds }, (_, at) => first + at);
  const results = await Promise.all(
    all.map(async (seed) => {
      const result = await workers.run({ seed, root, folder, seconds });
      printSeed(result);
      const isKept = result.violations.length > 0 || values.keep;
      if (!isKept) await rm(result.folder, { recursive: true, force: true });
      return result;
    }),
  );
  const failed = results.filter(({ violations }) => violations.length > 0).map(({ seed }) => seed);
  printCounts(results);
  console.log(`${seeds} seeds, ${failed.length} failed${failed.length === 0 ? "" : `: ${failed.join(" ")}`}`);
  return failed.length === 0;
}

function runBugs(workers: SeedWorkers, root: string, folder: string): Promise<boolean> {
  const bugs = selectBugs(new RegExp(values.only ?? ""));
  return runSeededBugs(
    { workers, root, folder, seed: first, seconds, tries: Math.max(seeds, 3) },
    bugs,
    console.log,
  );
}

const shipped = await shipService();
const folder = await mkdtemp(join(tmpdir(), "trunkline-seeds-"));
const workers = startSeedWorkers(Number(values.workers ?? 2));
try {
  const isSuccess = await (values["seeded-bugs"] ? runBugs : runSeeds)(workers, shipped.dir, folder);
  if (isSuccess && !values.keep) await rm(folder, { recursive: true, force: true });
  process.exitCode = isSuccess ? 0 : 1;
} finally {
  await workers.stop();
  await shipped.remove();
}
