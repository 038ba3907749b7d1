import { z } from "zod";
import { ForgeUnavailable, type RepositoryRef } from "../forge.ts";
import type { HistoryQuestion, LandedCommit, LandedHistory } from "../releasing.ts";
import { askRepository, onlyOf, repositoryDocument } from "./ask-repository.ts";
import type { Question, QuestionKind } from "./ask-repositories.ts";
import type { Caller } from "./client.ts";

const PAGE = 100;
/** One answer reads at most a thousand commits, those of merged branches included. */
const PAGES = 10;
/** A commit may come with later pull requests from the branch it landed on to another. */
const PULL_REQUESTS = 5;

interface PageQuestion extends Question {
  readonly branchName: string;
  readonly from: string | null;
  readonly since: string;
  readonly cursor: string | null;
}

const commitShape = z.looseObject({
  oid: z.string(),
  message: z.string(),
  committedDate: z.string(),
  author: z.looseObject({ user: z.looseObject({ login: z.string() }).nullish() }).nullish(),
  parents: z.looseObject({ nodes: z.array(z.looseObject({ oid: z.string() })) }),
  associatedPullRequests: z
    .looseObject({
      nodes: z.array(z.looseObject({ number: z.number(), merged: z.boolean(), baseRefName: z.string() })),
    })
    .nullish(),
});
type Commit = z.infer<typeof commitShape>;

const historyShape = z.looseObject({
  pageInfo: z.looseObject({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
  nodes: z.array(commitShape),
});
const startShape = z.looseObject({ oid: z.string(), history: historyShape });
const answerShape = z.looseObject({
  id: z.string(),
  databaseId: z.number(),
  branch: z.looseObject({ target: startShape.nullish() }).nullish(),
  start: startShape.nullish(),
});

const HISTORY = /* GraphQL */ `
  fragment Line on Commit {
    oid
    history(first: ${PAGE}, since: $since, after: $cursor) {
      pageInfo {
        hasNextPage
        endCursor
      }
      nodes {
        oid
        message
        committedDate
        author {
          user {
            login
          }
        }
        parents(first: 2) {
          nodes {
            oid
          }
        }
        associatedPullRequests(first: ${PULL_REQUESTS}) {
          nodes {
            number
            merged
            baseRefName
          }
        }
      }
    }
  }
`;

export const LANDED: QuestionKind<PageQuestion, z.infer<typeof answerShape>> = {
  documentOf: (questions) => {
    const question = onlyOf(questions);
    const { branchName, from, since, cursor } = question;
    const window = { since: ["GitTimestamp!", since], cursor: ["String", cursor] } as const;
    return from === null
      ? repositoryDocument(
          question,
          "branch: ref(qualifiedName: $branch) { target { ...Line } }",
          { ...window, branch: ["String!", `refs/heads/${branchName}`] },
          HISTORY,
        )
      : repositoryDocument(
          question,
          "start: object(oid: $from) { ...Line }",
          { ...window, from: ["GitObjectID!", from] },
          HISTORY,
        );
  },
  shape: answerShape,
};

/**
 * The first-parent line of a branch, newest first. GitHub lists the whole history only, so merged branches' own commits are read as
 * well and left out.
 */
export async function readLandedCommits(
  caller: Caller,
  repository: RepositoryRef,
  question: HistoryQuestion,
): Promise<LandedHistory | null> {
  const known = new Map<string, Commit>();
  const commits: LandedCommit[] = [];
  let at: string | undefined;
  let cursor: string | null = null;
  for (let page = 1; ; page++) {
    const start = await readPage(caller, { ...question, repository, cursor });
    if (start === null) return null;
    at ??= start.oid;
    for (const commit of start.history.nodes) known.set(commit.oid, commit);
    for (let next = known.get(at); next !== undefined && at !== question.after; next = known.get(at ?? "")) {
      commits.push(toLanded(next, question.branchName));
      at = next.parents.nodes[0]?.oid ?? "";
    }
    if (at === question.after) return { commits, next: null, isJoined: true };
    const { hasNextPage, endCursor } = start.history.pageInfo;
    if (at === "" || !hasNextPage || !endCursor) return { commits, next: null, isJoined: false };
    if (page === PAGES) return { commits, next: at, isJoined: false };
    cursor = endCursor;
  }
}

async function readPage(caller: Caller, question: PageQuestion): Promise<z.infer<typeof startShape> | null> {
  const asked = await askRepository(caller, LANDED, question);
  if (!asked.ok) {
    throw new ForgeUnavailable(`GitHub refuses to be asked: ${asked.refusal.message}`, { retryAfter: 60 });
  }
  return asked.value.branch?.target ?? asked.value.start ?? null;
}

function toLanded(commit: Commit, branchName: string): LandedCommit {
  const pulls = commit.associatedPullRequests?.nodes ?? [];
  const merged = pulls.find((pull) => pull.merged && pull.baseRefName === branchName);
  return {
    sha: commit.oid,
    parents: commit.parents.nodes.map(({ oid }) => oid),
    message: commit.message,
    committedAt: new Date(commit.committedDate).toISOString(),
    authorLogin: commit.author?.user?.login ?? null,
    prNumber: merged?.number ?? null,
  };
}
