import type { ForgeContext } from "../context.ts";
import { NODE_PREFIXES, nodeId } from "../node-id.ts";
import type { RepositoryRow, StatusRow } from "../rows.ts";
import { htmlUrl, presentAccountById } from "./account.ts";
import { presentMinimalRepository, repositoryUrl } from "./repository.ts";

/** A status inside the combined status of a commit. */
export function presentSimpleStatus(forge: ForgeContext, repository: RepositoryRow, status: StatusRow) {
  return {
    url: repositoryUrl(forge, repository, "statuses", status.sha),
    avatar_url: htmlUrl(forge, "avatars", "u", status.creatorId),
    id: status.id,
    node_id: nodeId(NODE_PREFIXES.status, status.id),
    state: status.state,
    description: status.description,
    target_url: status.targetUrl,
    context: status.context,
    created_at: status.createdAt,
    updated_at: status.createdAt,
  };
}

export const presentStatus = (forge: ForgeContext, repository: RepositoryRow, status: StatusRow) => ({
  ...presentSimpleStatus(forge, repository, status),
  creator: presentAccountById(forge, status.creatorId),
});

/** The combined status of a commit: pending if it has no statuses. */
export function presentCombinedStatus(
  forge: ForgeContext,
  repository: RepositoryRow,
  sha: string,
  latest: readonly StatusRow[],
) {
  const states = new Set(latest.map((each) => each.state));
  const isFine = states.size === 1 && states.has("success");
  return {
    state: states.has("failure") || states.has("error") ? "failure" : isFine ? "success" : "pending",
    statuses: latest.map((status) => presentSimpleStatus(forge, repository, status)),
    sha,
    total_count: latest.length,
    repository: presentMinimalRepository(forge, repository),
    commit_url: repositoryUrl(forge, repository, "commits", sha),
    url: repositoryUrl(forge, repository, "commits", sha, "status"),
  };
}
