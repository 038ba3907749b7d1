import { currentPullRequest } from "../flow/move.ts";
import type { Forge } from "../forge/forge.ts";
import type { BranchInspection, BranchInspectionRequest, InspectOptions } from "../forge/pull-requests.ts";
import type { Db } from "../store/db/connect.ts";
import { saveSnapshots, type BranchSnapshot } from "../store/forge/branch-snapshots.ts";

/** A question about the branch of a card. */
export interface CardBranchQuestion {
  readonly cardId: string;
  readonly repositoryId: string;
  readonly question: BranchInspectionRequest;
}

/**
 * Asks GitHub about the branches of cards, and saves what it shows as their snapshots. Returns the
 * answers in the order asked. Throws `ForgeUnavailable`.
 */
export async function inspectBranches(
  { db, forge }: { readonly db: Db; readonly forge: Pick<Forge, "inspect"> },
  asked: readonly CardBranchQuestion[],
  options?: InspectOptions,
): Promise<BranchInspection[]> {
  const askedAt = performance.now();
  const questions = asked.map(({ question }) => question);
  const answers = await forge.inspect(questions, options);
  const snapshots = asked.flatMap((each, at) => snapshotOf(each, answers[at]) ?? []);
  await saveSnapshots(db, snapshots, performance.now() - askedAt);
  return answers;
}

/** Null without a branch. Everything is unknown if GitHub did not show the branch. */
function snapshotOf(
  { cardId, repositoryId, question: { branchName, targetBranch } }: CardBranchQuestion,
  found: BranchInspection | undefined,
): BranchSnapshot | null {
  if (branchName === null) return null;
  const of = { cardId, repositoryId, branchName };
  if (!found || found.refusal) return targetBranch === null ? null : { ...UNKNOWN, ...of, targetBranch };
  const { target, headSha, aheadBy, behindBy = null } = found;
  const compared = { targetBranch: target.name, targetSha: target.sha, headSha, aheadBy, behindBy };
  const pull = currentPullRequest(found);
  if (pull?.state !== "open") return { ...UNKNOWN, ...of, ...compared };
  const { number: prNumber, mergeable, reviewDecision, isInMergeQueue } = pull;
  return {
    ...of,
    ...compared,
    prNumber,
    mergeable: mergeable === "unknown" ? null : mergeable,
    reviewDecision,
    isInMergeQueue,
  };
}

const UNKNOWN = {
  headSha: null,
  targetSha: null,
  aheadBy: null,
  behindBy: null,
  prNumber: null,
  mergeable: null,
  reviewDecision: null,
  isInMergeQueue: false,
} as const;
