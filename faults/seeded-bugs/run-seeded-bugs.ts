import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SeedWorkers } from "../seed-workers.ts";
import type { SeedResult } from "../run-seed.ts";
import { SEEDED_BUGS } from "./bugs.ts";
import type { SeededBug } from "./seeded-bug.ts";

interface BugRun {
  readonly workers: SeedWorkers;
  /** The folder of the compiled service without bugs. */
  readonly root: string;
  readonly folder: string;
  readonly seed: number;
  readonly seconds: number;
  /** The number of seeds per bug. */
  readonly tries: number;
}

export const selectBugs = (wanted: RegExp): SeededBug[] =>
  SEEDED_BUGS.filter(({ name, invariant }) => wanted.test(`${invariant} ${name}`));

/**
 * Runs the service without bugs and copies with one bug each. Prints a table of the invariants that
 * detected them. Returns false if an invariant misses its bug or is broken without a bug.
 */
export async function runSeededBugs(
  run: BugRun,
  bugs: readonly SeededBug[],
  print: (line: string) => void,
): Promise<boolean> {
  print(rowOf("invariant", "seed", "also broken", "bug"));
  const [isSound, ...detected] = await Promise.all([
    checkWithoutBugs(run, print),
    ...bugs.map((bug) => checkBug(run, bug, print)),
  ]);
  print(`${bugs.length} bugs, ${detected.filter(Boolean).length} detected by their invariant`);
  return isSound && detected.every(Boolean);
}

const rowOf = (invariant: string, seed: string, others: string, bug: string): string =>
  `${invariant.padEnd(10)} ${seed.padEnd(10)} ${others.padEnd(16)} ${bug}`;

async function checkWithoutBugs(run: BugRun, print: (line: string) => void): Promise<boolean> {
  const results = await Promise.all(
    Array.from({ length: run.tries }, (_, at) => runOneSeed(run, run.seed + at, run.root, "sound")),
  );
  const broken = results.flatMap(({ violations }) => violations);
  const invariants = [...new Set(broken.map(({ invariant }) => invariant))].join(" ");
  print(rowOf("none", broken.length === 0 ? "passed" : "FAILED", invariants, `none, ${run.tries} seeds`));
  for (const { invariant, text } of broken) print(`  ${invariant} ${text}`);
  for (const { violations, folder } of results) if (violations.length > 0) print(`  record: ${folder}`);
  return broken.length === 0;
}

async function checkBug(run: BugRun, bug: SeededBug, print: (line: string) => void): Promise<boolean> {
  const root = await withBug(run.root, bug);
  try {
    for (let attempt = 0; attempt < run.tries; attempt++) {
      const seed = run.seed + attempt;
      const { violations } = await runOneSeed(run, seed, root, `bug-${SEEDED_BUGS.indexOf(bug)}`);
      const detected = violations.find(({ invariant }) => invariant === bug.invariant);
      if (!detected) continue;
      const others = new Set(violations.map(({ invariant }) => invariant));
      others.delete(bug.invariant);
      print(rowOf(bug.invariant, String(seed), [...others].join(" "), bug.name));
      print(`  ${detected.text.slice(0, 160)}`);
      return true;
    }
    print(rowOf(bug.invariant, "MISSED", "", bug.name));
    return false;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const runOneSeed = (
  { workers, folder, seconds }: BugRun,
  seed: number,
  root: string,
  name: string,
): Promise<SeedResult> => workers.run({ seed, root, folder: join(folder, name), seconds });

/** Copies the service and adds the bug. Throws if the code to replace does not exist. */
async function withBug(root: string, bug: SeededBug): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-bug-"));
  await cp(root, dir, { recursive: true, filter: (source) => !source.endsWith("node_modules") });
  await symlink(join(root, "node_modules"), join(dir, "node_modules"));
  for (const { file, find, replace } of bug.edits) {
    const path = join(dir, "dist/src", file);
    const code = await readFile(path, "utf8");
    if (!code.includes(find)) throw new Error(`${file} does not contain "${find}" (${bug.name}).`);
    await writeFile(
      path,
      code.replaceAll(find, () => replace),
    );
  }
  return dir;
}
