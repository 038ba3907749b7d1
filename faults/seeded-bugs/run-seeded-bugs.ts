import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Lanes } from "../lanes.ts";
import type { Played } from "../play-seed.ts";
import { SEEDED_BUGS, type SeededBug } from "./bugs.ts";

export interface BugHunt {
  readonly lanes: Lanes;
  /** The folder with the compiled service as it should be. */
  readonly root: string;
  readonly folder: string;
  readonly seed: number;
  readonly seconds: number;
  /** Seeds each bug is looked for in. */
  readonly tries: number;
}

/** How long, in seconds, what is under way may take: the same for the service as it should be, so that impatience is not taken for a catch. */
const PATIENCE = 45;

export const wantedBugs = (wanted: RegExp): SeededBug[] =>
  SEEDED_BUGS.filter(({ name, breaks }) => wanted.test(`${breaks} ${name}`));

/**
 * Plays the service as it should be, and copies with one mistake each, and tells as a table which invariant saw which. False when one was not
 * seen by the invariant it is meant for, or when anything was seen without a mistake.
 */
export async function huntBugs(
  hunt: BugHunt,
  bugs: readonly SeededBug[],
  tell: (line: string) => void,
): Promise<boolean> {
  tell(rowOf("meant for", "seen at seed", "also seen by", "mistake"));
  const [sound, ...caught] = await Promise.all([
    playSound(hunt, tell),
    ...bugs.map((bug) => hunted(hunt, bug, tell)),
  ]);
  tell(`${bugs.length} mistakes, ${caught.filter(Boolean).length} seen by the invariant they are meant for`);
  return sound && caught.every(Boolean);
}

const rowOf = (meantFor: string, seenAt: string, alsoBy: string, mistake: string): string =>
  `${meantFor.padEnd(10)} ${seenAt.padEnd(13)} ${alsoBy.padEnd(16)} ${mistake}`;

async function playSound(hunt: BugHunt, tell: (line: string) => void): Promise<boolean> {
  const played = await Promise.all(
    Array.from({ length: hunt.tries }, (_, at) => play(hunt, hunt.seed + at, hunt.root, "sound")),
  );
  const broken = played.flatMap(({ violations }) => violations);
  const invariants = [...new Set(broken.map(({ invariant }) => invariant))].join(" ");
  tell(rowOf("none", broken.length === 0 ? "none" : "BROKEN", invariants, `none, over ${hunt.tries} seeds`));
  for (const { invariant, text } of broken) tell(`  ${invariant} ${text}`);
  return broken.length === 0;
}

async function hunted(hunt: BugHunt, bug: SeededBug, tell: (line: string) => void): Promise<boolean> {
  const root = await withBug(hunt.root, bug);
  try {
    for (let attempt = 0; attempt < hunt.tries; attempt++) {
      const seed = hunt.seed + attempt;
      const { violations } = await play(hunt, seed, root, `bug-${SEEDED_BUGS.indexOf(bug)}`);
      const seen = violations.find(({ invariant }) => invariant === bug.breaks);
      if (!seen) continue;
      const others = new Set(violations.map(({ invariant }) => invariant));
      others.delete(bug.breaks);
      tell(rowOf(bug.breaks, String(seed), [...others].join(" "), bug.name));
      tell(`  ${seen.text.slice(0, 160)}`);
      return true;
    }
    tell(rowOf(bug.breaks, "MISSED", "", bug.name));
    return false;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const play = (
  { lanes, folder, seconds }: BugHunt,
  seed: number,
  root: string,
  name: string,
): Promise<Played> => lanes.play({ seed, root, folder: join(folder, name), seconds, patience: PATIENCE });

/** A copy of the service with the mistake in it. Throws where the code it is made in is not there any more. */
async function withBug(root: string, bug: SeededBug): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-bug-"));
  await cp(root, dir, { recursive: true, filter: (source) => !source.endsWith("node_modules") });
  await symlink(join(root, "node_modules"), join(dir, "node_modules"));
  for (const { file, find, replace } of bug.edits) {
    const path = join(dir, "dist/src", file);
    const code = await readFile(path, "utf8");
    if (!code.includes(find)) throw new Error(`${file} has no ${find}: ${bug.name}`);
    await writeFile(
      path,
      code.replaceAll(find, () => replace),
    );
  }
  return dir;
}
