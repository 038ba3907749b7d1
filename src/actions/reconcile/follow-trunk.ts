import { landingsOf } from "../../flow/landings.ts";
import type { Pushed } from "../../forge/events.ts";
import { type BranchAnswer } from "../../forge/pull-requests.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import type { LandedCommit } from "../../forge/releasing.ts";
import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";
import { transaction } from "../../store/db/transaction.ts";
import { isInstallationRefused } from "../../store/forge/installations.ts";
import {
  findKnownTrunk,
  findTrunk,
  listNewTrunks,
  listTrunks,
  saveHistory,
  confirmTip,
  noteTip,
  type ListedTrunk,
  type Trunk,
} from "../../store/forge/trunks.ts";
import type { Deps } from "../deps.ts";
import { recheckLacking } from "./recheck-blocked.ts";

export const FOLLOW_TRUNK = "follow-trunk";
export const FOLLOW_TRUNKS = "follow-trunks";

/** How much of a branch's past is read when it is met: a year, with a day for its leap. */
const FIRST_READ_MS = 366 * 24 * 3_600_000;
/** Answers of up to a thousand commits that one reading takes; what is older stays unknown. */
const MAX_ANSWERS = 50;
/** How long the forge may need to know which pull request brought a commit. */
const SETTLES_MS = 10 * 60_000;
/** An account that did not answer is asked again after this long at the earliest. */
const AGAIN_AFTER_S = 60;
/** Branches asked about at once. */
const AT_ONCE = 25;

/** Has the history of a trunk branch read on, soon. */
export const followTrunkSoon = (db: Db, repositoryId: string, branchName: string): Promise<void> => {
  const key = `${FOLLOW_TRUNK}:${repositoryId}:${branchName}`;
  return addJob(db, FOLLOW_TRUNK, { repositoryId, branchName }, { key, queue: key });
};

/** Has the branches read that a change has made trunks of a project, soon. */
export async function followNewTrunksSoon(db: Db, projectId: string): Promise<void> {
  for (const { repositoryId, branchName } of await listNewTrunks(db, projectId)) {
    await followTrunkSoon(db, repositoryId, branchName);
  }
}

/**
 * A push names the tip of a branch and its new commits, but not the pull requests that brought
 * them: the history does.
 */
export async function notePushedTip(
  db: Db,
  repositoryId: string,
  { branchName, before, after }: Pushed,
): Promise<void> {
  await noteTip(db, { repositoryId, branchName, before, after });
  if (after !== null && (await findTrunk(db, repositoryId, branchName)))
    await followTrunkSoon(db, repositoryId, branchName);
}

/** Reads what landed on a trunk branch since it was read last. */
export async function followTrunk(deps: Deps, repositoryId: string, branchName: string): Promise<void> {
  const trunk = await findTrunk(deps.db, repositoryId, branchName);
  if (trunk) await readOn(deps, trunk, "head");
}

/** Has the trunks of one account looked at. Under a key of its own: all of them may be asked for meanwhile. */
export const followTrunksLater = (db: Db, installationId: number, seconds: number): Promise<void> =>
  addJob(
    db,
    FOLLOW_TRUNKS,
    { installationId },
    { key: `${FOLLOW_TRUNKS}:${installationId}`, delayMs: seconds * 1_000 },
  );

/**
 * Looks whether trunk branches stand where they were last heard to be, several in one call, and reads on where they do not. What landed
 * lately is read once more, and cards refused for want of a branch that is there are looked at again. An account or a branch that cannot be asked about does not keep the others waiting, and is looked at later: one that
 * refuses us once it is back, which `syncInstallation` sees to. With `installationId` it is that account alone.
 */
export async function followTrunks(deps: Deps, installationId: number | null = null): Promise<void> {
  const trunks = await listTrunks(deps.db, installationId);
  for (const id of new Set(trunks.map(({ ref }) => ref.installationId))) {
    const group = trunks.filter(({ ref }) => ref.installationId === id);
    const waits: number[] = [];
    for (let start = 0; start < group.length; start += AT_ONCE) {
      const some = group.slice(start, start + AT_ONCE);
      const away = await unlessAway(deps, { installationId: id }, async () => {
        waits.push(...(await followSome(deps, some)));
      });
      if (away !== null) waits.push(away);
    }
    if (waits.length === 0 || (await isInstallationRefused(deps.db, id))) continue;
    await followTrunksLater(deps.db, id, Math.max(...waits, AGAIN_AFTER_S));
  }
}

/** Gives, of each trunk that could not be read on, after how many seconds the forge may be asked again. */
async function followSome(deps: Deps, trunks: readonly ListedTrunk[]): Promise<number[]> {
  const questions = trunks.map(({ ref, branchName }) => ({
    repository: ref,
    branchName: null,
    targetBranch: branchName,
  }));
  const answers = await deps.forge.inspect(questions);
  // Nobody may have told that it is there, or out of the archive.
  const there = trunks.filter((_, index) => isThere(answers[index]));
  await recheckLacking(deps.db, there);
  const waits: number[] = [];
  for (const [index, trunk] of trunks.entries()) {
    const answer = answers[index];
    if (answer?.refusal?.details?.["connection"] === "refused")
      throw new ForgeUnavailable(answer.refusal.message);
    const tip = answer && !answer.refusal ? answer.target.sha : null;
    if (tip === null) continue;
    if (tip === trunk.headSha && tip === trunk.settledSha) {
      await confirmTip(deps.db, trunk, { heard: trunk.tipSha, shown: tip, isLater: false });
      continue;
    }
    const { repositoryId, branchName } = trunk;
    const away = await unlessAway(deps, { repositoryId, branchName }, () => readOn(deps, trunk, "settled"));
    if (away !== null) waits.push(away);
  }
  return waits;
}

const isThere = (answer: BranchAnswer | undefined): boolean =>
  answer !== undefined && answer.refusal === undefined && answer.target.sha !== null;

/** Null where it was done, else after how many seconds the forge may be asked again. */
async function unlessAway(deps: Deps, about: object, act: () => Promise<void>): Promise<number | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    deps.log.warn({ err: error, ...about }, "the history of a trunk could not be read");
    return error.retryAfter;
  }
}

/** Reads on from the tip that is known, or from where it was settled, which is then brought up to date. */
async function readOn(deps: Deps, trunk: Trunk, from: "head" | "settled"): Promise<void> {
  const known = await findKnownTrunk(deps.db, trunk);
  const since = known?.knownSince ?? new Date(Date.now() - FIRST_READ_MS);
  const after = known && (from === "head" ? known.headSha : known.settledSha);
  const read = await readHistory(deps, trunk, after, since);
  if (!read) return;
  const { line, isJoined, knownSince } = read;
  const shown = line[0]?.sha ?? (isJoined ? after : null);
  if (shown === null) return;
  const heard = known?.tipSha ?? null;
  const isLater = heard === after || line.some(({ sha }) => sha === heard);
  const settledSha =
    isJoined && from === "head" ? known && known.settledSha : (settledIn(line) ?? (isJoined ? after : null));
  const isSaved = await transaction(deps.db, async (trx) => {
    const isUnchanged =
      line.length === 0 ||
      (await saveHistory(trx, trunk, known, {
        headSha: shown,
        settledSha,
        knownSince,
        landings: landingsOf(line),
        shas: line.map(({ sha }) => sha),
        replacesAll: !isJoined,
      }));
    if (isUnchanged) await confirmTip(trx, trunk, { heard, shown, isLater });
    return isUnchanged;
  });
  if (!isSaved) await followTrunkSoon(deps.db, trunk.repositoryId, trunk.branchName);
}

const settledIn = (line: readonly LandedCommit[]): string | undefined =>
  line.find(({ committedAt }) => Date.parse(committedAt) < Date.now() - SETTLES_MS)?.sha;

interface Line {
  /** Newest first. */
  readonly line: readonly LandedCommit[];
  /** False where it does not lead to what is known: the branch is new to us, or was pushed by force. */
  readonly isJoined: boolean;
  readonly knownSince: Date;
}

async function readHistory(
  deps: Deps,
  { ref, branchName }: Trunk,
  after: string | null,
  since: Date,
): Promise<Line | null> {
  const line: LandedCommit[] = [];
  let from: string | null = null;
  for (let answers = 1; ; answers++) {
    const question = { branchName, from, after, since: since.toISOString() };
    const part = await deps.forge.landedCommits(ref, question);
    if (part === null) return null;
    line.push(...part.commits);
    const { isJoined, next } = part;
    if (isJoined || next === null) return { line, isJoined, knownSince: since };
    if (answers === MAX_ANSWERS) {
      const oldest = line.at(-1);
      return { line, isJoined, knownSince: oldest ? new Date(oldest.committedAt) : since };
    }
    from = next;
  }
}
