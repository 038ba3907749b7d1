import { z } from "zod";
import type { TrunkCommit } from "../../../flow/trunk/landings.ts";
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
/**
 * The history ends at so many commits in a row that are too old. GitHub would end it at the first
 * one, but a commit can have any date.
 */
const OLD_COMMITS = PAGE;

interface PageQuestion extends Question, Omit<HistoryQuestion, "after"> {
  readonly cursor: string | null;
}

const pullsShape = z.looseObject({
  pageInfo: pageInfoShape,
  nodes: z.array(
    z.looseObject({
      number: z.number(),
      merged: z.boolean(),
      baseRefName: name,
      baseRef: z.looseObject({ name }).nullish(),
      mergeCommit: z.looseObject({ oid: z.string() }).nullish(),
    }),
  ),
});
type Pull = z.infer<typeof pullsShape>["nodes"][number];

const PULLS_FIELDS =
  "pageInfo { hasNextPage endCursor } nodes { number merged baseRefName baseRef { name } mergeCommit { oid } }";

const commitShape = z.looseObject({
  oid: z.string(),
  message: text,
  committedDate: z.string(),
  author: z.looseObject({ user: z.looseObject({ login: name }).nullish() }).nullish(),
  parents: z.looseObject({ nodes: z.array(z.looseObject({ oid: z.string() })) }),
  associatedPullRequests: pullsShape.nullish(),
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
  fields: ({ branchName, from, cursor }, declare) => {
    const window = `after: ${declare("cursor", "String", cursor)}`;
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
          associatedPullRequests(first: ${PULL_REQUESTS}) { ${PULLS_FIELDS} }
        }
      }
    }`;
    return from === null
      ? `id branch: ref(qualifiedName: ${declare("branch", "String!", `refs/heads/${branchName}`)}) { target { ${line} } }`
      : `id start: object(oid: ${declare("from", "GitObjectID!", from)}) { ${line} }`;
  },
  shape: responseShape,
};

interface PullsQuestion extends Question {
  readonly oid: string;
  readonly cursor: string | null;
}

const morePullsShape = z.looseObject({
  databaseId: z.number(),
  commit: z.looseObject({ associatedPullRequests: pullsShape.nullish() }).nullish(),
});

/** The further pull requests of one commit. */
export const PULLS_OF_COMMIT: QuestionKind<PullsQuestion, z.infer<typeof morePullsShape>> = {
  operation: "PullRequestsOfCommit",
  fields: ({ oid, cursor }, declare) =>
    `commit: object(oid: ${declare("oid", "GitObjectID!", oid)}) { ... on Commit {
      associatedPullRequests(first: ${PAGE}, after: ${declare("cursor", "String", cursor)}) { ${PULLS_FIELDS} }
    } }`,
  shape: morePullsShape,
};

/** GitHub lists the whole history, with the commits of merged branches. */
export async function readLandedCommits(
  on: GitHubRepository,
  question: HistoryQuestion,
): Promise<LandedHistory | null> {
  const { caller, ref: repository } = on;
  const known = new Map<string, Commit>();
  const line: Commit[] = [];
  const historyUpTo = async (next: string | null, reachesAfter: boolean): Promise<LandedHistory> => {
    const trunk = firstParents(known, line[0]?.oid);
    const commits: TrunkCommit[] = [];
    for (const commit of line) {
      const merged = await pullOf(on, commit, question.branchName, trunk);
      commits.push(toLanded(commit, merged, broughtBy(commit, known, trunk)));
    }
    return { commits, next, reachesAfter };
  };
  const isOld = ({ committedDate }: Commit): boolean =>
    Date.parse(committedDate) < Date.parse(question.since);
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
    const isBeforeHistory = line.length >= OLD_COMMITS && line.slice(-OLD_COMMITS).every(isOld);
    if (at === "" || !hasNextPage || !endCursor || isBeforeHistory) {
      line.length = line.findLastIndex((commit) => !isOld(commit)) + 1;
      return historyUpTo(null, false);
    }
    if (pages === MAX_PAGES) return historyUpTo(at, false);
    cursor = endCursor;
  }
}

/**
 * The number of the merged pull request that brought a commit to the branch. A merged one keeps the
 * name of its target after that was renamed; then its merge is on the branch.
 */
async function pullOf(
  { caller, ref: repository }: GitHubRepository,
  { oid, associatedPullRequests: pulls }: Commit,
  branchName: string,
  trunk: ReadonlySet<string>,
): Promise<number | null> {
  const isMeant = ({ merged, baseRefName, baseRef, mergeCommit }: Pull): boolean =>
    merged && (baseRefName === branchName || (!baseRef && mergeCommit ? trunk.has(mergeCommit.oid) : false));
  const findIn = (some: readonly Pull[]): Pull | undefined =>
    some.find((pull) => isMeant(pull) && pull.baseRefName === branchName) ?? some.find(isMeant);
  for (let page = pulls; page;) {
    const found = findIn(page.nodes);
    if (found) return found.number;
    const { hasNextPage, endCursor } = page.pageInfo;
    if (!hasNextPage || !endCursor) return null;
    const question = { repository, oid, cursor: endCursor };
    page = valueOf(await askRepository(caller, PULLS_OF_COMMIT, question)).commit?.associatedPullRequests;
  }
  return null;
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
  prNumber: number | null,
  mergedCommits: TrunkCommit["mergedCommits"],
): TrunkCommit {
  return {
    sha: commit.oid,
    mergedCommits,
    message: commit.message,
    committedAt: new Date(commit.committedDate).toISOString(),
    authorLogin: commit.author?.user?.login ?? null,
    prNumber,
  };
}
