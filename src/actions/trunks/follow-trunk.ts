import { landingsOf, type Landing, type TrunkCommit } from "../../flow/trunk/landings.ts";
import type { Pushed } from "../../forge/events.ts";
import { BRANCHES_PER_CALL, type BranchInspection } from "../../forge/pull-requests.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import type { Db } from "../../store/db/connect.ts";
import { readClock } from "../../store/forge/installations.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { transaction } from "../../store/db/transaction.ts";
import { isInstallationRefused } from "../../store/forge/installations.ts";
import {
  findKnownTrunk,
  findTrunk,
  listNewTrunks,
  listTrunks,
  saveHistory,
  confirmTip,
  recordTip,
  type ListedTrunk,
  type Trunk,
} from "../../store/forge/trunks.ts";
import type { Deps } from "../deps.ts";
import { recheckMissingBranches } from "../../store/cards/schedule-rechecks.ts";

/** The minimum pause before an account that did not respond is asked again, in seconds. */
export const RETRY_AFTER_S = 60;

/** How much history is read when a branch becomes a trunk: a leap year. */
const FIRST_READ_MS = 366 * 24 * 3_600_000;
/** How many pages of up to 1,000 commits one job reads. Older commits are not read. */
const MAX_PAGES = 50;
/** How long GitHub may need until it shows which pull request a commit belongs to. */
const ATTRIBUTED_AFTER_MS = 10 * 60_000;

/** Schedules the job for branches that a change has made trunks of a project. */
export async function followNewTrunksSoon(db: Db, projectId: string): Promise<void> {
  for (const { repositoryId, branchName } of await listNewTrunks(db, projectId)) {
    await schedule(db, JOBS.followTrunk, { repositoryId, branchName });
  }
}

/** Stores a pushed tip. The pull requests of the new commits are read from the history. */
export async function recordPushedTip(
  db: Db,
  repositoryId: string,
  { branchName, before, after }: Pushed,
): Promise<void> {
  await recordTip(db, { repositoryId, branchName, before, after });
  if (after !== null && (await findTrunk(db, repositoryId, branchName)))
    await schedule(db, JOBS.followTrunk, { repositoryId, branchName });
}

/** Reads what has landed on a trunk since the last read. */
export async function followTrunk(deps: Deps, repositoryId: string, branchName: string): Promise<void> {
  const trunk = await findTrunk(deps.db, repositoryId, branchName);
  if (trunk) await readNewCommits(deps, trunk, "head");
}

/**
 * Compares the tips of all trunks, or of one account's, with the stored ones and reads what has
 * landed. Recent landings are read again. Cards that were refused because a branch was missing are
 * rechecked. An account or branch that cannot be read does not stop the others and is tried again
 * later; for an account that refuses the App, `syncInstallation` does that.
 */
export async function followAllTrunks(deps: Deps, installationId: number | null = null): Promise<void> {
  const trunks = await listTrunks(deps.db, installationId);
  for (const id of new Set(trunks.map(({ forgeRef }) => forgeRef.installationId))) {
    const group = trunks.filter(({ forgeRef }) => forgeRef.installationId === id);
    const waits: number[] = [];
    for (let start = 0; start < group.length; start += BRANCHES_PER_CALL) {
      const some = group.slice(start, start + BRANCHES_PER_CALL);
      const wait = await retryAfterOf(deps, { installationId: id }, async () => {
        waits.push(...(await compareTips(deps, some)));
      });
      if (wait !== null) waits.push(wait);
    }
    if (waits.length === 0 || (await isInstallationRefused(deps.db, id))) continue;
    const delayMs = Math.max(...waits, RETRY_AFTER_S) * 1_000;
    await schedule(deps.db, JOBS.followAllTrunks, { installationId: id }, { delayMs });
  }
}

/** Returns, for each trunk that could not be read, the seconds until GitHub may be asked again. */
async function compareTips(deps: Deps, trunks: readonly ListedTrunk[]): Promise<number[]> {
  const questions = trunks.map(({ forgeRef, branchName }) => ({
    repository: forgeRef,
    branchName: null,
    targetBranch: branchName,
  }));
  const inspections = await deps.forge.inspect(questions, { isPartial: true });
  // No webhook may have reported that a branch exists, or that its repository is not archived now.
  const existing = trunks.filter((_, index) => tipIn(inspections[index]) !== null);
  await recheckMissingBranches(deps.db, existing);
  const waits: number[] = [];
  for (const [index, trunk] of trunks.entries()) {
    const inspection = inspections[index];
    if (inspection?.refusal?.details?.["connection"] === "refused")
      throw new ForgeUnavailable(inspection.refusal.message);
    const tip = tipIn(inspection);
    if (tip === null) continue;
    if (tip === trunk.headSha && tip === trunk.attributedSha) {
      await confirmTip(deps.db, trunk, { reported: trunk.tipSha, shown: tip, includesReported: false });
      continue;
    }
    const { repositoryId, branchName } = trunk;
    const about = { repositoryId, branchName };
    const wait = await retryAfterOf(deps, about, () => readNewCommits(deps, trunk, "attributed"));
    if (wait !== null) waits.push(wait);
  }
  return waits;
}

const tipIn = (inspection: BranchInspection | undefined): string | null =>
  inspection && !inspection.refusal ? inspection.target.sha : null;

/** Null when done, else the seconds until GitHub may be asked again. */
async function retryAfterOf(deps: Deps, about: object, read: () => Promise<void>): Promise<number | null> {
  try {
    await read();
    return null;
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    deps.log.warn({ err: error, ...about }, "the history of a trunk could not be read");
    return error.retryAfter;
  }
}

/**
 * Reads the history after the stored head (`head`), or after the newest commit up to which GitHub
 * has returned the pull request of every commit (`attributed`).
 */
async function readNewCommits(deps: Deps, trunk: Trunk, from: "head" | "attributed"): Promise<void> {
  const known = await findKnownTrunk(deps.db, trunk);
  // A process whose clock is ahead would let commits land in the future.
  const now = new Date(await readClock(deps.db));
  const since = known?.knownSince ?? new Date(now.getTime() - FIRST_READ_MS);
  const after = known && (from === "head" ? known.headSha : known.attributedSha);
  const read = await readHistory(deps, trunk, after, { since, now });
  if (!read) return;
  const { commits, reachesAfter, knownSince } = read;
  const shown = commits[0]?.sha ?? (reachesAfter ? after : null);
  if (shown === null) return;
  const reported = known?.tipSha ?? null;
  const includesReported = reported === after || commits.some(({ sha }) => sha === reported);
  const attributedSha =
    reachesAfter && from === "head"
      ? known && known.attributedSha
      : (newestAttributed(commits, now) ?? (reachesAfter ? after : null));
  const landings = landingsOf(commits, { since: knownSince, until: now });
  const containedShas = await listContained(deps, trunk, commits, landings);
  const isSaved = await transaction(deps.db, async (trx) => {
    const isUnchanged =
      commits.length === 0 ||
      (await saveHistory(trx, trunk, known, {
        headSha: shown,
        attributedSha,
        knownSince,
        landings,
        shas: commits.map(({ sha }) => sha),
        containedShas,
        replacesAll: !reachesAfter,
      }));
    if (isUnchanged) await confirmTip(trx, trunk, { reported, shown, includesReported });
    return isUnchanged;
  });
  if (!isSaved)
    await schedule(deps.db, JOBS.followTrunk, {
      repositoryId: trunk.repositoryId,
      branchName: trunk.branchName,
    });
}

/**
 * The commits that the branch contains and its landings say that they undo. A commit of a branch that
 * was squashed has not landed. Reverts are rare, so GitHub is asked about each unknown commit.
 */
async function listContained(
  { forge }: Deps,
  { forgeRef, branchName }: Trunk,
  commits: readonly TrunkCommit[],
  landings: readonly Landing[],
): Promise<ReadonlySet<string>> {
  const read = commits.flatMap(({ sha, mergedCommits }) => [
    sha,
    ...(mergedCommits ?? []).map((each) => each.sha),
  ]);
  const contained = new Set(read);
  const undone = landings.flatMap(({ reverts }) => reverts?.undone ?? []);
  for (const each of undone) {
    if (!("sha" in each) || each.sha.length < 40 || contained.has(each.sha)) continue;
    if (await forge.contains(forgeRef, branchName, each.sha)) contained.add(each.sha);
  }
  return contained;
}

const newestAttributed = (commits: readonly TrunkCommit[], now: Date): string | undefined =>
  commits.find(({ committedAt }) => Date.parse(committedAt) < now.getTime() - ATTRIBUTED_AFTER_MS)?.sha;

interface History {
  /** Newest first. */
  readonly commits: readonly TrunkCommit[];
  /** False if it does not reach the known commits: the branch is new, or was force-pushed. */
  readonly reachesAfter: boolean;
  readonly knownSince: Date;
}

async function readHistory(
  deps: Deps,
  { forgeRef, branchName }: Trunk,
  after: string | null,
  { since, now }: { readonly since: Date; readonly now: Date },
): Promise<History | null> {
  const commits: TrunkCommit[] = [];
  let from: string | null = null;
  for (let pages = 1; ; pages++) {
    const question = { branchName, from, after, since: since.toISOString() };
    const page = await deps.forge.landedCommits(forgeRef, question);
    if (page === null) return null;
    commits.push(...page.commits);
    const { reachesAfter, next } = page;
    if (reachesAfter || next === null) return { commits, reachesAfter, knownSince: since };
    if (pages === MAX_PAGES) {
      const oldest = new Date(commits.at(-1)?.committedAt ?? 0);
      return { commits, reachesAfter, knownSince: oldest > since && oldest < now ? oldest : since };
    }
    from = next;
  }
}
