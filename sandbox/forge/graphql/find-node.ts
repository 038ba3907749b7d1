import { readRef } from "../git/refs.ts";
import { NODE_PREFIXES, readNodeId } from "../node-id.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";
import { roleIn } from "../server/access.ts";
import { mergeQueueEntryObject, mergeQueueObject } from "./nodes/merge-queue.ts";
import { notFound } from "./refusal.ts";
import type { GraphqlObject, Scope } from "./scope.ts";

/** What a global id stands for, as far as the caller may see it. */
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
      const row = visible(scope, read.id);
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
      return show(scope, pullRequests.get(id), (row) => row.repositoryId, scope.pullRequest);
    case NODE_PREFIXES.review:
      return show(
        scope,
        reviews.get(id),
        (row) => pullRequests.need(row.pullRequestId).repositoryId,
        scope.review,
      );
    case NODE_PREFIXES.comment:
      return show(
        scope,
        comments.get(id),
        (row) => pullRequests.need(row.pullRequestId).repositoryId,
        scope.comment,
      );
    case NODE_PREFIXES.checkRun:
      return show(scope, checkRuns.get(id), (row) => row.repositoryId, scope.checkRun);
    case NODE_PREFIXES.checkSuite:
      return show(scope, checkSuites.get(id), (row) => row.repositoryId, scope.checkSuite);
    case NODE_PREFIXES.status:
      return show(scope, statuses.get(id), (row) => row.repositoryId, scope.statusContext);
    case NODE_PREFIXES.mergeQueueEntry:
      return show(
        scope,
        pullRequests.get(id),
        (row) => row.repositoryId,
        (row) => mergeQueueEntryObject(scope, row),
      );
    default:
      return null;
  }
}

function show<Row>(
  scope: Scope,
  row: Row | undefined,
  repositoryIdOf: (row: Row) => number,
  toObject: (row: Row) => GraphqlObject | null,
): GraphqlObject | null {
  return row === undefined || visible(scope, repositoryIdOf(row)) === null ? null : toObject(row);
}

interface Named {
  readonly prefix: string;
  readonly repositoryId: number;
  readonly name: string;
}

async function findNamed(scope: Scope, { prefix, repositoryId, name }: Named): Promise<GraphqlObject | null> {
  const repository = visible(scope, repositoryId);
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

function visible({ forge, caller }: Scope, repositoryId: number): RepositoryRow | null {
  const row = forge.state.repositories.get(repositoryId);
  return row === undefined || roleIn(forge, caller, row) === null ? null : row;
}

/** The repository with this global id; throws where the caller sees none. */
export function needRepository(scope: Scope, id: string): RepositoryRow {
  const read = readNodeId(id);
  const row = read?.prefix === NODE_PREFIXES.repository && "id" in read ? visible(scope, read.id) : null;
  if (row === null) throw notFound(id);
  return row;
}

/** The pull request with this global id; throws where the caller sees none. */
export function needPullRequest(scope: Scope, id: string): PullRequestRow {
  const read = readNodeId(id);
  const row =
    read?.prefix === NODE_PREFIXES.pullRequest && "id" in read
      ? scope.forge.state.pullRequests.get(read.id)
      : undefined;
  if (row === undefined || visible(scope, row.repositoryId) === null) throw notFound(id);
  return row;
}

/** The repository and whole name of the ref with this global id; throws where the caller sees none. */
export function needRefId(
  scope: Scope,
  id: string,
): { readonly repository: RepositoryRow; readonly name: string } {
  const read = readNodeId(id);
  if (read === null || !("name" in read) || read.prefix !== NODE_PREFIXES.ref) throw notFound(id);
  const repository = visible(scope, read.repositoryId);
  if (repository === null) throw notFound(id);
  return { repository, name: read.name };
}
