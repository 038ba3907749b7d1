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
import { shipService } from "../test/support/processes/shipped-service.ts";
import { openLanes, type Lanes } from "./lanes.ts";
import type { Played } from "./play-seed.ts";
import { huntBugs, wantedBugs } from "./seeded-bugs/run-seeded-bugs.ts";
import { added } from "./tally.ts";

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
/** How long, in seconds, what is under way at the end of the faults may take to come to rest. */
const PATIENCE = 90;

function tell({ seed, violations, calls, happened, seconds: took, folder }: Played): void {
  const verdict = violations.length === 0 ? "holds" : "BROKEN";
  const faults = sumOf(happened, "fault: ");
  console.log(`seed ${seed}: ${verdict}, ${calls} calls, ${faults} faults, ${took.toFixed(1)} s`);
  for (const { invariant, text } of violations) console.log(`  ${invariant} ${text}`);
  if (violations.length > 0 || values.keep) console.log(`  the record: ${folder}`);
}

const sumOf = (happened: Played["happened"], kind: string): number =>
  Object.entries(happened)
    .filter(([name]) => name.startsWith(kind))
    .reduce((sum, [, count]) => sum + count, 0);

/** How often what happened over all seeds, the most frequent first. */
function tellAll(played: readonly Played[]): void {
  const all = added(played.map(({ happened }) => happened));
  for (const kind of ["call", "person", "fault"]) {
    const counts = Object.entries(all)
      .filter(([name]) => name.startsWith(`${kind}: `))
      .toSorted(([, one], [, other]) => other - one);
    const words = counts.map(([name, count]) => `${name.slice(kind.length + 2)} ${count}`);
    console.log(`${kind}s: ${words.join(", ")}`);
  }
}

async function playSeeds(lanes: Lanes, root: string, folder: string): Promise<boolean> {
  console.log(
    `seeds ${first} to ${first + seeds - 1}; the same seed makes the same decisions, though not at the same moments`,
  );
  const all = Array.from({ length: seeds }, (_, at) => first + at);
  const played = await Promise.all(
    all.map(async (seed) => {
      const one = await lanes.play({ seed, root, folder, seconds, patience: PATIENCE });
      tell(one);
      if (one.violations.length === 0 && !values.keep) await rm(one.folder, { recursive: true, force: true });
      return one;
    }),
  );
  const broken = played.filter(({ violations }) => violations.length > 0);
  tellAll(played);
  console.log(
    broken.length === 0
      ? `${seeds} seeds, all hold`
      : `${seeds} seeds, ${broken.length} broken: ${broken.map(({ seed }) => seed).join(" ")}`,
  );
  return broken.length === 0;
}

function playBugs(lanes: Lanes, root: string, folder: string): Promise<boolean> {
  const bugs = wantedBugs(new RegExp(values.only ?? ""));
  return huntBugs(
    { lanes, root, folder, seed: first, seconds, tries: Math.max(seeds, 3) },
    bugs,
    console.log,
  );
}

const shipped = await shipService();
const folder = await mkdtemp(join(tmpdir(), "trunkline-seeds-"));
const lanes = openLanes(Number(values.lanes ?? 2));
try {
  const isFine = await (values["seeded-bugs"] ? playBugs : playSeeds)(lanes, shipped.dir, folder);
  if ((isFine || values["seeded-bugs"]) && !values.keep) await rm(folder, { recursive: true, force: true });
  process.exitCode = isFine ? 0 : 1;
} finally {
  await lanes.stop();
  await shipped.remove();
}
