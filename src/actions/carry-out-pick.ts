import { z } from "zod";
import { pickBranch, type PickOrder, type PreparedPick } from "../forge/releasing.ts";
import type { RepositoryRef } from "../forge/forge.ts";
import { findCardById } from "../store/cards/cards.ts";
import { listLinks } from "../store/cards/links.ts";
import {
  forgetPickBranches,
  notePickBranch,
  listReleaseBranches,
  type ReleaseBranch,
} from "../store/releases/release-branches.ts";
import { saveProgress } from "../store/releases/release-actions.ts";
import { underWay } from "./begin-release-action.ts";
import type { Deps } from "./deps.ts";
import { planPick, repositoryPick, type PickRefused, type RepositoryPick } from "./plan-pick.ts";
import { recordPick } from "./record-pick.ts";
import { requireOurs, type ReleaseContext, type ReleaseOutcome } from "./release-action.ts";

/** How often a branch that was pushed to meanwhile is begun with anew. */
const MAX_TRIES = 3;

const progressOf = z.object({
  inRepositories: z.array(repositoryPick).optional(),
  /** Why it is being undone, where it is. */
  refused: z.object({ message: z.string(), body: z.record(z.string(), z.unknown()) }).optional(),
});

/** A pick at work: its plan is brought up to date as it goes, and written down at each step. */
interface Work {
  readonly deps: Deps;
  readonly context: ReleaseContext;
  readonly branches: ReadonlyMap<string, ReleaseBranch & { readonly ref: RepositoryRef }>;
  readonly picks: RepositoryPick[];
}

/** Picks a card: plans what, works it out in every repository, and only then moves the branches. */
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
  const { release, action } = context;
  if (!(await saveProgress(deps.db, action, { inRepositories: picks, refused })))
    throw underWay(release, action);
}

function branchOf(
  { branches }: Work,
  { repositoryId }: RepositoryPick,
): ReleaseBranch & { readonly ref: RepositoryRef } {
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

/** Works a pick out, from where the branch stands; null when that is done. */
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
    // Where we left it: if it is elsewhere, the answer says where.
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

/** Moves the branches. One that was pushed to meanwhile is worked out anew. */
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

/** Forgets what was prepared; what cannot be removed now the sweep removes. */
async function drop(work: Work, pick: RepositoryPick, prepared: PreparedPick): Promise<void> {
  const { deps, context } = work;
  await requireOurs(deps, context);
  if (await deps.forge.dropPick(branchOf(work, pick).ref, orderOf(work, pick), prepared))
    await forgetPickBranches(deps.db, [context.action.id], pick.repositoryId);
}

/** Takes back what has landed and forgets what was prepared. A branch that somebody has built upon meanwhile keeps the commits, which is said. */
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
  return {
    state: "refused",
    message: `${refused.message}${left}`,
    body: refused.body,
  };
}
