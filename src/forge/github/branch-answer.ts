import type { BranchAnswer, BranchQuestion, InspectedPullRequest, NewestCommit } from "../forge.ts";
import { isoTime, toAccount } from "./actor.ts";
import {
  type CheckContext,
  type Contexts,
  reportOf,
  newestOfEachSeries,
  summarizeChecks,
} from "./checks-summary.ts";
import { type Caller, shaped } from "./client.ts";
import { graphqlOutcome, refusalOfError } from "./graphql-answer.ts";
import {
  moreChecksAnswer,
  type NewestAnswer,
  type PullAnswer,
  type RepositoryAnswer,
} from "./inspect-answer.ts";
import { MORE_CHECKS } from "./inspect-query.ts";
import { repositoryById } from "./repositories.ts";
import { toWords } from "./said.ts";

/** A commit with more than 2,000 checks is judged by the first 2,000. */
const MAX_PAGES = 20;

const STATES = { OPEN: "open", CLOSED: "closed", MERGED: "merged" } as const;
const MERGEABLE = { MERGEABLE: "mergeable", CONFLICTING: "conflicting", UNKNOWN: "unknown" } as const;
const DECISIONS = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "changes_requested",
  REVIEW_REQUIRED: "review_required",
} as const;

export async function toBranchAnswer(
  caller: Caller,
  question: BranchQuestion,
  answer: RepositoryAnswer,
): Promise<BranchAnswer> {
  const defaultBranch = answer.defaultBranchRef?.name ?? (await defaultBranchOf(caller, answer));
  const ours = (answer.pullRequests?.nodes ?? [])
    .filter((pull) => pull !== null)
    .filter(isFrom(question, answer));
  const [lastChanged] = (answer.lastChanged?.nodes ?? [])
    .filter((pull) => pull !== null)
    .filter(isFrom(question, answer));
  return {
    repository: { forgeId: answer.databaseId, fullName: answer.nameWithOwner, defaultBranch },
    target: {
      name: question.targetBranch ?? answer.target?.name ?? defaultBranch,
      sha: answer.target?.target?.oid ?? null,
    },
    headSha: answer.head?.target?.oid ?? null,
    aheadBy: answer.head ? (answer.target?.compare?.aheadBy ?? null) : null,
    pullRequests: await Promise.all(ours.map((pull) => toPullRequest(caller, pull))),
    said: lastChanged ? toWords(lastChanged) : null,
    newest: newestOf(answer.head?.newest),
  };
}

/** The address under which GitHub lets an account commit. Of a bot's it tells no account (`GitActor.user` is a `User`). */
const ADDRESS = /^(\d+)\+.+@users\.noreply\./;

function newestOf(commit: NewestAnswer): NewestCommit | null {
  if (!commit) return null;
  const inAddress = ADDRESS.exec(commit.author?.email ?? "")?.[1];
  const authorId = commit.author?.user?.databaseId ?? (inAddress === undefined ? null : Number(inAddress));
  return { authorId, at: isoTime(commit.committedDate) };
}

/** A fork's branch may bear the same name, and filters are not to be trusted. */
const isFrom =
  ({ branchName }: BranchQuestion, { databaseId }: RepositoryAnswer) =>
  ({ headRefName, headRepository }: Pick<PullAnswer, "headRefName" | "headRepository">): boolean =>
    headRefName === branchName && headRepository?.databaseId === databaseId;

/** GraphQL does not name the default branch of an empty repository. */
async function defaultBranchOf(caller: Caller, answer: RepositoryAnswer): Promise<string> {
  return (await repositoryById(caller, answer.databaseId))?.defaultBranch ?? "main";
}

async function toPullRequest(caller: Caller, pull: PullAnswer): Promise<InspectedPullRequest> {
  const contexts = await checksOf(caller, pull);
  return {
    number: pull.number,
    nodeId: pull.id,
    state: STATES[pull.state],
    isDraft: pull.isDraft,
    targetBranch: pull.baseRefName,
    headSha: pull.headRefOid,
    mergeable: MERGEABLE[pull.mergeable],
    reviewDecision: pull.reviewDecision ? DECISIONS[pull.reviewDecision] : null,
    isInMergeQueue: pull.isInMergeQueue ?? false,
    mergeSha: pull.state === "MERGED" ? (pull.mergeCommit?.oid ?? null) : null,
    isMergedByPerson: toAccount(pull.mergedBy)?.isBot === false,
    checks: summarizeChecks(contexts),
    title: pull.title,
    openedAt: isoTime(pull.createdAt),
    updatedAt: isoTime(pull.updatedAt),
    closedAt: isoTime(pull.closedAt),
    mergedAt: isoTime(pull.mergedAt),
    author: toAccount(pull.author),
    mergedBy: toAccount(pull.mergedBy),
    reports: newestOfEachSeries(contexts).map(reportOf),
  };
}

async function checksOf(caller: Caller, pull: PullAnswer): Promise<CheckContext[]> {
  let page = pull.statusCheckRollup?.contexts;
  if (page === undefined) return [];
  const contexts = nodesOf(page);
  for (let pages = 1; pages < MAX_PAGES && page.pageInfo.hasNextPage && pull.state === "OPEN"; pages++) {
    const next = await moreChecks(caller, pull.id, page.pageInfo.endCursor ?? "");
    if (next === null) break;
    contexts.push(...nodesOf(next));
    page = next;
  }
  return contexts;
}

async function moreChecks(caller: Caller, pullRequestId: string, after: string): Promise<Contexts | null> {
  const answer = await caller.query(MORE_CHECKS, { pullRequestId, after });
  const outcome = graphqlOutcome(answer);
  if (outcome.refusal !== undefined) return null;
  for (const error of outcome.errors) refusalOfError(error, answer);
  const { node } = shaped(moreChecksAnswer, { ...answer, body: outcome.data });
  return node?.statusCheckRollup?.contexts ?? null;
}

function nodesOf(page: Contexts): CheckContext[] {
  return (page.nodes ?? []).filter((node) => node !== null);
}
