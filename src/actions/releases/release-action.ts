import { isDeepStrictEqual } from "node:util";
import { busy, conflict, notFound, Problem } from "../../errors.ts";
import { ForgeUnavailable } from "../../forge/forge.ts";
import type { Db, Trx } from "../../store/connect.ts";
import type { StoredAnswer } from "../../store/idempotency.ts";
import { addJob } from "../../store/jobs.ts";
import { findProject, lockProject, type Project } from "../../store/projects.ts";
import {
  findActionOfRequest,
  findOpenAction,
  insertAction,
  isActionOurs,
  letGoOfAction,
  settleAction,
  takeOverAction,
  type HeldAction,
  type ReleaseAction,
  type ReleaseActionKind,
} from "../../store/release-actions.ts";
import { findRelease, holdOpenReleases, readRelease, type ReleaseHead } from "../../store/releases.ts";
import { transaction } from "../../store/transaction.ts";
import type { Deps } from "../deps.ts";
import { releaseWithRetry } from "../release-with-retry.ts";
import type { Write } from "../write.ts";

/**
 * A release as it is now, held with the project's other open ones until the transaction ends. Throws `not_found` once it is gone and
 * `conflict` once it is completed.
 */
export async function holdOpenRelease(trx: Trx, release: ReleaseHead): Promise<ReleaseHead> {
  const open = await holdOpenReleases(trx, release.projectId);
  const current = open.find(({ id }) => id === release.id);
  if (current) return current;
  if (await findRelease(trx, release.workspaceId, release.id)) {
    throw conflict(`The release ${release.name} is completed. What it carried stays as it is.`);
  }
  throw noRelease();
}

export const noRelease = (): Error => notFound("There is no release with this id on this board.");

/** An action on a release that this process holds. */
export interface RunningAction extends HeldAction {
  readonly kind: ReleaseActionKind;
  readonly actorId: string;
  readonly input: unknown;
  readonly progress: unknown;
}

export type BegunAction =
  | { readonly state: "held"; readonly action: RunningAction }
  /** An earlier try of the same request got through, or another process is at work on it. */
  | { readonly state: "finished" | "under_way"; readonly actionId: string }
  | { readonly state: "needless" };

export interface ReleaseActionRequest {
  readonly kind: ReleaseActionKind;
  readonly input: unknown;
  readonly cardId?: string;
  readonly actorId: string;
  readonly requestId: string;
}

/**
 * Makes the caller the one who is at work on a release. The same action that nobody is at work on any more is taken over, with what it
 * came to; any other has to end first. `isNeeded` is asked before a new one is begun, with the release held: it may refuse as well. Throws busy while something else is under way, `conflict` once the release is completed.
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
  await insertAction(trx, {
    id,
    workspaceId: current.workspaceId,
    releaseId: current.id,
    kind: request.kind,
    input: request.input,
    cardId: request.cardId ?? null,
    actorId: request.actorId,
    requestId: request.requestId,
    holder: deps.instanceId,
  });
  const { kind, actorId, input } = request;
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

/** Something else is being done to the release, or waits for the forge to be reached again. */
export const underWay = (
  release: { readonly name: string },
  { kind }: Pick<ReleaseAction, "kind">,
): Problem => busy(`The release ${release.name} ${DOING[kind]}. Try again once that is done.`, 2);

/** Refuses to touch a release something is being done to. The release is held by the caller. */
export async function requireIdle(db: Db, release: ReleaseHead): Promise<void> {
  const open = await findOpenAction(db, release.id);
  if (open) throw underWay(release, open);
}

/** What an action on a release works with. */
export interface ReleaseContext {
  readonly release: ReleaseHead;
  readonly project: Project;
  readonly action: RunningAction;
}

/** What doing it on the forge came to. */
export type ReleaseOutcome =
  /** `record` writes it, in the transaction that ends the action. */
  | { readonly state: "done"; readonly record: (trx: Trx, release: ReleaseHead) => Promise<void> }
  | {
      readonly state: "refused";
      readonly message: string;
      readonly body?: Readonly<Record<string, unknown>>;
      /** Writes what the refusal leaves. */
      readonly record?: (trx: Trx) => Promise<void>;
    };

/**
 * Does on the forge what is left to do. Everything it does is safe to be done again, and written down before. Throws `ForgeUnavailable` when
 * the forge did not say: a later try goes on.
 */
export type CarryOutRelease = (deps: Deps, context: ReleaseContext) => Promise<ReleaseOutcome>;

/**
 * Does something to a release on the forge, and answers 200 with the release. Throws `refused` (409) when the forge refuses, busy while
 * something else is being done to the release, `unavailable` (503) when the forge cannot be reached; it is gone on with then.
 */
export async function actOnRelease(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  request: Pick<ReleaseActionRequest, "kind" | "input" | "cardId">,
  carryOut: CarryOutRelease,
  begin: {
    readonly first?: (trx: Trx) => Promise<void>;
    readonly isNeeded: (trx: Trx, current: ReleaseHead) => Promise<boolean>;
  },
): Promise<StoredAnswer> {
  const { trx, userId: actorId, requestId } = write;
  // The project, then cards, then releases: the order of everybody who needs several of them.
  await lockProject(trx, release.projectId, "share");
  await begin.first?.(trx);
  const begun = await beginReleaseAction(deps, trx, release, { ...request, actorId, requestId }, (current) =>
    begin.isNeeded(trx, current),
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

/** Commits the transaction that began an action. Where the outcome of that is unknown, the action is released. */
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

/** Asked before every writing call to the forge: an action that was taken over meanwhile goes no further. */
export async function requireOurs(deps: Deps, { release, action }: ReleaseContext): Promise<void> {
  if (!(await isActionOurs(deps.db, action))) throw underWay(release, action);
}

/** Writes down what came of a call to the forge: whoever has taken the action over meanwhile knows better by now. */
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

/** Asks for an action on a release to be gone on with, once it is let go of. */
export const resumeActionSoon = (db: Db, actionId: string, delayMs = 0): Promise<void> =>
  addJob(db, RESUME_RELEASE_ACTION, { actionId }, { key: `${RESUME_RELEASE_ACTION}:${actionId}`, delayMs });
