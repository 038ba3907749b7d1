import type { ForgeContext } from "../context.ts";
import { readCommit } from "../git/commits.ts";
import { isAncestor, pushedCommits } from "../git/history.ts";
import { shortRefName, ZERO_SHA } from "../git/refs.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import { presentPushedCommit } from "./commit.ts";
import { presentPushRepository, repositoryHtmlUrl } from "./repository.ts";

/** A changed ref. `before` is null for a new ref, `after` for a deleted one. */
export interface RefChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Full name of the branch that a new branch was created from, if it can be determined. */
  readonly baseRef?: string | null;
}

/** For the tip of a branch that was created at an existing commit. */
const NO_PATHS = { added: [], removed: [], modified: [], distinct: true } as const;

/** The payload of a `push` webhook. */
export async function presentPush(
  forge: ForgeContext,
  repository: RepositoryRow,
  change: RefChange,
  pusher: AccountRow,
) {
  const { before, after, name } = change;
  const repo = forge.git.repository(repository.id);
  const isBranch = name.startsWith("refs/heads/");
  const pushed = after === null || !isBranch ? [] : await pushedCommits(repo, name, before, after);
  const isForced = isBranch && before !== null && after !== null && !(await isAncestor(repo, before, after));
  const tip = after === null ? null : await readCommit(repo, after);
  const commits = pushed.map(({ commit, ...paths }) => presentPushedCommit(forge, repository, commit, paths));
  return {
    ref: name,
    before: before ?? ZERO_SHA,
    after: after ?? ZERO_SHA,
    created: before === null,
    deleted: after === null,
    forced: isForced,
    base_ref: change.baseRef ?? null,
    compare: compareUrl(forge, repository, change),
    commits,
    head_commit:
      tip &&
      (commits.find((each) => each.id === tip.sha) ?? presentPushedCommit(forge, repository, tip, NO_PATHS)),
    pusher: { name: pusher.login, email: pusher.email },
    repository: presentPushRepository(forge, repository),
  };
}

function compareUrl(
  forge: ForgeContext,
  repository: RepositoryRow,
  { before, after, name }: RefChange,
): string {
  if (before === null) return repositoryHtmlUrl(forge, repository, "compare", shortRefName(name));
  const range = `${before.slice(0, 12)}...${(after ?? ZERO_SHA).slice(0, 12)}`;
  return repositoryHtmlUrl(forge, repository, "compare", range);
}
