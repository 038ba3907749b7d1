import { checksState } from "../flow/checks.ts";
import type { InspectedPullRequest } from "../forge/forge.ts";
import { takeBranch, listOutcomes } from "../store/forge/branches.ts";
import type { Trx } from "../store/db/connect.ts";
import { branchKey, forgetInboxItems } from "../store/inbox/stored-items.ts";
import { adoptPullRequest } from "../store/forge/pull-requests.ts";
import { saveFoundReport } from "../store/ops/reconciling.ts";
import { recordEvents, type NewEvent } from "../store/events/timeline.ts";
import { replayDeferredSoon } from "../store/forge/lanes.ts";

/** A branch as the forge shows it now. */
export interface SeenBranch {
  readonly name: string;
  /** Null where it is gone, and its work is merged. */
  readonly headSha: string | null;
  readonly openPullRequests: readonly InspectedPullRequest[];
  /** When the forge was asked (ISO 8601). */
  readonly askedAt: string;
}

/** The card that takes a branch over, where, and for whom. */
export type Taker = Pick<NewEvent, "cardId" | "actor"> & { readonly repositoryId: string };

/**
 * Makes a branch that is on the forge already a card's, with its open pull requests and what checks say of it. False where it is another card's, and
 * then the transaction can only be undone. The card's row is held.
 */
export async function takeOverBranch(trx: Trx, taker: Taker, branch: SeenBranch): Promise<boolean> {
  const { cardId, repositoryId } = taker;
  const { name, headSha, openPullRequests } = branch;
  if (!(await takeBranch(trx, cardId, repositoryId, { name, headSha }))) return false;
  for (const { number, nodeId, targetBranch, isDraft, headSha: pullHead } of openPullRequests) {
    const isNew = await adoptPullRequest(trx, {
      repositoryId,
      number,
      cardId,
      nodeId,
      targetBranch,
      state: isDraft ? "draft" : "open",
      headSha: pullHead,
      headBranch: name,
      mergeSha: null,
    });
    if (isNew) await replayDeferredSoon(trx, repositoryId, number);
  }
  const prNumber = openPullRequests[0]?.number ?? null;
  await recordEvents(trx, [
    { ...taker, kind: "branch_adopted", data: { branchName: name, sha: headSha, prNumber } },
  ]);
  await adoptReports(trx, taker, branch);
  await forgetInboxItems(trx, "branch_suggestion", branchKey(repositoryId, name));
  return true;
}

/** What checks say of a branch is kept from here on; what they said before is on its pull request. */
async function adoptReports(
  trx: Trx,
  taker: Taker,
  { name: branchName, headSha: sha, openPullRequests, askedAt }: SeenBranch,
): Promise<void> {
  if (sha === null) return;
  const { repositoryId } = taker;
  const pull = openPullRequests.find(({ headSha }) => headSha === sha);
  for (const report of pull?.reports ?? []) {
    await saveFoundReport(trx, { repositoryId, sha, ...report, appId: report.appId ?? 0 }, askedAt);
  }
  const to = checksState(await listOutcomes(trx, repositoryId, sha));
  if (to === null) return;
  await recordEvents(trx, [{ ...taker, kind: "checks_changed", data: { branchName, sha, from: null, to } }]);
}
