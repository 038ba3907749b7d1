import { readRef } from "../git/refs.ts";
import { NODE_PREFIXES, readNodeId } from "../node-id.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";
import { roleIn } from "../server/access.ts";
import { mergeQueueEntryObject, mergeQueueObject } from "./nodes/merge-queue.ts";
import { notFound } from "./refusal.ts";
import type { GraphqlObject, Scope } from "./scope.ts";

/** The object with a global id; null if the caller may not see it. */
export async function findNode(scope: Scope, id: string): Promise<GraphqlObject | null> {
  const read = readNodeId(id);
  if (read === null) return null;
  if ("name" in read) return findNamed(scope, read);
  const { state } = scope.forge;
  const account = state.accounts.get(read.id);
  switch (read.prefix) {
    case NODE_PREFIXES.account.User:
    case NODE_PREFIXES.account.Organization:
    case NODE_PREFIXES.account.Bot:
      return account === undefined ? null : scope.accountOf(account);
    case NODE_PREFIXES.app:
      return scope.app(read.id);
    case NODE_PREFIXES.repository: {
      const row = visibleRepository(scope, read.id);
      return row === null ? null : scope.repository(row);
    }
    default:
      return findInRepository(scope, read.prefix, read.id);
  }
}

function findInRepository(scope: Scope, prefix: string, id: number): GraphqlObject | null {
  const { checkRuns, checkSuites, comments, pullRequests, reviews, statuses } = scope.forge.state;
  switch (prefix) {
    case NODE_PREFIXES.pullRequest:
      return objectIfVisible(scope, pullRequests.get(id), scope.pullRequest);
    case NODE_PREFIXES.review:
      return objectIfVisible(scope, reviews.get(id), scope.review);
    case NODE_PREFIXES.comment:
      return objectIfVisible(scope, comments.get(id), scope.comment);
    case NODE_PREFIXES.checkRun:
      return objectIfVisible(scope, checkRuns.get(id), scope.checkRun);
    case NODE_PREFIXES.checkSuite:
      return objectIfVisible(scope, checkSuites.get(id), scope.checkSuite);
    case NODE_PREFIXES.status:
      return objectIfVisible(scope, statuses.get(id), scope.statusContext);
    case NODE_PREFIXES.mergeQueueEntry:
      return objectIfVisible(scope, pullRequests.get(id), (row) => mergeQueueEntryObject(scope, row));
    default:
      return null;
  }
}

type RepositoryChild = { readonly repositoryId: number } | { readonly pullRequestId: number };

function objectIfVisible<Row extends RepositoryChild>(
  scope: Scope,
  row: Row | undefined,
  toObject: (row: Row) => GraphqlObject | null,
): GraphqlObject | null {
  if (row === undefined) return null;
  const { repositoryId } =
    "repositoryId" in row ? row : scope.forge.state.pullRequests.need(row.pullRequestId);
  return visibleRepository(scope, repositoryId) === null ? null : toObject(row);
}

interface Named {
  readonly prefix: string;
  readonly repositoryId: number;
  readonly name: string;
}

async function findNamed(scope: Scope, { prefix, repositoryId, name }: Named): Promise<GraphqlObject | null> {
  const repository = visibleRepository(scope, repositoryId);
  if (repository === null) return null;
  switch (prefix) {
    case NODE_PREFIXES.commit:
      return scope.gitObject(repository, name);
    case NODE_PREFIXES.ref: {
      const sha = await readRef(scope.forge.git.repository(repositoryId), name);
      return sha === null ? null : scope.ref(repository, name, sha);
    }
    case NODE_PREFIXES.rollup:
      return scope.rollup(repository, name);
    case NODE_PREFIXES.mergeQueue:
      return mergeQueueObject(scope, repository, name);
    default:
      return null;
  }
}

function visibleRepository({ forge, caller }: Scope, repositoryId: number): RepositoryRow | null {
  const row = forge.state.repositories.get(repositoryId);
  return row === undefined || roleIn(forge, caller, row) === null ? null : row;
}

/** The repository with this global id; throws if the caller may not see it. */
export function needRepository(scope: Scope, id: string): RepositoryRow {
  const read = readNodeId(id);
  const row =
    read?.prefix === NODE_PREFIXES.repository && "id" in read ? visibleRepository(scope, read.id) : null;
  if (row === null) throw notFound(id);
  return row;
}

/** The pull request with this global id; throws if the caller may not see it. */
export function needPullRequest(scope: Scope, id: string): PullRequestRow {
  const read = readNodeId(id);
  const row =
    read?.prefix === NODE_PREFIXES.pullRequest && "id" in read
      ? scope.forge.state.pullRequests.get(read.id)
      : undefined;
  if (row === undefined || visibleRepository(scope, row.repositoryId) === null) throw notFound(id);
  return row;
}

/** The repository and full name of a ref by global id; throws if the caller may not see it. */
export function needRefId(
  scope: Scope,
  id: string,
): { readonly repository: RepositoryRow; readonly name: string } {
  const read = readNodeId(id);
  if (read === null || !("name" in read) || read.prefix !== NODE_PREFIXES.ref) throw notFound(id);
  const repository = visibleRepository(scope, read.repositoryId);
  if (repository === null) throw notFound(id);
  return { repository, name: read.name };
}
