import { z } from "zod";
import type { RepositoryRef } from "../../forge/values.ts";
import { pickBranch, type PickOrder, type PreparedPick } from "../../forge/releasing.ts";
import { noteBackmerge, isInRelease, pickReleaseCard } from "../../store/releases/release-cards.ts";
import { findCardById, type CardHead } from "../../store/cards/cards.ts";
import type { Trx } from "../../store/db/connect.ts";
import { listLinks } from "../../store/cards/links.ts";
import {
  forgetPickBranches,
  notePickBranch,
  listReleaseBranches,
  setReleaseBranchHead,
  type ReleaseBranch,
} from "../../store/releases/release-branches.ts";
import type { ReleaseHead } from "../../store/releases/releases.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import { bringBackSoon } from "./bring-back-hotfix.ts";
import type { Deps } from "../deps.ts";
import { planPick, repositoryPick, type PickRefused, type RepositoryPick } from "./plan-pick.ts";
import {
  requireOurs,
  recordProgress,
  type ReleaseContext,
  type ReleaseOutcome,
  type RunningAction,
} from "./release-action.ts";

/** How often a pick is prepared again because somebody pushed to the branch meanwhile. */
const MAX_TRIES = 3;

const progressOf = z.object({
  inRepositories: z.array(repositoryPick).optional(),
  /** Why the pick is being undone; absent while it is not. */
  refused: z.object({ message: z.string(), body: z.record(z.string(), z.unknown()) }).optional(),
});

type ReachableBranch = ReleaseBranch & { readonly ref: RepositoryRef };

/** A running pick. Each step updates `picks` and saves them. */
interface Work {
  readonly deps: Deps;
  readonly context: ReleaseContext;
  readonly branches: ReadonlyMap<string, ReachableBranch>;
  readonly picks: RepositoryPick[];
}

/** Picks a card: plans, prepares the commits in every repository, and then moves the branches. */
export async function carryOutPick(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { cardId } = z.object({ cardId: z.string() }).parse(context.action.input);
  const progress = progressOf.parse(context.action.progress);
  const card = await findCardById(deps.db, cardId);
  if (!card) return { state: "refused", message: "The card was deleted meanwhile." };
  const branches = await listReleaseBranches(deps.db, context.release.id);
  const known = new Map(
    branches.flatMap((branch) =>
      branch.ref ? [[branch.repositoryId, { ...branch, ref: branch.ref }] as const] : [],
    ),
  );
  const planned =
    progress.inRepositories ?? planPick(context, await listLinks(deps.db, cardId), known, card.number);
  if ("message" in planned) return { state: "refused", ...planned };
  const work: Work = { deps, context, branches: known, picks: [...planned] };
  const refused = progress.refused ?? (await prepareAll(work)) ?? (await landAll(work));
  if (refused) return undo(work, refused);
  return {
    state: "done",
    record: (trx, release) => recordPick(trx, context.action, release, card, work.picks),
  };
}

async function save({ deps, context, picks }: Work, refused?: PickRefused): Promise<void> {
  await recordProgress(deps, context, { inRepositories: picks, refused });
}

function branchOf({ branches }: Work, { repositoryId }: RepositoryPick): ReachableBranch {
  const branch = branches.get(repositoryId);
  if (!branch) throw new Error("a pick in a repository without a branch of the release");
  return branch;
}

const orderOf = (work: Work, pick: RepositoryPick): PickOrder => ({
  branchName: branchOf(work, pick).branchName,
  expectedTip: pick.expectedTip ?? "",
  pullRequests: pick.pullRequests,
  tempBranch: pickBranch(work.context.action.id),
});

async function prepareAll(work: Work): Promise<PickRefused | null> {
  for (const at of work.picks.keys()) {
    const refused = await prepare(work, at);
    if (refused) return refused;
  }
  return null;
}

/** Prepares a pick on the tip of the branch; null when that is done. */
async function prepare(work: Work, at: number): Promise<PickRefused | null> {
  const { deps, context } = work;
  for (;;) {
    const pick = work.picks[at];
    if (!pick || pick.prepared || pick.landed !== null) return null;
    const { ref, branchName, fullName, headSha } = branchOf(work, pick);
    const isRefused = (message: string, details = {}): PickRefused => ({
      message,
      body: { repository: fullName, ...details },
    });
    // The last known tip: if the branch has moved, the answer has the new one.
    const expectedTip = pick.expectedTip ?? headSha ?? "";
    const begun = { ...pick, expectedTip };
    work.picks[at] = begun;
    await save(work);
    await notePickBranch(deps.db, context.action.id, pick.repositoryId);
    await requireOurs(deps, context);
    const prepared = await deps.forge.preparePick(ref, orderOf(work, begun));
    if (!prepared.ok) return isRefused(`${fullName}: ${prepared.refusal.message}`);
    const { value } = prepared;
    if (value.state === "conflict") return isRefused(inWords(fullName, value), { files: value.files });
    if (value.state === "moved") {
      if (pick.tries === MAX_TRIES)
        return isRefused(`The branch ${branchName} in ${fullName} keeps moving. Try again.`);
      if (value.sha === null)
        return isRefused(`The branch ${branchName} is gone from ${fullName}. Restore it there.`);
      work.picks[at] = { ...begun, expectedTip: value.sha, tries: pick.tries + 1 };
      continue;
    }
    if (value.state === "prepared") work.picks[at] = { ...begun, prepared: value };
    else if (value.state === "contained") work.picks[at] = { ...begun, landed: expectedTip };
    else work.picks[at] = { ...begun, landed: value.sha, commits: value.commits };
    await save(work);
  }
}

const inWords = (
  fullName: string,
  { message, files }: { message: string; files: readonly string[] },
): string =>
  `${fullName}: ${message}${files.length > 0 ? ` (${files.slice(0, 10).join(", ")}${files.length > 10 ? ", …" : ""})` : ""}`;

/** Moves the branches. After a push to one of them meanwhile, its pick is prepared again. */
async function landAll(work: Work): Promise<PickRefused | null> {
  const { deps, context } = work;
  for (const at of work.picks.keys()) {
    for (;;) {
      const pick = work.picks[at];
      if (!pick?.prepared || pick.landed !== null) break;
      const { ref, fullName } = branchOf(work, pick);
      const order = orderOf(work, pick);
      await requireOurs(deps, context);
      const landed = await deps.forge.landPick(ref, order, pick.prepared);
      if (!landed.ok)
        return { message: `${fullName}: ${landed.refusal.message}`, body: { repository: fullName } };
      if (landed.value.state === "picked") {
        work.picks[at] = { ...pick, landed: landed.value.sha, commits: pick.prepared.commits };
        await save(work);
        continue;
      }
      await drop(work, pick, pick.prepared);
      const expectedTip = landed.value.state === "moved" ? landed.value.sha : null;
      work.picks[at] = { ...pick, expectedTip, prepared: null, tries: pick.tries + 1 };
      if (pick.tries === MAX_TRIES) {
        return {
          message: `The branch ${order.branchName} in ${fullName} keeps moving. Try again.`,
          body: { repository: fullName },
        };
      }
      const refused = await prepare(work, at);
      if (refused) return refused;
    }
  }
  return null;
}

/** Removes the prepared commits. The sweep removes what cannot be removed now. */
async function drop(work: Work, pick: RepositoryPick, prepared: PreparedPick): Promise<void> {
  const { deps, context } = work;
  await requireOurs(deps, context);
  if (await deps.forge.dropPick(branchOf(work, pick).ref, orderOf(work, pick), prepared))
    await forgetPickBranches(deps.db, [context.action.id], pick.repositoryId);
}

/**
 * Moves the branches back and removes the prepared commits. A branch with later pushes keeps the
 * commits, and the message says so.
 */
async function undo(work: Work, refused: PickRefused): Promise<ReleaseOutcome> {
  const { deps, context } = work;
  await save(work, refused);
  const kept: string[] = [];
  for (const pick of work.picks) {
    const { ref, branchName, fullName } = branchOf(work, pick);
    if (!pick.prepared) continue;
    if (pick.landed === null) {
      await drop(work, pick, pick.prepared);
      continue;
    }
    await requireOurs(deps, context);
    const back = await deps.forge.moveBranch(ref, branchName, pick.landed, pick.expectedTip ?? "");
    if (!back.ok || back.value.state === "moved") kept.push(fullName);
  }
  const left =
    kept.length > 0
      ? ` The commits stay on the release's branch in ${kept.join(", ")}: others build on them already.`
      : "";
  return { state: "refused", message: `${refused.message}${left}`, body: refused.body };
}

/** Adds a picked card to its release and to its timeline, unless an earlier pick did. */
export async function recordPick(
  trx: Trx,
  action: RunningAction,
  release: ReleaseHead,
  card: CardHead,
  picks: readonly RepositoryPick[],
): Promise<void> {
  const written = picks.filter(({ commits }) => commits.length > 0);
  for (const { repositoryId, landed, prepared } of written) {
    if (landed !== null) await setReleaseBranchHead(trx, release.id, repositoryId, landed);
    // Landing has removed the temporary branch.
    if (prepared) await forgetPickBranches(trx, [action.id], repositoryId);
  }
  if (written.length === 0 && (await isInRelease(trx, release.id, card.id))) return;
  await pickReleaseCard(trx, release.id, card.id);
  if (!card.hotfix) await noteMissing(trx, action, release.id, card.id, written);
  await recordEvents(trx, [
    {
      cardId: card.id,
      kind: "release_picked",
      actor: { userId: action.actorId, login: null },
      data: {
        releaseId: release.id,
        releaseName: release.name,
        commits: written.flatMap(({ commits }) => commits),
      },
    },
  ]);
}

/** Notes commits that the branch releases are cut from lacks. A landed hotfix has its own job. */
async function noteMissing(
  trx: Trx,
  { actorId }: RunningAction,
  releaseId: string,
  cardId: string,
  picks: readonly RepositoryPick[],
): Promise<void> {
  for (const { repositoryId, commits, missingFrom } of picks) {
    const sha = commits.at(-1);
    if (missingFrom === null || sha === undefined) continue;
    await noteBackmerge(trx, { cardId, repositoryId, targetBranch: missingFrom, sha, actorId, releaseId });
    await bringBackSoon(trx, cardId);
  }
}
