import { isDeepStrictEqual } from "node:util";
import { busy, conflict, Problem, requireFound } from "../../errors.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import type { StoredAnswer } from "../../store/ops/idempotency.ts";
import { addJob } from "../../store/db/jobs.ts";
import { findProject, lockProject, type Project } from "../../store/cards/projects.ts";
import {
  findActionOfRequest,
  findOpenAction,
  insertAction,
  isActionOurs,
  letGoOfAction,
  saveProgress,
  settleAction,
  takeOverAction,
  type HeldAction,
  type ReleaseAction,
  type ReleaseActionKind,
} from "../../store/releases/release-actions.ts";
import {
  findRelease,
  holdOpenReleases,
  readRelease,
  type ReleaseHead,
} from "../../store/releases/releases.ts";
import { transaction } from "../../store/db/transaction.ts";
import type { Deps } from "../deps.ts";
import { releaseWithRetry, type Write } from "../write.ts";

/**
 * The current state of a release, held with the project's other open releases until the transaction
 * ends. Throws `not_found` for a deleted release and `conflict` for a completed one.
 */
export async function holdOpenRelease(trx: Trx, release: ReleaseHead): Promise<ReleaseHead> {
  const open = await holdOpenReleases(trx, release.projectId);
  const current = open.find(({ id }) => id === release.id);
  if (current) return current;
  requireFound(await findRelease(trx, release.workspaceId, release.id), "release");
  throw conflict(`The release ${release.name} is completed. What it carried stays as it is.`);
}

/** An action on a release that this process holds. */
export interface RunningAction extends HeldAction {
  readonly kind: ReleaseActionKind;
  readonly actorId: string;
  readonly input: unknown;
  readonly progress: unknown;
}

export type BegunAction =
  | { readonly state: "held"; readonly action: RunningAction }
  /** An earlier try of the same request has finished, or another process runs it. */
  | { readonly state: "finished" | "under_way"; readonly actionId: string }
  | { readonly state: "needless" };

interface ReleaseActionRequest {
  readonly kind: ReleaseActionKind;
  readonly input: unknown;
  readonly cardId?: string;
  readonly actorId: string;
  readonly requestId: string;
}

/**
 * Begins an action on a release, or takes over the same action where no process holds it any more.
 * `isNeeded` runs before a new action begins, with the release held, and may throw as well. Throws
 * busy during another action and `conflict` once the release is completed.
 */
export async function beginReleaseAction(
  deps: Deps,
  trx: Trx,
  release: ReleaseHead,
  request: ReleaseActionRequest,
  isNeeded: (current: ReleaseHead) => Promise<boolean>,
): Promise<BegunAction> {
  await lockProject(trx, release.projectId, "share");
  const earlier = await findActionOfRequest(trx, release.id, request.requestId);
  if (earlier?.state === "done") return { state: "finished", actionId: earlier.id };
  const current = await holdOpenRelease(trx, release);
  const open = await findOpenAction(trx, current.id);
  if (open?.isHeld && open.requestId === request.requestId) return { state: "under_way", actionId: open.id };
  if (open) return { state: "held", action: await takeOverSame(deps, trx, current, open, request) };
  if (!(await isNeeded(current))) return { state: "needless" };
  const id = deps.newId();
  const { kind, input, cardId = null, actorId, requestId } = request;
  const of = { workspaceId: current.workspaceId, releaseId: current.id, cardId };
  await insertAction(trx, { id, ...of, kind, input, actorId, requestId, holder: deps.instanceId });
  return { state: "held", action: { id, attempt: 1, kind, actorId, input, progress: {} } };
}

async function takeOverSame(
  deps: Deps,
  trx: Trx,
  release: ReleaseHead,
  open: ReleaseAction,
  { kind, input, requestId }: ReleaseActionRequest,
): Promise<RunningAction> {
  const isSame = open.kind === kind && isDeepStrictEqual(open.input, input);
  if (open.isHeld || !isSame) throw underWay(release, open);
  const taken = await takeOverAction(trx, open, { holder: deps.instanceId, requestId });
  if (!taken) throw underWay(release, open);
  return { ...open, attempt: taken.attempt };
}

const DOING: Readonly<Record<ReleaseActionKind, string>> = {
  freeze: "is being frozen",
  unfreeze: "is being unfrozen",
  pick: "is having a card picked",
  promote: "is being promoted",
  complete: "is being completed",
};

/** For a release with an unfinished action: it is running, or waits for the forge. */
export const underWay = (
  release: { readonly name: string },
  { kind }: Pick<ReleaseAction, "kind">,
): Problem => busy(`The release ${release.name} ${DOING[kind]}. Try again once that is done.`, 2);

/** Refuses to change a release during an action. The caller holds the release. */
export async function requireIdle(db: Db, release: ReleaseHead): Promise<void> {
  const open = await findOpenAction(db, release.id);
  if (open) throw underWay(release, open);
}

/** An action, its release, and the release's project. */
export interface ReleaseContext {
  readonly release: ReleaseHead;
  readonly project: Project;
  readonly action: RunningAction;
}

/** The result of an action on the forge. */
export type ReleaseOutcome =
  /** `record` stores the result, in the transaction that ends the action. */
  | { readonly state: "done"; readonly record: (trx: Trx, release: ReleaseHead) => Promise<void> }
  | {
      readonly state: "refused";
      readonly message: string;
      readonly body?: Readonly<Record<string, unknown>>;
      /** Stores what the refusal changes, in that transaction. */
      readonly record?: (trx: Trx) => Promise<void>;
    };

/**
 * Does what is left of an action on the forge. Every call is recorded before it is made and safe to
 * repeat. Throws `ForgeUnavailable` when the forge does not answer; a later try continues.
 */
export type CarryOutRelease = (deps: Deps, context: ReleaseContext) => Promise<ReleaseOutcome>;

/**
 * Carries out an action on a release on the forge and answers 200 with the release. Throws
 * `refused` (409) when the forge refuses, busy during another action on the release, and
 * `unavailable` (503) when the forge cannot be reached; a job or the same call continues then.
 */
export async function actOnRelease(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  request: Pick<ReleaseActionRequest, "kind" | "input" | "cardId">,
  carryOut: CarryOutRelease,
  isNeeded: (trx: Trx, current: ReleaseHead) => Promise<boolean>,
): Promise<StoredAnswer> {
  const { trx, userId: actorId, requestId } = write;
  const begun = await beginReleaseAction(deps, trx, release, { ...request, actorId, requestId }, (current) =>
    isNeeded(trx, current),
  );
  if (begun.state === "under_way") throw underWay(release, request);
  if (begun.state !== "held") return write.answer(await readRelease(trx, release.id));
  await commitAction(deps, write, begun.action);
  const ended = await carryOutAndSettle(deps, release, begun.action, carryOut, async (end) =>
    write.answerIn(end, await readRelease(end, release.id)),
  );
  if ("recorded" in ended) return ended.recorded;
  throw new Problem("refused", ended.refused.message, { body: ended.refused.body ?? {} });
}

/** Commits the transaction that began an action. A failed commit releases the action. */
export async function commitAction(deps: Deps, write: Write, action: RunningAction): Promise<void> {
  try {
    await write.commit();
  } catch (error) {
    await releaseWithRetry(deps.log, "an action on a release", () => letGoOfAction(deps.db, action, false));
    throw error;
  }
}

type EndedAction<T> =
  | { readonly recorded: T }
  | { readonly refused: Extract<ReleaseOutcome, { state: "refused" }> };

/** Carries an action out and writes its outcome, in one transaction with what `record` stores. */
export async function carryOutAndSettle<T>(
  deps: Deps,
  head: ReleaseHead,
  action: RunningAction,
  carryOut: CarryOutRelease,
  record: (trx: Trx) => Promise<T>,
): Promise<EndedAction<T>> {
  try {
    const project = await findProject(deps.db, head.workspaceId, head.projectId);
    if (!project) throw new Error(`release ${head.id} without its project`);
    const outcome = await carryOut(deps, { release: head, project, action });
    return await transaction(deps.db, async (trx) => {
      const release = await holdOpenRelease(trx, head);
      const isOurs = await settleAction(trx, action, outcome.state);
      if (!isOurs) throw underWay(release, action);
      if (outcome.state === "refused") {
        await outcome.record?.(trx);
        return { refused: outcome };
      }
      await outcome.record(trx, release);
      return { recorded: await record(trx) };
    });
  } catch (error) {
    await releaseWithRetry(deps.log, "an action on a release", () => letGoOfAction(deps.db, action, true));
    if (!(error instanceof ForgeUnavailable)) throw error;
    throw new Problem(
      "unavailable",
      "The forge could not be reached, so this is not finished. Make the same call again.",
      { retryAfter: error.retryAfter, detail: error.message, cause: error },
    );
  }
}

/** Checked before every writing call to the forge: ends an action that was taken over meanwhile. */
export async function requireOurs(
  deps: Deps,
  { release, action }: Pick<ReleaseContext, "release" | "action">,
): Promise<void> {
  if (!(await isActionOurs(deps.db, action))) throw underWay(release, action);
}

/** Records the result of a call to the forge, unless the action was taken over meanwhile. */
export async function recordAsOurs<T>(
  deps: Deps,
  { release, action }: ReleaseContext,
  record: (trx: Trx) => Promise<T>,
): Promise<T> {
  return transaction(deps.db, async (trx) => {
    if (!(await isActionOurs(trx, action))) throw underWay(release, action);
    return record(trx);
  });
}

export const RESUME_RELEASE_ACTION = "resume-release-action";

/** Schedules the job that resumes an action, once the action is released. */
export const resumeActionSoon = (db: Db, actionId: string, delayMs = 0): Promise<void> =>
  addJob(db, RESUME_RELEASE_ACTION, { actionId }, { key: `${RESUME_RELEASE_ACTION}:${actionId}`, delayMs });

/** Saves how far an action has come, unless the action was taken over meanwhile. */
export async function recordProgress(
  deps: Deps,
  { release, action }: ReleaseContext,
  progress: unknown,
): Promise<void> {
  if (!(await saveProgress(deps.db, action, progress))) throw underWay(release, action);
}

/** Says that the App cannot reach the account of a repository any more. */
export const notInstalled = (repository: { readonly fullName: string } | undefined): string =>
  `The App is not installed on the account of ${repository?.fullName ?? "a repository"} any more. Install it again.`;
