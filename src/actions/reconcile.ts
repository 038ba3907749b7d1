import { setTimeout as sleep } from "node:timers/promises";
import { ForgeUnavailable, type BranchAnswer, type InspectedPullRequest } from "../forge/forge.ts";
import { clockOf } from "../store/installations.ts";
import {
  keepPlace,
  listBranchesToCompare,
  listReachableOrganizations,
  markReconciled,
  type BranchPlace,
  type KnownBranch,
} from "../store/reconciling.ts";
import type { Deps } from "./deps.ts";
import { foundEvents } from "./found-events.ts";
import { keepUnheardCuts } from "./keep-unheard-cuts.ts";
import { recordEvent } from "./record-event.ts";
import { recordFoundChecks } from "./record-found-checks.ts";
import { recordFoundWords } from "./record-found-words.ts";
import { recordLostWords } from "./record-lost-words.ts";

export const RECONCILE = "reconcile";

export interface Pace {
  /** What changed here less than this ago is left to its webhooks: the forge's reads may be older. */
  readonly quietMs: number;
  readonly pauseMs: number;
}

const PACE: Pace = { quietMs: 60_000, pauseMs: 1_000 };

/**
 * One call to the forge, of 2 of the 5,000 points GitHub gives an installation an hour: a hundredth of the lists in it, which are two of each branch's
 * pull requests, the checks of 5 of them and what was said on one.
 */
const PER_CALL = 25;
const PULL_REQUESTS = 5;
/** 1,000 branches: 80 points, less than 2 % of an hour's. What is left is compared the next time. */
const MAX_CALLS = 40;

/**
 * Compares the branches, pull requests, checks, comments and reviews of cards that are under way with what the forge shows, and records what no webhook and no
 * log told of: the same way, and under the same names, as if it had been told. Cards get the branches we had cut for them without hearing of it.
 */
export async function reconcile(
  deps: Deps,
  { quietMs = PACE.quietMs, pauseMs = PACE.pauseMs }: { quietMs?: number | undefined; pauseMs?: number } = {},
): Promise<void> {
  for (const { id, from } of await listReachableOrganizations(deps.db)) {
    try {
      await keepUnheardCuts(deps, id, quietMs);
      await reconcileOrganization(deps, id, from, { quietMs, pauseMs });
    } catch (error) {
      if (!(error instanceof ForgeUnavailable)) throw error;
      deps.log.warn({ err: error, organizationId: id }, "an account could not be compared with the forge");
    }
  }
}

async function reconcileOrganization(
  deps: Deps,
  organizationId: string,
  from: BranchPlace | null,
  { quietMs, pauseMs }: Pace,
): Promise<void> {
  let place = from;
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    if (calls > 0) await sleep(pauseMs);
    const branches = await listBranchesToCompare(deps.db, organizationId, place, {
      quietMs,
      limit: PER_CALL,
    });
    if (branches.length > 0) await compare(deps, branches, quietMs);
    const last = branches.length < PER_CALL ? undefined : branches.at(-1);
    place = last ? { repositoryId: last.repositoryId, branchName: last.branchName } : null;
    await keepPlace(deps.db, organizationId, place);
    if (!place) return;
  }
}

async function compare(deps: Deps, branches: readonly KnownBranch[], quietMs: number): Promise<void> {
  const asked = Date.parse(await clockOf(deps.db));
  const when: WhenAsked = {
    askedAt: new Date(asked).toISOString(),
    quietSince: new Date(asked - quietMs).toISOString(),
  };
  const questions = branches.map(({ ref, branchName }) => ({
    repository: ref,
    branchName,
    targetBranch: null,
  }));
  const answers = await deps.forge.inspect(questions, { pullRequests: PULL_REQUESTS, isSaidAsked: true });
  const seen = new Set<string>();
  for (const [at, known] of branches.entries()) {
    const answer = answers[at];
    if (!answer || answer.refusal) continue;
    await heal(deps, known, answer, when);
    seen.add(known.repositoryId);
  }
  await markReconciled(deps.db, [...seen]);
}

/** ISO 8601, by the database's clock. What changed here after `quietSince` may be newer than the answer. */
interface WhenAsked {
  readonly askedAt: string;
  readonly quietSince: string;
}

async function heal(
  deps: Deps,
  known: KnownBranch,
  answer: Exclude<BranchAnswer, { readonly refusal: object }>,
  { askedAt, quietSince }: WhenAsked,
): Promise<void> {
  const events = foundEvents(known, answer, askedAt);
  for (const event of events) {
    const { cardId, branchName } = known;
    deps.log.info({ cardId, branchName, type: event.type }, "found what nobody told of");
    await recordEvent(deps, event);
  }
  const open = answer.pullRequests.find(isOpenAt(answer.headSha));
  if (open) await recordFoundChecks(deps, known, open, askedAt);
  if (!answer.said) return;
  await recordFoundWords(deps, known, answer.repository, answer.said);
  await recordLostWords(deps, known, answer.repository, answer.said, { askedAt, quietSince });
}

const isOpenAt =
  (headSha: string | null) =>
  (pull: InspectedPullRequest): boolean =>
    pull.state === "open" && pull.headSha === headSha;
