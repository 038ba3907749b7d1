import { Problem } from "../errors.ts";
import { ForgeUnavailable } from "../forge/forge.ts";
import type { Trx } from "../store/db/connect.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import { findProject, lockProject, type Project } from "../store/cards/projects.ts";
import { isActionOurs, letGoOfAction, settleAction } from "../store/releases/release-actions.ts";
import { readRelease, type ReleaseHead } from "../store/releases/releases.ts";
import {
  beginReleaseAction,
  underWay,
  type ReleaseActionRequest,
  type RunningAction,
} from "./begin-release-action.ts";
import type { Deps } from "./deps.ts";
import { releaseWithRetry } from "./release-with-retry.ts";
import { holdOpenRelease } from "./hold-release.ts";
import type { Write } from "./write.ts";
import { transaction } from "../store/db/transaction.ts";

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
