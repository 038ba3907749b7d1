import type { ForgeContext } from "../context.ts";
import { needCommit } from "../git/commits.ts";
import { presentCommit } from "../present/commit.ts";
import { fullNameOf, repositoryUrl } from "../present/repository.ts";
import { presentSimpleStatus } from "../present/status.ts";
import type { AccountRow, RepositoryRow, StatusRow } from "../rows.ts";
import { presentAccountById } from "../present/account.ts";
import { commitKey } from "../state.ts";
import { invalidFields } from "../server/api-error.ts";
import { scheduleAutoMerges } from "./auto-merge.ts";
import { emit } from "../webhooks/emit.ts";
import { branchesAt } from "../queries/branches-at.ts";

type NewStatus = Pick<StatusRow, "sha" | "state" | "context" | "description" | "targetUrl">;

/** GitHub's limit for one commit and context. */
const MAX_STATUSES = 1_000;
/** GitHub's limit for the branches of a status event. */
const MAX_BRANCHES = 10;

export async function reportStatus(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  given: NewStatus,
): Promise<StatusRow> {
  const earlier = forge.state.statuses.inGroup(commitKey(repository.id, given.sha));
  if (earlier.filter((each) => each.context === given.context).length >= MAX_STATUSES)
    throw invalidFields({
      resource: "Status",
      code: "custom",
      message: "This SHA and context has reached the maximum number of statuses.",
    });
  const row = forge.state.statuses.save({
    ...given,
    id: forge.state.newId(),
    repositoryId: repository.id,
    creatorId: by.id,
    createdAt: forge.now(),
  });
  const payload = () => presentStatusEvent(forge, repository, row);
  await emit(forge, { event: "status", action: null, repository, sender: by, payload });
  scheduleAutoMerges(forge, repository.id);
  return row;
}

async function presentStatusEvent(forge: ForgeContext, repository: RepositoryRow, row: StatusRow) {
  const repo = forge.git.repository(repository.id);
  const branches = await branchesAt(forge, repository, row.sha, "containing");
  const { url: _url, node_id: _nodeId, ...status } = presentSimpleStatus(forge, repository, row);
  return {
    ...status,
    sha: row.sha,
    name: fullNameOf(forge, repository),
    commit: presentCommit(forge, repository, await needCommit(repo, row.sha)),
    branches: branches.slice(0, MAX_BRANCHES).map(({ name, sha }) => ({
      name,
      commit: { sha, url: repositoryUrl(forge, repository, "commits", sha) },
      protected: forge.state.protections.inGroup(repository.id).some((each) => each.branch === name),
    })),
    avatar_url: presentAccountById(forge, row.creatorId).avatar_url,
  };
}
