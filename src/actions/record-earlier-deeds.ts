import type { PullRequestFacts } from "../flow/facts.ts";
import type { RepositoryState } from "../flow/move.ts";
import { findIntent, withdrawIntent } from "../store/ops/intents.ts";
import type { Deps } from "./deps.ts";
import {
  intentKey,
  recordMerged,
  recordOpened,
  recordReady,
  type DeedContext,
  type DeedPullRequest,
} from "./record-deeds.ts";

type Context = DeedContext & { readonly operation: { readonly id: string; readonly attempt: number } };

/**
 * Records what the forge shows as done, that we meant to do and never knew to be done: the process that did it died before it could say so.
 */
export async function recordEarlierDeeds(
  deps: Deps,
  context: Context,
  repositories: readonly RepositoryState[],
): Promise<void> {
  for (const repository of repositories) {
    const { branchName } = repository;
    if ("reason" in repository.facts || branchName === null) continue;
    for (const facts of repository.facts.pullRequests) {
      await recordEarlierDeedsOn(deps, context, { ...repository, branchName }, facts);
    }
  }
}

async function recordEarlierDeedsOn(
  deps: Deps,
  context: Context,
  { repositoryId, fullName, branchName }: RepositoryState & { readonly branchName: string },
  facts: PullRequestFacts,
): Promise<void> {
  const { nodeId, targetBranch, headSha, isDraft } = facts;
  const pull: DeedPullRequest = {
    repositoryId,
    fullName,
    prNumber: facts.number,
    nodeId,
    branchName,
    targetBranch,
    headSha,
  };
  const opening = {
    repositoryId,
    kind: "open_pull_request",
    subject: `${branchName}:${targetBranch}`,
  } as const;
  const opened = await findIntent(deps.db, opening);
  if (opened && !opened.done && facts.state !== "closed") {
    await recordOpened(deps, { ...context, actorId: opened.actorId }, opening, { ...pull, isDraft });
  }
  const ready = await findIntent(deps.db, intentKey(pull, "mark_ready"));
  if (ready && !ready.done && !isDraft && facts.state === "open") {
    await recordReady(deps, { ...context, actorId: ready.actorId }, pull, ready.round);
  }
  const merge = await findIntent(deps.db, intentKey(pull, "merge"));
  if (merge && !merge.done && facts.state === "merged") {
    if (facts.isMergedByPerson && !merge.accepted) await withdrawIntent(deps.db, intentKey(pull, "merge"));
    else await recordMerged(deps, { ...context, actorId: merge.actorId }, pull, facts.mergeSha);
  }
}
