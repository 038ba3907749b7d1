import { NODE_PREFIXES, namedNodeId, nodeId } from "../../node-id.ts";
import type { PullRequestRow, RepositoryRow } from "../../rows.ts";
import { connection, type PageArgs } from "../connection.ts";
import type { GraphqlObject, Scope } from "../scope.ts";

const hasMergeQueue = ({ forge }: Scope, repositoryId: number, branch: string): boolean =>
  forge.state.protections.inGroup(repositoryId).some((row) => row.branch === branch && row.mergeQueue);

export function mergeQueueObject(
  scope: Scope,
  repository: RepositoryRow,
  branch: string,
): GraphqlObject | null {
  if (!hasMergeQueue(scope, repository.id, branch)) return null;
  const owner = scope.forge.state.accounts.need(repository.ownerId);
  const resourcePath = `/${owner.login}/${repository.name}/queue/${branch}`;
  return {
    __typename: "MergeQueue",
    id: namedNodeId(NODE_PREFIXES.mergeQueue, repository.id, branch),
    repository: () => scope.repository(repository),
    resourcePath,
    url: `${scope.forge.urls.root}${resourcePath}`,
    entries: (args: PageArgs) =>
      connection("entries", queued(scope, repository.id, branch), args, (row) =>
        mergeQueueEntryObject(scope, row),
      ),
  };
}

/** The pull requests in a branch's queue, first enqueued first. */
const queued = ({ forge }: Scope, repositoryId: number, branch: string): PullRequestRow[] =>
  forge.state.pullRequests
    .inGroup(repositoryId)
    .filter((row) => row.baseRef === branch && row.queuedAt !== null)
    .toSorted((a, b) => (a.queuedAt ?? "").localeCompare(b.queuedAt ?? "") || a.number - b.number);

export function mergeQueueEntryObject(scope: Scope, row: PullRequestRow): GraphqlObject | null {
  if (row.queuedAt === null) return null;
  const repository = scope.forge.state.repositories.need(row.repositoryId);
  const queue = queued(scope, row.repositoryId, row.baseRef);
  return {
    __typename: "MergeQueueEntry",
    id: nodeId(NODE_PREFIXES.mergeQueueEntry, row.id),
    baseCommit: () => scope.commit(repository, row.baseSha),
    headCommit: () => scope.commit(repository, row.headSha),
    enqueuedAt: row.queuedAt,
    enqueuer: () => scope.account(row.queuedById),
    jump: false,
    solo: false,
    position: queue.findIndex((each) => each.id === row.id) + 1,
    pullRequest: () => scope.pullRequest(row),
    state: "QUEUED",
  };
}
