import type { CommitFacts, PullRequestFacts, ReviewFacts, TargetRules } from "../../../flow/facts.ts";
import { isRefusal, type Refusal } from "../../../flow/refusal.ts";
import {
  BRANCHES_PER_CALL,
  type BranchInspection,
  type BranchInspectionRequest,
  type InspectedPullRequest,
  type InspectOptions,
} from "../../pull-requests.ts";
import {
  type Contexts,
  newestOfEachSeries,
  reportOf,
  type RequiredCheck,
  summarizeChecks,
  unmetChecks,
} from "./checks.ts";
import { type GitHubCaller, type GitHubClient, parseResponse } from "../calls/client.ts";
import { graphqlOutcome, refusalOfError, withoutForbidden } from "../calls/graphql-response.ts";
import {
  FORBIDDABLE,
  inspection,
  MORE_CHECKS,
  moreChecksShape,
  type InspectedPull,
  type InspectedRepository,
} from "./inspect-query.ts";
import { repositoryOf } from "../repositories.ts";
import { askInstallations, failTooLarge } from "../repository-questions.ts";
import { emptySuites } from "./check-suites.ts";
import { toConversation } from "./conversation.ts";
import type { BypassReader } from "./ruleset-bypass.ts";
import { isLandedWithChecks, requiredChecksOf, toTargetRules } from "./target-rules.ts";

/** Guards against a list that never ends. */
const MAX_PAGES = 100;

/** How one installation's branches are read. */
interface Reading {
  readonly caller: GitHubCaller;
  readonly readBypass: BypassReader;
  readonly includesRules: boolean;
}

export const inspect = (
  client: GitHubClient,
  readBypass: BypassReader,
  questions: readonly BranchInspectionRequest[],
  options?: InspectOptions,
): Promise<BranchInspection[]> =>
  askInstallations(
    client,
    inspection(options),
    { questions, perCall: BRANCHES_PER_CALL, tooLarge: options?.isPartial ? withoutResponse : failTooLarge },
    (response, question, caller) =>
      toBranchInspection(response, question, {
        caller,
        readBypass,
        includesRules: options?.includesRules ?? false,
      }),
  );

const withoutResponse = ({ message }: Error): BranchInspection => ({
  refusal: { reason: "unknown", message },
});

async function toBranchInspection(
  response: InspectedRepository,
  question: BranchInspectionRequest,
  reading: Reading,
): Promise<BranchInspection> {
  const { caller } = reading;
  // In GraphQL, an empty repository has no default branch.
  const defaultBranch =
    response.defaultBranchRef?.name ??
    (await repositoryOf(caller, question.repository))?.defaultBranch ??
    "main";
  // Excludes forks' branches of the same name, and does not rely on GitHub's filters.
  const isOurs = (pull: Pick<InspectedPull, "headRefName" | "headRepository">): boolean =>
    pull.headRefName === question.branchName && pull.headRepository?.databaseId === response.databaseId;
  const ours = response.pullRequests?.nodes.filter(isOurs) ?? [];
  const lastChanged = response.lastChanged?.nodes.find(isOurs);
  const shown = await rulesOf(response, question, reading);
  const required = shown?.required ?? null;
  const read = await Promise.all(ours.map((pull) => toPullRequest(caller, pull, required, response.head)));
  const incomplete = read.find(isRefusal);
  if (incomplete) return { refusal: incomplete };
  return {
    repository: { forgeId: response.databaseId, fullName: response.nameWithOwner, defaultBranch },
    target: {
      name: question.targetBranch ?? response.target?.name ?? defaultBranch,
      sha: response.target?.target?.oid ?? null,
    },
    headSha: response.head?.target?.oid ?? null,
    aheadBy: response.head ? (response.target?.compare?.aheadBy ?? null) : null,
    behindBy: response.head ? (response.target?.compare?.behindBy ?? null) : null,
    commits: commitsOf(response),
    pullRequests: read.flatMap((pull) => (isRefusal(pull) ? [] : [pull])),
    ...(shown && { rules: shown.rules, isLandedWithChecks: shown.isLandedWithChecks }),
    ...(required && { requiredChecks: [...new Set(required.map(({ name }) => name))] }),
    conversation: lastChanged ? toConversation(lastChanged) : null,
    newest: response.head?.newest ?? null,
  };
}

interface ShownOfTarget {
  readonly rules: TargetRules | Refusal;
  readonly required: RequiredCheck[] | null;
  readonly isLandedWithChecks: boolean;
}

/** Null if they were not asked for. */
async function rulesOf(
  { target, pullRequests }: InspectedRepository,
  { repository }: BranchInspectionRequest,
  { caller, readBypass, includesRules }: Reading,
): Promise<ShownOfTarget | null> {
  if (!includesRules || !target) return null;
  const open = pullRequests?.nodes.filter(({ state }) => state === "open") ?? [];
  const asAdmin = open.map(({ viewerCanMergeAsAdmin }) => viewerCanMergeAsAdmin ?? null);
  const rules = await toTargetRules(target, {
    ofRuleset: (rulesetId) => readBypass(caller, repository, rulesetId),
    ofProtection: asAdmin.includes(true) ? true : (asAdmin[0] ?? null),
  });
  const required = isRefusal(rules) ? null : requiredChecksOf(target);
  return { rules, required, isLandedWithChecks: isLandedWithChecks(target) };
}

/** Null if GitHub did not list all of the commits or authors. */
function commitsOf({ target }: InspectedRepository): readonly CommitFacts[] | null {
  const { aheadBy = 0, commits } = target?.compare ?? {};
  if (!commits || commits.nodes.length < aheadBy) return null;
  const isComplete = commits.nodes.every(({ authors }) => authors.nodes.length === authors.totalCount);
  return isComplete
    ? commits.nodes.map(({ oid, authors }) => ({ sha: oid, authorIds: authors.nodes }))
    : null;
}

async function toPullRequest(
  caller: GitHubCaller,
  pull: InspectedPull,
  required: readonly RequiredCheck[] | null,
  head: InspectedRepository["head"],
): Promise<InspectedPullRequest | Refusal> {
  const contexts = await checksOf(caller, pull);
  if (contexts === null) return incompleteChecks(pull);
  const shown = contexts.filter((context) => "kind" in context);
  const suites = pull.headRefOid === head?.target?.oid ? emptySuites(head.checked) : [];
  const reports = [...newestOfEachSeries(shown).map(reportOf), ...(suites ?? [])];
  const hidden = shown.length < contexts.length || suites === null ? HIDDEN_CHECKS : undefined;
  const isEmptied = pull.commits?.totalCount === 0 && pull.state !== "open";
  // GitHub marks one as merged at the next push to its target, but nothing was merged.
  const state = isEmptied ? "closed" : pull.state;
  return {
    number: pull.number,
    nodeId: pull.id,
    state,
    ...(isEmptied && { isEmptied }),
    isDraft: pull.isDraft,
    targetBranch: pull.baseRefName,
    headSha: pull.headRefOid,
    mergeable: pull.mergeable,
    reviewDecision: pull.reviewDecision ?? null,
    isInMergeQueue: pull.isInMergeQueue ?? false,
    ...verificationOf(pull),
    mergeSha: state === "merged" ? (pull.mergeCommit?.oid ?? null) : null,
    isMergedByPerson: pull.mergedBy?.isBot === false,
    checks: { ...summarizeChecks(reports), ...(hidden && { hidden }) },
    ...(required && { unmetChecks: unmetChecks(required, reports) }),
    title: pull.title,
    openedAt: pull.createdAt,
    updatedAt: pull.updatedAt,
    closedAt: pull.closedAt,
    mergedAt: pull.mergedAt,
    author: pull.author,
    mergedBy: pull.mergedBy,
    reports,
  };
}

/** Empty if it was not asked for. */
function verificationOf(pull: InspectedPull): Partial<PullRequestFacts> {
  const { mergeStateStatus, latestOpinionatedReviews: opinions, reviewThreads: threads } = pull;
  const unresolved = threads?.nodes.filter(({ isResolved }) => !isResolved).length ?? 0;
  const isComplete = threads?.nodes.length === threads?.totalCount;
  return {
    ...(mergeStateStatus && { mergeState: mergeStateStatus }),
    ...(opinions && { reviews: opinions.nodes.flatMap(toReviewFacts) }),
    ...(threads && { unresolvedThreads: unresolved > 0 || isComplete ? unresolved : null }),
  };
}

type Opinion = NonNullable<InspectedPull["latestOpinionatedReviews"]>["nodes"][number];

const toReviewFacts = ({ state, author }: Opinion): ReviewFacts[] =>
  state === "commented" || state === "pending"
    ? []
    : [
        {
          state,
          author: author && { forgeId: author.forgeId, login: author.login },
        },
      ];

/** Null for a part of the checks of an open pull request: others may fail. */
async function checksOf(
  caller: GitHubCaller,
  { id, state, statusCheckRollup: rollup }: InspectedPull,
): Promise<Contexts["nodes"] | null> {
  if (!rollup) return [];
  if (!("contexts" in rollup)) return [rollup];
  let page = rollup.contexts;
  const contexts = [...page.nodes];
  if (state !== "open") return contexts;
  for (let pages = 1; page.pageInfo.hasNextPage; pages++) {
    const next = await moreChecks(caller, id, page.pageInfo.endCursor ?? "");
    if (next === null || pages === MAX_PAGES) return null;
    contexts.push(...next.nodes);
    page = next;
  }
  return contexts;
}

const HIDDEN_CHECKS: Refusal = {
  reason: "not_permitted",
  message:
    "GitHub does not show the App all checks: Resource not accessible by integration. Accept the permissions checks: read and statuses: read.",
  details: { permissions: ["checks: read", "statuses: read"] },
};

const incompleteChecks = ({ number }: InspectedPull): Refusal => ({
  reason: "unknown",
  message: `GitHub did not list all checks of pull request #${number}. Try again.`,
});

async function moreChecks(
  caller: GitHubCaller,
  pullRequestId: string,
  after: string,
): Promise<Contexts | null> {
  const response = await caller.query(MORE_CHECKS, { pullRequestId, after });
  const outcome = graphqlOutcome(response);
  if (!outcome.ok) return null;
  const { data, errors } = outcome.value;
  for (const error of withoutForbidden(errors, data, FORBIDDABLE)) refusalOfError(error, response);
  const { node } = parseResponse(moreChecksShape, { ...response, body: data });
  return node?.statusCheckRollup?.contexts ?? null;
}
