import { setTimeout as sleep } from "node:timers/promises";
import { invalid, Problem, requireFound } from "../../errors.ts";
import { stageOf, type Stage } from "../../flow/flow.ts";
import type { Db } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findProject } from "../../store/cards/projects.ts";
import { findOperation, finishOperation, freeOperation } from "../../store/ops/operations.ts";
import { listCardNumbers, mapReleaseCards } from "../../store/releases/release-cards.ts";
import { insertPromotions, readPromotion } from "../../store/releases/release-promotions.ts";
import type { ReleaseHead } from "../../store/releases/releases.ts";
import { transaction } from "../../store/db/transaction.ts";
import { noSuchStage, requireRoleFor } from "../moves/may-enter.ts";
import type { Deps } from "../deps.ts";
import { promoteCards } from "./promote-cards.ts";
import { commitStart, isFailure, resumeSoon } from "../lease.ts";
import { freeWithRetry, type Caller, type Write } from "../write.ts";
import { startReleaseOperation, type StartedOperation, type RunningOperation } from "./release-operation.ts";
import { requireKnown } from "./releases.ts";

/** Cards that are not moved by then are returned as pending; a job moves them. */
const RESPOND_WITHIN_MS = 55_000;
/** How long one job runs. */
const JOB_RUN_MS = 20_000;
/** How often a call checks whether the promotion that another call runs has ended. */
const CHECK_EVERY_MS = 250;

interface PromoteInput {
  readonly statusId: string;
  /** Defaults to all cards of the release. */
  readonly taskNumbers?: readonly number[] | undefined;
}

/**
 * Moves cards of a release into a stage, each as a separate move; refused cards stay where they
 * are. Returns 200 with the state of each card. Throws `not_found` for a number that no card of the
 * board has and `invalid` for a card that is not in the release, before any card is moved.
 */
export async function promoteRelease(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  input: PromoteInput,
): Promise<StoredResponse> {
  requireRoleFor(write, await findStage(write.trx, release, input.statusId));
  const until = performance.now() + RESPOND_WITHIN_MS;
  const begun = await beginPromotion(deps, write, release, input);
  if (begun.state === "not_needed") throw new Error("a promotion is always needed");
  if (begun.state === "started") {
    await commitStart(deps, write, begun.operation);
    const promoting = promoteUntil(deps, release, begun.operation, until);
    const isInTime = await Promise.race([
      promoting.then(() => true),
      sleep(until - performance.now(), false, { ref: false }),
    ]);
    // The response does not wait for the card that is being moved.
    if (!isInTime) promoting.catch((error: unknown) => deps.log.error({ err: error }, "a promotion failed"));
  } else {
    await write.commit();
    if (begun.state === "running_elsewhere") await waitForEnd(deps, write, begun.operationId, until);
  }
  const operationId = begun.state === "started" ? begun.operation.id : begun.operationId;
  return transaction(deps.db, async (trx) => write.respondIn(trx, await readPromotion(trx, operationId)));
}

async function findStage(db: Db, release: ReleaseHead, statusId: string): Promise<Stage> {
  const found = await findProject(db, release.workspaceId, release.projectId);
  const project = requireFound(found, "release");
  const stage = stageOf(project.flow, statusId);
  if (stage) return stage;
  throw noSuchStage("release");
}

async function beginPromotion(
  deps: Deps,
  { trx, userId: actorId, isHuman, requestId }: Write,
  release: ReleaseHead,
  { statusId, taskNumbers }: PromoteInput,
): Promise<StartedOperation> {
  const input = { statusId, taskNumbers: taskNumbers ?? null };
  const request = { kind: "promote", input, actorId, isHuman, requestId } as const;
  let cardIds: string[] | null = null;
  const begun = await startReleaseOperation(deps, trx, release, request, async (current) => {
    const cards = await mapReleaseCards(trx, current.id);
    const others = taskNumbers?.filter((number) => !cards.has(number)) ?? [];
    const known = others.length > 0 ? await listCardNumbers(trx, release.workspaceId, others) : new Set();
    requireKnown(others, (number) => known.has(number));
    cardIds = cardIdsOf(current, cards, taskNumbers);
    return true;
  });
  if (begun.state === "started" && cardIds) await insertPromotions(trx, begun.operation.id, cardIds);
  return begun;
}

function cardIdsOf(
  { name }: ReleaseHead,
  cards: ReadonlyMap<number, string>,
  numbers: readonly number[] | undefined,
): string[] {
  if (!numbers) return [...cards.values()];
  const issues = numbers.flatMap((number, at) =>
    cards.has(number)
      ? []
      : [{ path: `body.taskNumbers.${at}`, message: `card ${number} is not in the release ${name}` }],
  );
  const [first] = issues;
  if (first) throw invalid(`${first.path}: ${first.message}`, issues.slice(0, 50));
  return [...new Set(numbers)].flatMap((number) => cards.get(number) ?? []);
}

/** Promotes until `until`. A job does the rest, then or when GitHub can be reached again. */
async function promoteUntil(
  deps: Deps,
  release: ReleaseHead,
  operation: RunningOperation,
  until: number,
): Promise<void> {
  try {
    if (await promoteCards(deps, release, operation, until)) {
      await finishOperation(deps.db, operation, "done");
      return;
    }
    await freeAndResumeSoon(deps, operation, { hasFailed: false, retryAfter: 0 });
  } catch (error) {
    const isOutage = error instanceof Problem && error.kind === "unavailable";
    const retryAfter = isOutage ? (error.retryAfter ?? 5) : 1;
    const free = () => freeAndResumeSoon(deps, operation, { hasFailed: isFailure(error), retryAfter });
    await freeWithRetry(deps.log, "a promotion", free);
    if (!isOutage) throw error;
    deps.log.warn({ operation: operation.id, detail: error.detail }, "a promotion waits for GitHub");
  }
}

async function freeAndResumeSoon(
  deps: Deps,
  operation: RunningOperation,
  { hasFailed, retryAfter }: { readonly hasFailed: boolean; readonly retryAfter: number },
): Promise<void> {
  await transaction(deps.db, async (trx) => {
    await freeOperation(trx, operation, hasFailed);
    await resumeSoon(trx, operation, retryAfter * 1_000);
  });
}

export const resumePromotion = (
  deps: Deps,
  release: ReleaseHead,
  operation: RunningOperation,
): Promise<void> => promoteUntil(deps, release, operation, performance.now() + JOB_RUN_MS);

/** Waits for the end of a promotion that another call or a job runs. */
async function waitForEnd(deps: Deps, caller: Caller, operationId: string, until: number): Promise<void> {
  while (performance.now() < until) {
    const operation = await findOperation(deps.db, caller.workspaceId, operationId);
    if (operation?.state !== "running") return;
    await sleep(CHECK_EVERY_MS);
  }
}
