import type { ForgeContext } from "./context.ts";
import { isAncestor } from "./git/history.ts";
import { readRef } from "./git/refs.ts";
import type { RefChange } from "./present/push.ts";
import type { PullRequestRow, RepositoryRow } from "./rows.ts";
import { markMerged } from "./actions/close-pull-request.ts";
import { syncPullsFromBranch } from "./actions/sync-pull-requests.ts";
import { resumeAsyncMerges } from "./actions/merge-async.ts";

/** Updates pull requests after the forge was killed between changing a ref and saving rows. */
export async function recover(forge: ForgeContext): Promise<void> {
  for (const repository of forge.state.repositories.all())
    for (const pull of forge.state.pullRequests.inGroup(repository.id))
      if (pull.state === "open") await recoverPullRequest(forge, repository, pull);
  resumeAsyncMerges(forge);
}

async function recoverPullRequest(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
): Promise<void> {
  const repo = forge.git.repository(repository.id);
  const { merging } = pull;
  if (merging !== null) {
    const base = await readRef(repo, `refs/heads/${pull.baseRef}`);
    if (base !== null && (await isAncestor(repo, merging.sha, base))) {
      const by = forge.state.accounts.need(merging.byId);
      await markMerged(forge, pull, { by, sha: merging.sha, baseSha: merging.baseSha });
      return;
    }
    forge.state.pullRequests.update(pull.id, { merging: null });
  }
  const tip = await readRef(repo, `refs/heads/${pull.headRef}`);
  if (tip === pull.headSha) return;
  const author = forge.state.accounts.need(pull.userId);
  const change: RefChange = { name: `refs/heads/${pull.headRef}`, before: pull.headSha, after: tip };
  await syncPullsFromBranch(forge, repository, author, change);
}
