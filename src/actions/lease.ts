/**
 * Who runs an operation. A process owns it from its start, or from a takeover, until it ends it or
 * frees it. If the process dies, the heartbeat of another one finds the operation and a job resumes it.
 */
import { Problem } from "../errors.ts";
import { ForgeLimited } from "../forge/values.ts";
import type { Db } from "../store/db/connect.ts";
import { JOBS, schedule } from "../store/jobs.ts";
import {
  freeOperation,
  takeOverOperation,
  type Operation,
  type OwnedOperation,
} from "../store/ops/operations.ts";
import { continueAttempt } from "./attempt.ts";
import type { Deps } from "./deps.ts";
import { freeWithRetry, type Write } from "./write.ts";

/** After so many failures in a row, outages included, the next unexpected error abandons an operation. */
const MAX_FAILURES = 8;
/** After so many crashes in a row an operation is abandoned and a delivery parked. */
export const MAX_CRASHES = 5;

/** Runs an operation that this process owns. If that throws, frees it, so that a retry or a job continues it. */
export async function runOrFree<T>(
  { db, log }: Pick<Deps, "db" | "log">,
  operation: OwnedOperation,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    await freeWithRetry(log, "an operation", () => freeOperation(db, operation, isFailure(error)));
    throw error;
  }
}

/** A limit of GitHub is no failure. */
export const isFailure = (error: unknown): boolean =>
  !(error instanceof ForgeLimited || (error instanceof Problem && error.cause instanceof ForgeLimited));

/** Commits the transaction of the request that began an operation. */
export const commitStart = (deps: Deps, write: Write, operation: OwnedOperation): Promise<void> =>
  runOrFree(deps, operation, () => write.commit());

/** Schedules the job that continues an operation. */
export const resumeSoon = (
  db: Db,
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  delayMs = 0,
): Promise<void> =>
  schedule(db, JOBS.resumeOperation, { operationId: id, boardId: workspaceId }, { delayMs });

/** What continues one kind of operation. */
interface Resumption<T extends Operation> {
  /** Runs it to its end, or frees it and throws. */
  readonly run: (deps: Deps, operation: T) => Promise<unknown>;
  /** Ends it because of repeated errors. `why` is a sentence for people. */
  readonly abandon: (operation: T, why: string) => Promise<unknown>;
}

/** Takes over an operation without a live owner and runs it. Abandons it after repeated errors. */
export async function resume<T extends Operation>(
  deps: Deps,
  operation: T,
  { run, abandon }: Resumption<T>,
): Promise<void> {
  const { id, kind, failures } = operation;
  const log = deps.log.child({ operation: id, kind });
  const taken = await takeOverOperation(deps.db, operation, { holder: deps.instanceId });
  if (!taken) return;
  const { generation, crashes } = taken;
  const owned: T = { ...operation, generation };
  if (crashes >= MAX_CRASHES) {
    await abandon(owned, `The service ended ${crashes} times in a row while it ran this ${kind}.`);
    log.error({ generation, crashes, isAbandoned: true }, "abandoned an operation after repeated crashes");
    return;
  }
  try {
    const outcome = await continueAttempt(deps, operation.attemptId, (own) => run(own, owned));
    log.info({ outcome }, "resumed an unfinished operation");
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ problem: error.kind, reason: error.message }, "an operation is still unfinished");
      return;
    }
    const isAbandoned = failures >= MAX_FAILURES;
    log.error({ err: error, generation, failures, isAbandoned }, "resuming an operation failed");
    if (isAbandoned) await abandon(owned, `This ${kind} failed repeatedly with an internal error.`);
  }
}
