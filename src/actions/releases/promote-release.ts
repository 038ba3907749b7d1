import { setTimeout as sleep } from "node:timers/promises";
import { invalid, Problem, requireFound } from "../../errors.ts";
import { stageOf, type Stage } from "../../flow/flow.ts";
import type { Db } from "../../store/db/connect.ts";
import type { StoredAnswer } from "../../store/ops/idempotency.ts";
import { findProject } from "../../store/cards/projects.ts";
import { findAction, letGoOfAction, settleAction } from "../../store/releases/release-actions.ts";
import { listCardNumbers, mapReleaseCards } from "../../store/releases/release-cards.ts";
import { insertPromotions, readPromotion } from "../../store/releases/release-promotions.ts";
import type { ReleaseHead } from "../../store/releases/releases.ts";
import { transaction } from "../../store/db/transaction.ts";
import { requireRoleFor } from "../boards/flow.ts";
import type { Deps } from "../deps.ts";
import { promoteCards } from "./promote-cards.ts";
import { releaseWithRetry, type Caller, type Write } from "../write.ts";
import {
  beginReleaseAction,
  commitAction,
  resumeActionSoon,
  type BegunAction,
  type RunningAction,
} from "./release-action.ts";
import { requireKnown } from "./releases.ts";

/** Cards that are not moved by then are answered as pending; a job continues with them. */
const ANSWER_WITHIN_MS = 55_000;
/** How long a job runs before it lets other jobs run. */
const SLICE_MS = 20_000;
/** How often a call checks whether the promotion of another call has ended. */
const LOOK_EVERY_MS = 250;

export interface PromoteInput {
  readonly statusId: string;
  /** All cards of the release when left out. */
  readonly taskNumbers?: readonly number[] | undefined;
}

/**
 * Moves cards of a release into a stage, each as a separate move; refused cards stay where
 * they are. Answers 200 with the state of each. Throws `not_found` for a number that no card of the
 * board has and `invalid` for a card that is not in the release, before any card is moved.
 */
export async function promoteRelease(
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  input: PromoteInput,
): Promise<StoredAnswer> {
  requireRoleFor(write, await stageNamed(write.trx, release, input.statusId));
  const until = performance.now() + ANSWER_WITHIN_MS;
  const begun = await begin(deps, write, release, input);
  if (begun.state === "needless") throw new Error("a promotion is never needless");
  if (begun.state === "held") {
    const { log } = deps;
    await commitAction(deps, write, begun.action);
    const working = promoteUntil(deps, release, begun.action, until);
    const isInTime = await Promise.race([
      working.then(() => true),
      sleep(until - performance.now(), false, { ref: false }),
    ]);
    // The answer does not wait for the card that is being moved.
    if (!isInTime) working.catch((error: unknown) => log.error({ err: error }, "a promotion failed"));
  } else {
    await write.commit();
    if (begun.state === "under_way") await ended(deps, write, begun.actionId, until);
  }
  const actionId = begun.state === "held" ? begun.action.id : begun.actionId;
  return transaction(deps.db, async (trx) => write.answerIn(trx, await readPromotion(trx, actionId)));
}

async function stageNamed(db: Db, release: ReleaseHead, statusId: string): Promise<Stage> {
  const found = await findProject(db, release.workspaceId, release.projectId);
  const project = requireFound(found, "release");
  const stage = stageOf(project.flow, statusId);
  if (stage) return stage;
  throw invalid("The release's flow has no stage with this id. GET /v1/board lists the stages.", [
    { path: "body.statusId", message: "not a stage of this release's flow" },
  ]);
}

async function begin(
  deps: Deps,
  { trx, userId: actorId, requestId }: Write,
  release: ReleaseHead,
  { statusId, taskNumbers }: PromoteInput,
): Promise<BegunAction> {
  const input = { statusId, taskNumbers: taskNumbers ?? null };
  const request = { kind: "promote", input, actorId, requestId } as const;
  let cardIds: string[] | null = null;
  const begun = await beginReleaseAction(deps, trx, release, request, async (current) => {
    const cards = await mapReleaseCards(trx, current.id);
    const others = taskNumbers?.filter((number) => !cards.has(number)) ?? [];
    const known = others.length > 0 ? await listCardNumbers(trx, release.workspaceId, others) : new Set();
    requireKnown(others, (number) => known.has(number));
    cardIds = chosenOf(current, cards, taskNumbers);
    return true;
  });
  if (begun.state === "held" && cardIds) await insertPromotions(trx, begun.action.id, cardIds);
  return begun;
}

function chosenOf(
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

/** Promotes until the time is up. A job continues then, or when the forge is reachable again. */
async function promoteUntil(
  deps: Deps,
  release: ReleaseHead,
  action: RunningAction,
  until: number,
): Promise<void> {
  try {
    if (await promoteCards(deps, release, action, until)) {
      await settleAction(deps.db, action, "done");
      return;
    }
    await letGo(deps, action, null);
  } catch (error) {
    const isOutage = error instanceof Problem && error.kind === "unavailable";
    const retryAfter = isOutage ? (error.retryAfter ?? 5) : 1;
    await releaseWithRetry(deps.log, "a promotion", () => letGo(deps, action, retryAfter));
    if (!isOutage) throw error;
    deps.log.warn({ releaseAction: action.id, detail: error.detail }, "a promotion waits for the forge");
  }
}

async function letGo(deps: Deps, action: RunningAction, retryAfter: number | null): Promise<void> {
  await transaction(deps.db, async (trx) => {
    await letGoOfAction(trx, action, retryAfter !== null);
    await resumeActionSoon(trx, action.id, (retryAfter ?? 0) * 1_000);
  });
}

/** Continues a promotion for one slice of time. */
export const goOnPromoting = (deps: Deps, release: ReleaseHead, action: RunningAction): Promise<void> =>
  promoteUntil(deps, release, action, performance.now() + SLICE_MS);

/** Waits for the end of a promotion that another call, or a job, carries out. */
async function ended(deps: Deps, caller: Caller, actionId: string, until: number): Promise<void> {
  while (performance.now() < until) {
    const action = await findAction(deps.db, caller.workspaceId, actionId);
    if (action?.state !== "running") return;
    await sleep(LOOK_EVERY_MS);
  }
}
