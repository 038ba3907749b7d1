import { isDeepStrictEqual } from "node:util";
import { busy, conflict, Problem, requireFound } from "../../errors.ts";
import { inaccessibleMessage } from "../../flow/refusal.ts";
import { ForgeLimited, ForgeUnavailable } from "../../forge/values.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { findProject, lockProject, type Project } from "../../store/cards/projects.ts";
import {
  findActionOfRequest,
  findOpenAction,
  insertAction,
  ownsAction,
  freeAction,
  saveProgress,
  finishAction,
  takeOverAction,
  type OwnedAction,
  type ReleaseAction,
  type ReleaseActionKind,
} from "../../store/releases/release-actions.ts";
import {
  findRelease,
  lockOpenReleases,
  readRelease,
  type ReleaseHead,
} from "../../store/releases/releases.ts";
import { transaction } from "../../store/db/transaction.ts";
import { belongToProject, listProjectRepositories, type Repository } from "../../store/forge/repositories.ts";
import type { Deps } from "../deps.ts";
import { unavailable } from "../unavailable.ts";
import { freeWithRetry, type Write } from "../write.ts";
import { mayContinue, NO_LONGER_ALLOWED } from "./may-continue.ts";

/**
 * Reads a release and locks it, with the project's other open releases, until the transaction ends.
 * Throws `not_found` for a deleted release and `conflict` for a completed one.
 */
export async function lockOpenRelease(trx: Trx, release: ReleaseHead): Promise<ReleaseHead> {
  const open = await lockOpenReleases(trx, release.projectId);
  const current = open.find(({ id }) => id === release.id);
  if (current) return current;
  requireFound(await findRelease(trx, release.workspaceId, release.id), "release");
  throw conflict(`The release ${release.name} is completed and cannot be changed.`);
}

/** An action on a release that this process owns. */
export type RunningAction = OwnedAction &
  Pick<ReleaseAction, "kind" | "actorId" | "isHuman" | "input" | "progress">;

export type StartedAction =
  | { readonly state: "started"; readonly action: RunningAction }
  /** An earlier attempt of the same request has finished, or another process runs it. */
  | { readonly state: "finished" | "running_elsewhere"; readonly actionId: string }
  | { readonly state: "not_needed" };

interface ReleaseActionRequest extends Pick<
  ReleaseAction,
  "kind" | "input" | "actorId" | "isHuman" | "requestId"
> {
  readonly cardId?: string;
}

/**
 * Begins an action on a release, or takes over an unfinished one if no process owns it. `isNeeded`
 * runs before a new or changed action begins, with the release locked, and may throw as well. Throws busy
 * during another action and `conflict` if the release is completed.
 */
export async function startReleaseAction(
  deps: Deps,
  trx: Trx,
  release: ReleaseHead,
  request: ReleaseActionRequest,
  isNeeded: (current: ReleaseHead) => Promise<boolean>,
): Promise<StartedAction> {
  await lockProject(trx, release.projectId, "share");
  const earlier = await findActionOfRequest(trx, release.id, request.requestId);
  if (earlier?.state === "done") return { state: "finished", actionId: earlier.id };
  const current = await lockOpenRelease(trx, release);
  const open = await findOpenAction(trx, current.id);
  if (open?.hasLiveOwner && open.requestId === request.requestId)
    return { state: "running_elsewhere", actionId: open.id };
  if (open) {
    if (compareWith(open, request) === "changed" && !open.hasLiveOwner) await isNeeded(current);
    return { state: "started", action: await takeOver(deps, trx, current, open, request) };
  }
  if (!(await isNeeded(current))) return { state: "not_needed" };
  const id = deps.newId();
  const { kind, input, cardId = null, actorId, isHuman, requestId } = request;
  const place = { workspaceId: current.workspaceId, releaseId: current.id, cardId };
  await insertAction(trx, {
    id,
    ...place,
    kind,
    input,
    actorId,
    isHuman,
    requestId,
    holder: deps.instanceId,
  });
  return { state: "started", action: { id, generation: 1, kind, actorId, isHuman, input, progress: {} } };
}

async function takeOver(
  deps: Deps,
  trx: Trx,
  release: ReleaseHead,
  open: ReleaseAction,
  request: ReleaseActionRequest,
): Promise<RunningAction> {
  const { input, requestId } = request;
  const requested = compareWith(open, request);
  const isNewAfterCancel = open.isCancelled && open.requestId !== requestId;
  if (open.hasLiveOwner || requested === "other" || isNewAfterCancel) throw busyRelease(release, open);
  // Whoever changes an unfinished action, or repeats that of a revoked user, becomes its actor.
  const keepsActor = requested === "same" && (await mayContinue(trx, release, open));
  const { actorId, isHuman } = keepsActor ? open : request;
  const by = { holder: deps.instanceId, requestId, input, actorId, isHuman };
  const taken = await takeOverAction(trx, open, by);
  if (!taken) throw busyRelease(release, open);
  return { ...open, input, actorId, isHuman, generation: taken.generation };
}

/** Whether a request is for the unfinished action: with the same input, with a changed one, or not at all. */
function compareWith(
  open: ReleaseAction,
  { kind, input }: ReleaseActionRequest,
): "same" | "changed" | "other" {
  if (open.kind !== kind) return "other";
  if (isDeepStrictEqual(open.input, input)) return "same";
  return mayChangeInput(kind) ? "changed" : "other";
}

/** An interrupted completion may continue with other versions. */
const mayChangeInput = (kind: ReleaseActionKind): boolean => kind === "complete";

const ONGOING: Readonly<Record<ReleaseActionKind, string>> = {
  freeze: "is being frozen",
  unfreeze: "is being unfrozen",
  pick: "is receiving a picked card",
  promote: "is being promoted",
  complete: "is being completed",
};

const UNFINISHED: Readonly<Record<ReleaseActionKind, string>> = {
  freeze: "freezing the release",
  unfreeze: "unfreezing the release",
  pick: "picking the card",
  promote: "promoting the release",
  complete: "completing the release",
};

export const busyRelease = (
  release: { readonly name: string },
  { kind }: Pick<ReleaseAction, "kind">,
): Problem => busy(`The release ${release.name} ${ONGOING[kind]}. Try again after that.`, 2);

/** Throws busy during an action on the release. The caller has locked the release. */
export async function requireIdle(db: Db, release: ReleaseHead): Promise<void> {
  const open = await findOpenAction(db, release.id);
  if (open) throw busyRelease(release, open);
}

export interface ReleaseContext {
  readonly release: ReleaseHead;
  readonly project: Project;
  readonly action: RunningAction;
  /**
   * The message of the refusal if the action's user has lost the right to it: then the action stops
   * and, except for `complete`, is undone. Null otherwise.
   */
  readonly stop: string | null;
}

export type ReleaseOutcome =
  /** `record` runs in the transaction that ends the action. */
  | { readonly state: "done"; readonly record: (trx: Trx, release: ReleaseHead) => Promise<void> }
  | {
      readonly state: "refused";
      readonly message: string;
      readonly body?: Readonly<Record<string, unknown>>;
      readonly record?: (trx: Trx) => Promise<void>;
    };

/**
 * Runs what is left of an action on GitHub. Every write is stored before it is made and can be
 * repeated. Throws `ForgeUnavailable` when GitHub does not respond; a later attempt continues.
 */
export type RunAction = (deps: Deps, context: ReleaseContext) => Promise<ReleaseOutcome>;

/**
 * Runs an action on a release and returns 200 with the release. Throws `refused` (409) when GitHub
 * refuses, busy during another action on the release, and `unavailable` (503) when GitHub cannot be
 * reached: a job or the same call continues the action then.
 */
export async function actOnRelease(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  request: Pick<ReleaseActionRequest, "kind" | "input" | "cardId">,
  run: RunAction,
  isNeeded: (trx: Trx, current: ReleaseHead) => Promise<boolean>,
): Promise<StoredResponse> {
  const { trx, userId: actorId, isHuman, requestId } = write;
  const by = { actorId, isHuman, requestId };
  const begun = await startReleaseAction(deps, trx, release, { ...request, ...by }, (current) =>
    isNeeded(trx, current),
  );
  if (begun.state === "running_elsewhere") throw busyRelease(release, request);
  if (begun.state !== "started") return write.respond(await readRelease(trx, release.id));
  await commitAction(deps, write, begun.action);
  const ended = await runAndFinish(deps, release, begun.action, run, async (end) =>
    write.respondIn(end, await readRelease(end, release.id)),
  );
  if ("recorded" in ended) return ended.recorded;
  throw new Problem("refused", ended.refused.message, { body: ended.refused.body ?? {} });
}

/** Commits the transaction that began an action. If that fails, releases the action. */
export async function commitAction(deps: Deps, write: Write, action: RunningAction): Promise<void> {
  try {
    await write.commit();
  } catch (error) {
    await freeWithRetry(deps.log, "an action on a release", () => freeAction(deps.db, action, false));
    throw error;
  }
}

type EndedAction<T> =
  | { readonly recorded: T }
  | { readonly refused: Extract<ReleaseOutcome, { state: "refused" }> };

/** Runs an action and stores its outcome, in one transaction with what `record` stores. */
export async function runAndFinish<T>(
  deps: Deps,
  head: ReleaseHead,
  action: RunningAction,
  run: RunAction,
  record: (trx: Trx) => Promise<T>,
): Promise<EndedAction<T>> {
  try {
    const project = await findProject(deps.db, head.workspaceId, head.projectId);
    if (!project) throw new Error(`release ${head.id} without its project`);
    const isAllowed = () => mayContinue(deps.db, head, action);
    const stop = (await isAllowed()) ? null : NO_LONGER_ALLOWED;
    const repositoryIds = (await listProjectRepositories(deps.db, project.id)).map(({ id }) => id);
    // The guard does not check the user while an action is undone. It stops the action after a
    // repository has left the project; the action is then resumed without that repository.
    const forge = deps.forge.with({
      mayWrite: async () =>
        (stop !== null || (await isAllowed())) && (await belongToProject(deps.db, project.id, repositoryIds)),
    });
    const outcome = await run({ ...deps, forge }, { release: head, project, action, stop });
    return await transaction(deps.db, async (trx) => {
      const release = await lockOpenRelease(trx, head);
      const isOurs = await finishAction(trx, action, outcome.state);
      if (!isOurs) throw busyRelease(release, action);
      if (outcome.state === "refused") {
        await outcome.record?.(trx);
        return { refused: outcome };
      }
      await outcome.record(trx, release);
      return { recorded: await record(trx) };
    });
  } catch (error) {
    const hasFailed = !(error instanceof ForgeLimited);
    await freeWithRetry(deps.log, "an action on a release", () => freeAction(deps.db, action, hasFailed));
    if (!(error instanceof ForgeUnavailable)) throw error;
    throw unavailable(error, UNFINISHED[action.kind]);
  }
}

/** Called before every write on GitHub. Throws busy if the action was taken over. */
export async function requireOwned(
  deps: Deps,
  { release, action }: Pick<ReleaseContext, "release" | "action">,
): Promise<void> {
  if (!(await ownsAction(deps.db, action))) throw busyRelease(release, action);
}

/** Records the effect of a call to GitHub. Throws busy if the action was taken over. */
export async function recordIfOwned<T>(
  deps: Deps,
  { release, action }: ReleaseContext,
  record: (trx: Trx) => Promise<T>,
): Promise<T> {
  return transaction(deps.db, async (trx) => {
    if (!(await ownsAction(trx, action))) throw busyRelease(release, action);
    return record(trx);
  });
}

/** Schedules the job that continues an action. */
export const resumeActionSoon = (
  db: Db,
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  delayMs = 0,
): Promise<void> =>
  schedule(db, JOBS.resumeReleaseAction, { actionId: id, boardId: workspaceId }, { delayMs });

/** Throws busy if the action was taken over. */
export async function saveActionProgress(
  deps: Deps,
  { release, action }: ReleaseContext,
  progress: unknown,
): Promise<void> {
  if (!(await saveProgress(deps.db, action, progress))) throw busyRelease(release, action);
}

export const lacksBranch = ({ name }: { readonly name: string }, fullName: string): string =>
  `The release ${name} has no branch in ${fullName}. Freeze it again to create one there.`;

/** Why a repository of a release cannot be used; undefined if it has left the project. */
export const unusableMessage = (repository: Pick<Repository, "fullName" | "broken"> | undefined): string =>
  repository
    ? inaccessibleMessage(repository)
    : "A repository of the release does not belong to its project any more. Add it again.";
