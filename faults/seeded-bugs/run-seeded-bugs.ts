import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { playSeed } from "../play-seed.ts";
import type { CrashingPostgres } from "../world/postgres.ts";
import { SEEDED_BUGS, type SeededBug } from "./bugs.ts";

export interface BugHunt {
  /** The folder with the compiled service as it should be. */
  readonly root: string;
  readonly folder: string;
  readonly seed: number;
  readonly seconds: number;
  /** Seeds each bug is looked for in. */
  readonly tries: number;
}

/** Makes each mistake in a copy of the service, plays seeds against it, and says which invariant saw it. Gives those that none saw. */
export async function huntBugs(
  hunt: BugHunt,
  left: SeededBug[],
  postgres: CrashingPostgres,
  tell: (line: string) => void,
): Promise<SeededBug[]> {
  const missed: SeededBug[] = [];
  for (let bug = left.shift(); bug !== undefined; bug = left.shift()) {
    const root = await withBug(hunt.root, bug);
    const seenBy = await playWith(hunt, bug, root, postgres);
    await rm(root, { recursive: true, force: true });
    tell(`${seenBy === null ? "MISSED" : `caught by ${seenBy}`}: ${bug.name}`);
    if (seenBy === null) missed.push(bug);
  }
  return missed;
}

export const wantedBugs = (wanted: RegExp): SeededBug[] =>
  SEEDED_BUGS.filter(({ name, breaks }) => wanted.test(`${breaks.join(" ")} ${name}`));

async function playWith(
  hunt: BugHunt,
  bug: SeededBug,
  root: string,
  postgres: CrashingPostgres,
): Promise<string | null> {
  for (let attempt = 0; attempt < hunt.tries; attempt++) {
    const seed = hunt.seed + attempt;
    const folder = join(hunt.folder, `bug-${SEEDED_BUGS.indexOf(bug)}`);
    const { violations } = await playSeed({
      seed,
      postgres,
      root,
      folder,
      seconds: hunt.seconds,
      patience: 25,
    });
    const seen = violations.find(({ invariant }) => bug.breaks.includes(invariant));
    if (seen) return `${seen.invariant} (${seen.text.slice(0, 120)})`;
  }
  return null;
}

/** A copy of the service with the mistake in it. Throws where the code it is made in is not there any more. */
async function withBug(root: string, bug: SeededBug): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-bug-"));
  await cp(root, dir, { recursive: true, filter: (source) => !source.endsWith("node_modules") });
  await symlink(join(root, "node_modules"), join(dir, "node_modules"));
  for (const { file, find, replace } of bug.edits) {
    const path = join(dir, "dist", file);
    const code = await readFile(path, "utf8");
    if (!code.includes(find)) throw new Error(`${file} has no ${find}: ${bug.name}`);
    await writeFile(
      path,
      code.replaceAll(find, () => replace),
    );
  }
  return dir;
}
