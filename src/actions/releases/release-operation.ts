import { isDeepStrictEqual } from "node:util";
import { busy, conflict, Problem, requireFound } from "../../errors.ts";
import { inaccessibleMessage } from "../../flow/refusal.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findProject, lockProject, type Project } from "../../store/cards/projects.ts";
import {
  finishOperation,
  insertOperation,
  ownsOperation,
  saveProgress,
  takeOverOperation,
  type ReleaseOperation,
  type ReleaseOperationKind,
} from "../../store/ops/operations.ts";
import { findOpenOperation, findOperationOfRequest } from "../../store/releases/release-operations.ts";
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
import { commitStart, runOrFree } from "../lease.ts";
import type { Write } from "../write.ts";
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

/** An operation on a release that this process owns. */
export type RunningOperation = Pick<
  ReleaseOperation,
  "id" | "generation" | "workspaceId" | "kind" | "actorId" | "isHuman" | "input" | "progress"
>;

export type StartedOperation =
  | { readonly state: "started"; readonly operation: RunningOperation }
  /** An earlier attempt of the same request has finished, or another process runs it. */
  | { readonly state: "finished" | "running_elsewhere"; readonly operationId: string }
  | { readonly state: "not_needed" };

interface ReleaseOperationRequest extends Pick<ReleaseOperation, "kind" | "input" | "actorId" | "isHuman"> {
  readonly requestId: string;
  /** The card of a pick. */
  readonly pickedCardId?: string;
}

/**
 * Begins an operation on a release, or takes over an unfinished one if no process owns it. `isNeeded`
 * runs before a new or changed operation begins, with the release locked, and may throw as well. Throws busy
 * during another operation and `conflict` if the release is completed.
 */
export async function startReleaseOperation(
  deps: Deps,
  trx: Trx,
  release: ReleaseHead,
  request: ReleaseOperationRequest,
  isNeeded: (current: ReleaseHead) => Promise<boolean>,
): Promise<StartedOperation> {
  await lockProject(trx, release.projectId, "share");
  const earlier = await findOperationOfRequest(trx, release.id, request.requestId);
  if (earlier?.state === "done") return { state: "finished", operationId: earlier.id };
  const current = await lockOpenRelease(trx, release);
  const open = await findOpenOperation(trx, current.id);
  if (open?.hasLiveOwner && open.requestId === request.requestId)
    return { state: "running_elsewhere", operationId: open.id };
  if (open) {
    if (compareWith(open, request) === "changed" && !open.hasLiveOwner) await isNeeded(current);
    return { state: "started", operation: await takeOver(deps, trx, current, open, request) };
  }
  if (!(await isNeeded(current))) return { state: "not_needed" };
  const { workspaceId, id: releaseId } = current;
  const { kind, input, actorId, isHuman } = request;
  const begun = { id: deps.newId(), workspaceId, kind, input, actorId, isHuman };
  await insertOperation(trx, { ...request, ...begun, releaseId, holder: deps.instanceId });
  return { state: "started", operation: { ...begun, generation: 1, progress: {} } };
}

async function takeOver(
  deps: Deps,
  trx: Trx,
  release: ReleaseHead,
  open: ReleaseOperation,
  request: ReleaseOperationRequest,
): Promise<RunningOperation> {
  const { input, requestId } = request;
  const requested = compareWith(open, request);
  const isNewAfterCancel = open.isCancelled && open.requestId !== requestId;
  if (open.hasLiveOwner || requested === "other" || isNewAfterCancel) throw busyRelease(release, open);
  // Whoever changes an unfinished operation, or repeats that of a revoked user, becomes its actor.
  const keepsActor = requested === "same" && (await mayContinue(trx, release, open));
  const { actorId, isHuman } = keepsActor ? open : request;
  const by = { holder: deps.instanceId, requestId, input, actorId, isHuman };
  const taken = await takeOverOperation(trx, open, by);
  if (!taken) throw busyRelease(release, open);
  return { ...open, input, actorId, isHuman, generation: taken.generation };
}

/** Whether a request is for the unfinished operation: with the same input, with a changed one, or not at all. */
function compareWith(
  open: ReleaseOperation,
  { kind, input }: ReleaseOperationRequest,
): "same" | "changed" | "other" {
  if (open.kind !== kind) return "other";
  if (isDeepStrictEqual(open.input, input)) return "same";
  return mayChangeInput(kind) ? "changed" : "other";
}

/** An interrupted completion may continue with other versions. */
const mayChangeInput = (kind: ReleaseOperationKind): boolean => kind === "complete";

const ONGOING: Readonly<Record<ReleaseOperationKind, string>> = {
  freeze: "is being frozen",
  unfreeze: "is being unfrozen",
  pick: "is receiving a picked card",
  promote: "is being promoted",
  complete: "is being completed",
};

const UNFINISHED: Readonly<Record<ReleaseOperationKind, string>> = {
  freeze: "freezing the release",
  unfreeze: "unfreezing the release",
  pick: "picking the card",
  promote: "promoting the release",
  complete: "completing the release",
};

export const busyRelease = (
  release: { readonly name: string },
  { kind }: Pick<ReleaseOperation, "kind">,
): Problem => busy(`The release ${release.name} ${ONGOING[kind]}. Try again after that.`, 2);

/** Throws busy during an operation on the release. The caller has locked the release. */
export async function requireIdle(db: Db, release: ReleaseHead): Promise<void> {
  const open = await findOpenOperation(db, release.id);
  if (open) throw busyRelease(release, open);
}

export interface ReleaseContext {
  readonly release: ReleaseHead;
  readonly project: Project;
  readonly operation: RunningOperation;
  /**
   * The message of the refusal if the operation's user has lost the right to it: then the operation stops
   * and, except for `complete`, is undone. Null otherwise.
   */
  readonly stop: string | null;
}

export type ReleaseOutcome =
  /** `record` runs in the transaction that ends the operation. */
  | { readonly state: "done"; readonly record: (trx: Trx, release: ReleaseHead) => Promise<void> }
  | {
      readonly state: "refused";
      readonly message: string;
      readonly body?: Readonly<Record<string, unknown>>;
      readonly record?: (trx: Trx) => Promise<void>;
    };

/**
 * Runs what is left of an operation on GitHub. Every write is stored before it is made and can be
 * repeated. Throws `ForgeUnavailable` when GitHub does not respond; a later attempt continues.
 */
export type RunReleaseOperation = (deps: Deps, context: ReleaseContext) => Promise<ReleaseOutcome>;

/**
 * Runs an operation on a release and returns 200 with the release. Throws `refused` (409) when GitHub
 * refuses, busy during another operation on the release, and `unavailable` (503) when GitHub cannot be
 * reached: a job or the same call continues the operation then.
 */
export async function operateOnRelease(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  request: Pick<ReleaseOperationRequest, "kind" | "input" | "pickedCardId">,
  run: RunReleaseOperation,
  isNeeded: (trx: Trx, current: ReleaseHead) => Promise<boolean>,
): Promise<StoredResponse> {
  const { trx, userId: actorId, isHuman, requestId } = write;
  const by = { actorId, isHuman, requestId };
  const begun = await startReleaseOperation(deps, trx, release, { ...request, ...by }, (current) =>
    isNeeded(trx, current),
  );
  if (begun.state === "running_elsewhere") throw busyRelease(release, request);
  if (begun.state !== "started") return write.respond(await readRelease(trx, release.id));
  await commitStart(deps, write, begun.operation);
  const ended = await runAndFinish(deps, release, begun.operation, run, async (end) =>
    write.respondIn(end, await readRelease(end, release.id)),
  );
  if ("recorded" in ended) return ended.recorded;
  throw new Problem("refused", ended.refused.message, { body: ended.refused.body ?? {} });
}

type EndedOperation<T> =
  | { readonly recorded: T }
  | { readonly refused: Extract<ReleaseOutcome, { state: "refused" }> };

/** Runs an operation and stores its outcome, in one transaction with what `record` stores. */
export async function runAndFinish<T>(
  deps: Deps,
  head: ReleaseHead,
  operation: RunningOperation,
  run: RunReleaseOperation,
  record: (trx: Trx) => Promise<T>,
): Promise<EndedOperation<T>> {
  try {
    return await runOrFree(deps, operation, async () => {
      const outcome = await runGuarded(deps, head, operation, run);
      return transaction(deps.db, async (trx) => {
        const release = await lockOpenRelease(trx, head);
        if (!(await finishOperation(trx, operation, outcome.state))) throw busyRelease(release, operation);
        if (outcome.state === "refused") {
          await outcome.record?.(trx);
          return { refused: outcome };
        }
        await outcome.record(trx, release);
        return { recorded: await record(trx) };
      });
    });
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    throw unavailable(error, UNFINISHED[operation.kind]);
  }
}

/**
 * Runs an operation. It writes on GitHub only while its user may do that, and stops after a repository
 * has left the project; then it is resumed without that repository.
 */
async function runGuarded(
  deps: Deps,
  release: ReleaseHead,
  operation: RunningOperation,
  run: RunReleaseOperation,
): Promise<ReleaseOutcome> {
  const project = await findProject(deps.db, release.workspaceId, release.projectId);
  if (!project) throw new Error(`release ${release.id} without its project`);
  const isAllowed = () => mayContinue(deps.db, release, operation);
  const stop = (await isAllowed()) ? null : NO_LONGER_ALLOWED;
  const repositoryIds = (await listProjectRepositories(deps.db, project.id)).map(({ id }) => id);
  // The guard does not check the user while an operation is undone.
  const forge = deps.forge.with({
    mayWrite: async () =>
      (stop !== null || (await isAllowed())) && (await belongToProject(deps.db, project.id, repositoryIds)),
  });
  return run({ ...deps, forge }, { release, project, operation, stop });
}

/** Called before every write on GitHub. Throws busy if the operation was taken over. */
export async function requireOwned(
  deps: Deps,
  { release, operation }: Pick<ReleaseContext, "release" | "operation">,
): Promise<void> {
  if (!(await ownsOperation(deps.db, operation))) throw busyRelease(release, operation);
}

/** Records the effect of a call to GitHub. Throws busy if the operation was taken over. */
export async function recordIfOwned<T>(
  deps: Deps,
  { release, operation }: ReleaseContext,
  record: (trx: Trx) => Promise<T>,
): Promise<T> {
  return transaction(deps.db, async (trx) => {
    if (!(await ownsOperation(trx, operation))) throw busyRelease(release, operation);
    return record(trx);
  });
}

/** Throws busy if the operation was taken over. */
export async function saveOperationProgress(
  deps: Deps,
  { release, operation }: ReleaseContext,
  progress: unknown,
): Promise<void> {
  if (!(await saveProgress(deps.db, operation, progress))) throw busyRelease(release, operation);
}

export const lacksBranch = ({ name }: { readonly name: string }, fullName: string): string =>
  `The release ${name} has no branch in ${fullName}. Freeze it again to create one there.`;

/** Why a repository of a release cannot be used; undefined if it has left the project. */
export const unusableMessage = (repository: Pick<Repository, "fullName" | "broken"> | undefined): string =>
  repository
    ? inaccessibleMessage(repository)
    : "A repository of the release does not belong to its project any more. Add it again.";
