import { z } from "zod";
import type { RepositoryRef } from "../../forge/values.ts";
import { pickBranch, type PickOrder, type PreparedPick } from "../../forge/releasing.ts";
import { recordBackMerge, isInRelease, pickReleaseCard } from "../../store/releases/release-cards.ts";
import { findCardById, type CardHead } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import { listLinks } from "../../store/cards/links.ts";
import {
  deletePickBranches,
  recordPickBranch,
  listReleaseBranches,
  setReleaseBranchHead,
  type ReleaseBranch,
} from "../../store/releases/release-branches.ts";
import type { ReleaseHead } from "../../store/releases/releases.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { Deps } from "../deps.ts";
import { planPick, refusedIn, repositoryPick, type PickRefused, type RepositoryPick } from "./plan-pick.ts";
import {
  requireOwned,
  saveOperationProgress,
  type ReleaseContext,
  type ReleaseOutcome,
  type RunningOperation,
} from "./release-operation.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/** How often a pick is prepared again because the branch has moved. */
const MAX_RESTARTS = 3;

const progressSchema = z.object({
  inRepositories: z.array(repositoryPick).optional(),
  /** Set while the pick is being undone. */
  refused: z.object({ message: z.string(), body: z.record(z.string(), z.unknown()) }).optional(),
});

type ReachableBranch = ReleaseBranch & { readonly forgeRef: RepositoryRef };

/** A running pick. Each step updates `picks` and saves them. */
interface PickRun {
  readonly deps: Deps;
  readonly context: ReleaseContext;
  readonly branches: ReadonlyMap<string, ReachableBranch>;
  readonly picks: RepositoryPick[];
}

/** Plans the pick, prepares the commits in every repository, and then moves the branches. */
export async function runPick(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { cardId } = z.object({ cardId: z.string() }).parse(context.operation.input);
  const progress = progressSchema.parse(context.operation.progress);
  const card = await findCardById(deps.db, cardId);
  if (!card) return { state: "refused", message: "The card was deleted." };
  const branches = await listReleaseBranches(deps.db, context.release.id);
  const known = new Map(
    branches.flatMap((branch) =>
      branch.forgeRef ? [[branch.repositoryId, { ...branch, forgeRef: branch.forgeRef }] as const] : [],
    ),
  );
  const { stop } = context;
  if (stop !== null && !progress.inRepositories) return { state: "refused", message: stop };
  const planned =
    progress.inRepositories ?? planPick(context, await listLinks(deps.db, cardId), known, card.number);
  if ("message" in planned) return { state: "refused", ...planned };
  const run: PickRun = { deps, context, branches: known, picks: [...planned] };
  const stopped = stop === null ? findUnreachable(run) : { message: stop, body: {} };
  const refused = progress.refused ?? stopped ?? (await prepareAll(run)) ?? (await moveBranches(run));
  if (refused) return undo(run, refused);
  return {
    state: "done",
    record: (trx, release) => recordPick(trx, context.operation, release, card, run.picks),
  };
}

async function save({ deps, context, picks }: PickRun, refused?: PickRefused): Promise<void> {
  await saveOperationProgress(deps, context, { inRepositories: picks, refused });
}

function branchOf({ branches }: PickRun, { repositoryId }: RepositoryPick): ReachableBranch {
  const branch = branches.get(repositoryId);
  if (!branch) throw new Error("a pick in a repository without a branch of the release");
  return branch;
}

/** Why a resumed pick cannot continue in all of its repositories, or null. */
const findUnreachable = ({ picks, branches }: PickRun): PickRefused | null =>
  picks.every(({ repositoryId }) => branches.has(repositoryId)) ? null : { message: UNREACHABLE, body: {} };

const UNREACHABLE =
  "A repository of the card has left the project, or the App is not installed there any more. Pick the card again.";

const orderOf = (run: PickRun, pick: RepositoryPick): PickOrder => ({
  branchName: branchOf(run, pick).branchName,
  expectedTip: pick.expectedTip ?? "",
  pullRequests: pick.pullRequests,
  tempBranch: pickBranch(run.context.operation.id),
});

async function prepareAll(run: PickRun): Promise<PickRefused | null> {
  for (const at of run.picks.keys()) {
    const refused = await prepare(run, at);
    if (refused) return refused;
  }
  return null;
}

/** Prepares a pick on the tip of the branch. Null when done. */
async function prepare(run: PickRun, at: number): Promise<PickRefused | null> {
  const { deps, context } = run;
  for (;;) {
    const pick = run.picks[at];
    if (!pick || pick.prepared || pick.pickedTip !== null) return null;
    const branch = branchOf(run, pick);
    const { forgeRef, branchName, fullName, headSha } = branch;
    // Starts with the last known tip; if the branch has moved, the response contains the new one.
    const expectedTip = pick.expectedTip ?? headSha ?? "";
    const begun = { ...pick, expectedTip };
    run.picks[at] = begun;
    await save(run);
    await recordPickBranch(deps.db, context.operation.id, pick.repositoryId);
    await requireOwned(deps, context);
    const prepared = await deps.forge.preparePick(forgeRef, orderOf(run, begun));
    if (!prepared.ok) return refusedIn(fullName, `${fullName}: ${prepared.refusal.message}`);
    const { value } = prepared;
    if (value.state === "conflict")
      return refusedIn(fullName, conflictMessage(fullName, value), { files: value.files });
    if (value.state === "moved") {
      if (pick.tries === MAX_RESTARTS) return keepsMoving(branch);
      if (value.sha === null)
        return refusedIn(fullName, `The branch ${branchName} no longer exists in ${fullName}. Restore it.`);
      run.picks[at] = { ...begun, expectedTip: value.sha, tries: pick.tries + 1 };
      continue;
    }
    if (value.state === "prepared") run.picks[at] = { ...begun, prepared: value };
    else if (value.state === "contained") run.picks[at] = { ...begun, pickedTip: expectedTip };
    else run.picks[at] = { ...begun, pickedTip: value.sha, commits: value.commits };
    await save(run);
  }
}

const keepsMoving = ({ branchName, fullName }: ReachableBranch): PickRefused =>
  refusedIn(fullName, `Somebody keeps pushing to ${branchName} in ${fullName}. Try again later.`);

function conflictMessage(
  fullName: string,
  { message, files }: { message: string; files: readonly string[] },
): string {
  const more = files.length > 10 ? ", …" : "";
  const listed = files.length > 0 ? ` (${files.slice(0, 10).join(", ")}${more})` : "";
  return `${fullName}: ${message}${listed}`;
}

/** Moves the branches. The pick of a branch that was pushed to is prepared again. */
async function moveBranches(run: PickRun): Promise<PickRefused | null> {
  const { deps, context } = run;
  for (const at of run.picks.keys()) {
    for (;;) {
      const pick = run.picks[at];
      if (!pick?.prepared || pick.pickedTip !== null) break;
      const branch = branchOf(run, pick);
      const order = orderOf(run, pick);
      await requireOwned(deps, context);
      const applied = await deps.forge.applyPick(branch.forgeRef, order, pick.prepared);
      if (!applied.ok) return refusedIn(branch.fullName, `${branch.fullName}: ${applied.refusal.message}`);
      if (applied.value.state === "picked") {
        run.picks[at] = { ...pick, pickedTip: applied.value.sha, commits: pick.prepared.commits };
        await save(run);
        continue;
      }
      await discardPrepared(run, pick, pick.prepared);
      const expectedTip = applied.value.state === "moved" ? applied.value.sha : null;
      run.picks[at] = { ...pick, expectedTip, prepared: null, tries: pick.tries + 1 };
      if (pick.tries === MAX_RESTARTS) return keepsMoving(branch);
      const refused = await prepare(run, at);
      if (refused) return refused;
    }
  }
  return null;
}

/** Removes the temporary branch of prepared commits; if that fails, `sweepPickBranches` does. */
async function discardPrepared(run: PickRun, pick: RepositoryPick, prepared: PreparedPick): Promise<void> {
  const { deps, context } = run;
  await requireOwned(deps, context);
  if (await deps.forge.discardPick(branchOf(run, pick).forgeRef, orderOf(run, pick), prepared))
    await deletePickBranches(deps.db, [context.operation.id], pick.repositoryId);
}

/** Resets each branch, unless it has later pushes or GitHub refuses, and removes the prepared commits. */
async function undo(run: PickRun, refused: PickRefused): Promise<ReleaseOutcome> {
  const { deps, context } = run;
  await save(run, refused);
  const kept: string[] = [];
  for (const pick of run.picks) {
    const branch = run.branches.get(pick.repositoryId);
    if (!branch || !pick.prepared) continue;
    const { forgeRef, branchName, fullName } = branch;
    if (pick.pickedTip === null) {
      await discardPrepared(run, pick, pick.prepared);
      continue;
    }
    await requireOwned(deps, context);
    const back = await deps.forge.moveBranch(forgeRef, branchName, pick.pickedTip, pick.expectedTip ?? "");
    if (!back.ok || back.value.state === "moved") kept.push(fullName);
  }
  const left = ` The commits stay on the release's branch in ${kept.join(", ")}, which has later pushes or may not be reset.`;
  const message = kept.length > 0 ? `${refused.message}${left}` : refused.message;
  return { state: "refused", message, body: refused.body };
}

/** Adds a picked card to its release, unless an earlier pick did. */
async function recordPick(
  trx: Trx,
  operation: RunningOperation,
  release: ReleaseHead,
  card: CardHead,
  picks: readonly RepositoryPick[],
): Promise<void> {
  const written = picks.filter(({ commits }) => commits.length > 0);
  for (const { repositoryId, pickedTip, prepared } of written) {
    if (pickedTip !== null) await setReleaseBranchHead(trx, release.id, repositoryId, pickedTip);
    // Moving the branch has removed the temporary one.
    if (prepared) await deletePickBranches(trx, [operation.id], repositoryId);
  }
  if (written.length === 0 && (await isInRelease(trx, release.id, card.id))) return;
  await pickReleaseCard(trx, release.id, card.id);
  if (!card.hotfix) await recordMissing(trx, operation, release.id, card.id, written);
  await recordEvents(trx, [
    {
      cardId: card.id,
      kind: "release_picked",
      actor: { userId: operation.actorId, login: null },
      data: {
        releaseId: release.id,
        releaseName: release.name,
        commits: written.flatMap(({ commits }) => commits),
      },
    },
  ]);
}

/** Records commits that the trunk lacks. A merged hotfix has its own job. */
async function recordMissing(
  trx: Trx,
  { actorId }: RunningOperation,
  releaseId: string,
  cardId: string,
  picks: readonly RepositoryPick[],
): Promise<void> {
  for (const { repositoryId, commits, missingFrom } of picks) {
    const sha = commits.at(-1);
    if (missingFrom === null || sha === undefined) continue;
    await recordBackMerge(trx, { cardId, repositoryId, targetBranch: missingFrom, sha, actorId, releaseId });
    await schedule(trx, JOBS.backMerge, { cardId });
  }
}
