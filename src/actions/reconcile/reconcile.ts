import { setTimeout as sleep } from "node:timers/promises";
import { CONNECTION_MESSAGES } from "../../flow/refusal.ts";
import { BRANCHES_PER_CALL, type InspectedPullRequest } from "../../forge/pull-requests.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { findCardById } from "../../store/cards/cards.ts";
import { isBranchTaken } from "../../store/forge/branches.ts";
import { readClock } from "../../store/forge/installations.ts";
import { branchKey, deleteInboxItems } from "../../store/inbox/stored-items.ts";
import {
  saveComparisonPlace,
  listBranchesToCompare,
  listUnconfirmedBranches,
  listOrganizationsToCompare,
  markReconciled,
  deferIfUnreachable,
  type ComparisonPlace,
  type KnownBranch,
} from "../../store/ops/reconciling.ts";
import type { Deps } from "../deps.ts";
import { inspectBranches } from "../inspect-branches.ts";
import { foundEvents, type ShownBranch, type InspectionTime } from "../events/found-events.ts";
import { handleEvent } from "../events/handle-event.ts";
import { recordBranchCreated } from "../moves/record-effects.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { RETRY_AFTER_S } from "../trunks/follow-trunk.ts";

interface Pace {
  /**
   * The minimum age of a change in milliseconds. Newer changes are not compared, because GitHub's
   * reads may lag behind its webhooks.
   */
  readonly minAgeMs: number;
  /** The pause between two calls to GitHub. */
  readonly pauseMs: number;
}

const PACE: Pace = { minAgeMs: 60_000, pauseMs: 1_000 };

/**
 * GitHub charges one point per 100 lists, and gives an installation 5,000 points per hour. A branch
 * needs 8 lists (two of pull requests, the checks of 5 pull requests, and the conversation of one),
 * so a call for 25 branches costs 2 points.
 */
const PULL_REQUESTS = 5;
/** 1,000 branches: 80 points, less than 2 % of an hour's. The next run compares the others. */
const MAX_CALLS = 40;
/** How many unconfirmed branches one run looks up. Each needs a call. */
const UNCONFIRMED_PER_RUN = 25;

/**
 * Compares branches, pull requests, checks, comments and reviews of unfinished cards with GitHub,
 * and records what no webhook has reported, with the same natural keys as the webhook's handler.
 * Gives cards the branches that were created for them without a confirmation. An account that
 * cannot be reached is compared later. `organizationId` restricts it to one account.
 */
export async function reconcile(
  deps: Deps,
  {
    minAgeMs = PACE.minAgeMs,
    pauseMs = PACE.pauseMs,
    organizationId,
  }: {
    readonly minAgeMs?: number | undefined;
    readonly pauseMs?: number;
    readonly organizationId?: string | undefined;
  } = {},
): Promise<void> {
  const pace = { minAgeMs, pauseMs };
  for (const { id, from, isReachable } of await listOrganizationsToCompare(deps.db, organizationId ?? null)) {
    const retryAfter = isReachable ? await tryToReconcile(deps, id, from, pace) : 0;
    if (retryAfter === null) continue;
    // An account that refuses the App is compared when it accepts the App again.
    const isReachableNow = !(await deferIfUnreachable(deps.db, id, minAgeMs));
    if (isReachableNow)
      await schedule(
        deps.db,
        JOBS.reconcile,
        { organizationId: id, minAgeMs },
        { delayMs: Math.max(retryAfter, RETRY_AFTER_S) * 1_000 },
      );
  }
}

/** Null when done, else the seconds until GitHub may be asked again. */
async function tryToReconcile(
  deps: Deps,
  organizationId: string,
  from: ComparisonPlace | null,
  pace: Pace,
): Promise<number | null> {
  try {
    await recordUnconfirmedBranches(deps, organizationId, pace.minAgeMs);
    await reconcileOrganization(deps, organizationId, from, pace);
    return null;
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    deps.log.warn({ err: error, organizationId }, "an account could not be compared with GitHub");
    return error.retryAfter;
  }
}

/**
 * Gives cards the branches that were created for them without a confirmation, except while a move
 * of the card runs. Throws `ForgeUnavailable`.
 */
async function recordUnconfirmedBranches(
  deps: Deps,
  organizationId: string,
  minAgeMs: number,
): Promise<void> {
  const unconfirmed = await listUnconfirmedBranches(deps.db, organizationId, {
    minAgeMs,
    limit: UNCONFIRMED_PER_RUN,
  });
  if (!unconfirmed) throw new ForgeUnavailable(CONNECTION_MESSAGES.refused);
  for (const { cardId, actorId, repositoryId, forgeRef, branchName } of unconfirmed) {
    const headSha = await deps.forge.branchHead(forgeRef, branchName);
    const card = headSha === null ? null : await findCardById(deps.db, cardId);
    if (!card || headSha === null || (await isBranchTaken(deps.db, repositoryId, branchName))) continue;
    const intent = { repositoryId, kind: "create_branch", subject: branchName } as const;
    await recordBranchCreated(deps, { card, actorId }, intent, headSha);
    await deleteInboxItems(deps.db, "branch_suggestion", branchKey(repositoryId, branchName));
    await schedule(deps.db, JOBS.catchUpCard, { cardId });
    deps.log.info({ cardId, branchName }, "found an unconfirmed branch of ours");
  }
}

async function reconcileOrganization(
  deps: Deps,
  organizationId: string,
  from: ComparisonPlace | null,
  { minAgeMs, pauseMs }: Pace,
): Promise<void> {
  let place = from;
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    if (calls > 0) await sleep(pauseMs);
    const limits = { minAgeMs, limit: BRANCHES_PER_CALL };
    const branches = await listBranchesToCompare(deps.db, organizationId, place, limits);
    if (!branches) throw new ForgeUnavailable(CONNECTION_MESSAGES.refused);
    if (branches.length > 0) await compare(deps, branches, minAgeMs);
    const last = branches.length < BRANCHES_PER_CALL ? undefined : branches.at(-1);
    place = last ? { repositoryId: last.repositoryId, branchName: last.branchName } : null;
    await saveComparisonPlace(deps.db, organizationId, place);
    if (!place) return;
  }
}

async function compare(deps: Deps, branches: readonly KnownBranch[], minAgeMs: number): Promise<void> {
  const now = Date.parse(await readClock(deps.db));
  const [askedAt, changedBefore] = [new Date(now).toISOString(), new Date(now - minAgeMs).toISOString()];
  const questions = branches.map(({ cardId, repositoryId, forgeRef: repository, branchName }) => ({
    cardId,
    repositoryId,
    question: { repository, branchName, targetBranch: null },
  }));
  const inspections = await inspectBranches(deps, questions, {
    maxPullRequests: PULL_REQUESTS,
    includesConversation: true,
    isPartial: true,
  });
  const seen = new Set<string>();
  for (const [at, known] of branches.entries()) {
    const inspection = inspections[at];
    if (inspection?.refusal?.details?.["connection"] === "refused")
      throw new ForgeUnavailable(inspection.refusal.message);
    if (inspection?.refusal?.reason === "unknown") {
      const { forgeRef, branchName, cardId } = known;
      const about = { cardId, repository: forgeRef.fullName, branchName, why: inspection.refusal.message };
      deps.log.warn(about, "a branch could not be compared with GitHub");
    }
    if (!inspection || inspection.refusal) continue;
    await handleDifferences(deps, known, inspection, { askedAt, changedBefore });
    seen.add(known.repositoryId);
  }
  await markReconciled(deps.db, [...seen]);
}

async function handleDifferences(
  deps: Deps,
  known: KnownBranch,
  shown: ShownBranch,
  when: InspectionTime,
): Promise<void> {
  const { cardId, branchName } = known;
  for await (const event of foundEvents(deps, known, shown, when)) {
    deps.log.info({ cardId, branchName, type: event.type }, "found an event that no webhook reported");
    await handleEvent(deps, event);
  }
  if (known.isConflicting && shown.pullRequests.some(isMergeable))
    await schedule(deps.db, JOBS.recheckBlocked, { cardId });
}

/** GitHub sends no webhook when a push to the target has resolved a conflict. */
const isMergeable = ({ state, mergeable }: InspectedPullRequest): boolean =>
  state === "open" && mergeable !== "conflicting";
