import { z } from "zod";
import type { TrunkCommit } from "../../../flow/landings.ts";
import type { HistoryQuestion, LandedHistory } from "../../releasing.ts";
import type { GitHubRepository } from "../github-repository.ts";
import { pageInfoShape } from "../calls/graphql-response.ts";
import { name, text } from "../text-shapes.ts";
import { PAGE, valueOf } from "../repositories.ts";
import { askRepository, type Question, type QuestionKind } from "../repository-questions.ts";

/** For one response, including the commits of merged branches. */
const MAX_PAGES = 10;
/** The most commits of a merge that are reported. */
const MAX_MERGED_COMMITS = 100;
/** A commit belongs to several pull requests if its branch is merged further. */
const PULL_REQUESTS = 5;

interface PageQuestion extends Question, Omit<HistoryQuestion, "after"> {
  readonly cursor: string | null;
}

const commitShape = z.looseObject({
  oid: z.string(),
  message: text,
  committedDate: z.string(),
  author: z.looseObject({ user: z.looseObject({ login: name }).nullish() }).nullish(),
  parents: z.looseObject({ nodes: z.array(z.looseObject({ oid: z.string() })) }),
  associatedPullRequests: z
    .looseObject({
      nodes: z.array(z.looseObject({ number: z.number(), merged: z.boolean(), baseRefName: name })),
    })
    .nullish(),
});
type Commit = z.infer<typeof commitShape>;

const startShape = z.looseObject({
  oid: z.string(),
  history: z.looseObject({ pageInfo: pageInfoShape, nodes: z.array(commitShape) }),
});
const responseShape = z.looseObject({
  databaseId: z.number(),
  branch: z.looseObject({ target: startShape.nullish() }).nullish(),
  start: startShape.nullish(),
});
type Page = z.infer<typeof responseShape>;

export const LANDED: QuestionKind<PageQuestion, Page> = {
  operation: "LandedHistory",
  fields: ({ branchName, from, since, cursor }, declare) => {
    const window = `since: ${declare("since", "GitTimestamp!", since)}, after: ${declare("cursor", "String", cursor)}`;
    const line = `... on Commit {
      oid
      history(first: ${PAGE}, ${window}) {
        pageInfo { hasNextPage endCursor }
        nodes {
          oid
          message
          committedDate
          author { user { login } }
          parents(first: 2) { nodes { oid } }
          associatedPullRequests(first: ${PULL_REQUESTS}) { nodes { number merged baseRefName } }
        }
      }
    }`;
    return from === null
      ? `id branch: ref(qualifiedName: ${declare("branch", "String!", `refs/heads/${branchName}`)}) { target { ${line} } }`
      : `id start: object(oid: ${declare("from", "GitObjectID!", from)}) { ${line} }`;
  },
  shape: responseShape,
};

/** GitHub lists the whole history, with the commits of merged branches. */
export async function readLandedCommits(
  { caller, ref: repository }: GitHubRepository,
  question: HistoryQuestion,
): Promise<LandedHistory | null> {
  const known = new Map<string, Commit>();
  const line: Commit[] = [];
  const historyUpTo = (next: string | null, reachesAfter: boolean): LandedHistory => {
    const trunk = firstParents(known, line[0]?.oid);
    const commits = line.map((commit) =>
      toLanded(commit, question.branchName, broughtBy(commit, known, trunk)),
    );
    return { commits, next, reachesAfter };
  };
  let at: string | undefined;
  let cursor: string | null = null;
  for (let pages = 1; ; pages++) {
    const page: Page = valueOf(await askRepository(caller, LANDED, { ...question, repository, cursor }));
    const start = page.branch?.target ?? page.start;
    if (!start) return null;
    at ??= start.oid;
    for (const commit of start.history.nodes) known.set(commit.oid, commit);
    for (let next = known.get(at); next !== undefined && at !== question.after; next = known.get(at)) {
      line.push(next);
      at = parentOf(next) ?? "";
    }
    if (at === question.after) return historyUpTo(null, true);
    const { hasNextPage, endCursor } = start.history.pageInfo;
    if (at === "" || !hasNextPage || !endCursor) return historyUpTo(null, false);
    if (pages === MAX_PAGES) return historyUpTo(at, false);
    cursor = endCursor;
  }
}

const parentOf = (commit: Commit): string | undefined => commit.parents.nodes[0]?.oid;

/** The known part of a commit's first-parent line, and the parent where it ends. */
function firstParents(known: ReadonlyMap<string, Commit>, tip: string | undefined): Set<string> {
  const line = new Set<string>();
  for (let at = tip; at !== undefined && !line.has(at);) {
    line.add(at);
    const commit = known.get(at);
    at = commit && parentOf(commit);
  }
  return line;
}

function broughtBy(
  merge: Commit,
  known: ReadonlyMap<string, Commit>,
  trunk: ReadonlySet<string>,
): TrunkCommit["mergedCommits"] {
  const mergedCommits = new Map<string, Commit>();
  const open = merge.parents.nodes.slice(1).map(({ oid }) => oid);
  for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
    if (trunk.has(oid) || mergedCommits.has(oid)) continue;
    const commit = known.get(oid);
    if (commit === undefined || mergedCommits.size === MAX_MERGED_COMMITS) return null;
    mergedCommits.set(oid, commit);
    open.push(...commit.parents.nodes.map((parent) => parent.oid));
  }
  return [...mergedCommits.values()].map(({ oid: sha, message }) => ({ sha, message }));
}

function toLanded(
  commit: Commit,
  branchName: string,
  mergedCommits: TrunkCommit["mergedCommits"],
): TrunkCommit {
  const pulls = commit.associatedPullRequests?.nodes ?? [];
  const merged = pulls.find((pull) => pull.merged && pull.baseRefName === branchName);
  return {
    sha: commit.oid,
    mergedCommits,
    message: commit.message,
    committedAt: new Date(commit.committedDate).toISOString(),
    authorLogin: commit.author?.user?.login ?? null,
    prNumber: merged?.number ?? null,
  };
}
