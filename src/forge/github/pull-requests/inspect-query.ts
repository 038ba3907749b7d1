import { z } from "zod";
import { MERGE_STATES } from "../../../flow/facts.ts";
import type { BranchInspectionRequest, InspectOptions, NewestCommit } from "../../pull-requests.ts";
import { time, graphqlAccount, ACCOUNT } from "../account-shapes.ts";
import { SUITES, suitesShape } from "./check-suites.ts";
import { CHECKS_FORBIDDABLE, contextsShape, REPORT } from "./checks.ts";
import { type ForbiddableFields, forbiddenShape, nodesOf, enumOf } from "../calls/graphql-response.ts";
import { name } from "../text-shapes.ts";
import type { QuestionKind } from "../repository-questions.ts";
import { CONVERSATION, conversationShape, reviewState } from "./conversation.ts";
import { RULES, rulesShape } from "./target-rules.ts";

/** For one branch, including closed ones. */
const PULL_REQUESTS = 20;

const CONTEXTS = /* GraphQL */ `
  fragment Contexts on StatusCheckRollupContextConnection {
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      ...Report
    }
  }
  ${REPORT}
`;

const FRAGMENTS = /* GraphQL */ `
  fragment Where on Repository {
    nameWithOwner
    isArchived
    defaultBranchRef {
      name
    }
  }
  fragment Tip on Ref {
    name
    target {
      oid
    }
  }
`;

const NEWEST = /* GraphQL */ `
  fragment Newest on Ref {
    newest: target {
      ... on Commit {
        committedDate
        author {
          email
          user {
            databaseId
          }
        }
      }
    }
  }
`;

/** GitHub lists at most 100 of each. */
const COMMITS = /* GraphQL */ `
  fragment Commits on Comparison {
    commits(first: 100) {
      nodes {
        oid
        authors(first: 20) {
          totalCount
          nodes {
            email
            user {
              databaseId
            }
          }
        }
      }
    }
  }
`;

/** What decides whether a pull request may be merged, besides its checks. */
const VERIFICATION = /* GraphQL */ `
  fragment Verification on PullRequest {
    mergeStateStatus
    viewerCanMergeAsAdmin
    latestOpinionatedReviews(first: 100, writersOnly: true) {
      nodes {
        state
        author {
          ...Who
        }
      }
    }
    reviewThreads(first: 100) {
      totalCount
      nodes {
        isResolved
      }
    }
  }
`;

const PULL_REQUEST = /* GraphQL */ `
  fragment Pull on PullRequest {
    id
    number
    state
    isDraft
    baseRefName
    headRefName
    headRefOid
    headRepository {
      databaseId
    }
    mergeable
    reviewDecision
    isInMergeQueue
    title
    createdAt
    updatedAt
    closedAt
    mergedAt
    author {
      ...Who
    }
    mergedBy {
      ...Who
    }
    mergeCommit {
      oid
    }
    commits(first: 1) {
      totalCount
    }
    statusCheckRollup {
      contexts(first: 100) {
        ...Contexts
      }
    }
  }
  ${ACCOUNT}
  ${CONTEXTS}
`;

export const MORE_CHECKS = /* GraphQL */ `
  query MoreChecks($pullRequestId: ID!, $after: String!) {
    node(id: $pullRequestId) {
      ... on PullRequest {
        statusCheckRollup {
          contexts(first: 100, after: $after) {
            ...Contexts
          }
        }
      }
    }
  }
  ${CONTEXTS}
`;

const tip = z.looseObject({ name, target: z.looseObject({ oid: z.string() }).nullable() });
/** GitHub's e-mail address for an account. A bot's commit has no account in `GitActor.user`. */
const ADDRESS = /^(\d+)\+.+@users\.noreply\./;
/** The forge id of an author; null if there is no account. */
const authorId = z
  .looseObject({
    email: z.string().nullish(),
    user: z.looseObject({ databaseId: z.number().nullish() }).nullish(),
  })
  .nullish()
  .transform((author) => {
    const inAddress = ADDRESS.exec(author?.email ?? "")?.[1];
    return author?.user?.databaseId ?? (inAddress === undefined ? null : Number(inAddress));
  });
const newestShape = z
  .looseObject({ committedDate: time, author: authorId })
  .transform(({ committedDate: at, author }): NewestCommit => ({ authorId: author, at }))
  .nullish()
  .catch(null);
const commits = z
  .looseObject({
    nodes: nodesOf(
      z.looseObject({
        oid: z.string(),
        authors: z.looseObject({ totalCount: z.number(), nodes: z.array(authorId) }),
      }),
    ),
  })
  .nullish()
  .catch(null);
const head = tip.extend({ newest: newestShape, checked: suitesShape });
const target = tip.extend({
  ...rulesShape,
  compare: z.looseObject({ aheadBy: z.number(), behindBy: z.number().nullish(), commits }).nullish(),
});

const pull = z.looseObject({
  id: z.string(),
  number: z.number(),
  state: enumOf(["open", "closed", "merged"]),
  isDraft: z.boolean(),
  baseRefName: name,
  headRefName: name,
  headRefOid: z.string(),
  headRepository: z.looseObject({ databaseId: z.number().nullable() }).nullable(),
  mergeable: enumOf(["mergeable", "conflicting", "unknown"]).catch("unknown"),
  reviewDecision: enumOf(["approved", "changes_requested", "review_required"]).nullish(),
  isInMergeQueue: z.boolean().nullish(),
  title: name.catch(""),
  createdAt: time,
  updatedAt: time,
  closedAt: time,
  mergedAt: time,
  author: graphqlAccount,
  mergedBy: graphqlAccount,
  mergeCommit: z.looseObject({ oid: z.string() }).nullish(),
  commits: z.looseObject({ totalCount: z.number() }).nullish(),
  statusCheckRollup: z.union([forbiddenShape, z.looseObject({ contexts: contextsShape })]).nullish(),
  mergeStateStatus: enumOf(MERGE_STATES).nullish().catch("unknown"),
  viewerCanMergeAsAdmin: z.boolean().nullish(),
  latestOpinionatedReviews: z
    .looseObject({
      nodes: nodesOf(
        z.looseObject({
          state: reviewState,
          author: graphqlAccount,
        }),
      ),
    })
    .nullish(),
  reviewThreads: z
    .looseObject({ totalCount: z.number(), nodes: nodesOf(z.looseObject({ isResolved: z.boolean() })) })
    .nullish(),
});

const repositoryShape = z.looseObject({
  databaseId: z.number(),
  nameWithOwner: name,
  isArchived: z.boolean().nullish(),
  defaultBranchRef: z.looseObject({ name }).nullable(),
  target: target.nullish(),
  head: head.nullish(),
  pullRequests: z.looseObject({ nodes: nodesOf(pull) }).nullish(),
  lastChanged: z.looseObject({ nodes: nodesOf(conversationShape) }).nullish(),
});

export const moreChecksShape = z.looseObject({
  node: z.looseObject({ statusCheckRollup: z.looseObject({ contexts: contextsShape }).nullish() }).nullish(),
});

/** What an inspection does without, or limits only what needs it. */
export const FORBIDDABLE: ForbiddableFields = {
  asMissing: ["refUpdateRule", "rules", ...CHECKS_FORBIDDABLE.asMissing],
  asForbidden: ["statusCheckRollup", "rules.nodes.parameters", ...CHECKS_FORBIDDABLE.asForbidden],
};

export type InspectedRepository = z.infer<typeof repositoryShape>;
export type InspectedPull = z.infer<typeof pull>;

export const inspection = ({
  maxPullRequests = PULL_REQUESTS,
  includesConversation = false,
  includesCommits = false,
  includesRules = false,
}: InspectOptions = {}): QuestionKind<BranchInspectionRequest, InspectedRepository> => ({
  operation: "Inspect",
  fields: ({ branchName, targetBranch }, declare) => {
    const target =
      targetBranch === null
        ? "defaultBranchRef"
        : `ref(qualifiedName: ${declare("t", "String!", `refs/heads/${targetBranch}`)})`;
    if (branchName === null) return `...Where target: ${target} { ...Tip }`;
    const branch = declare("b", "String!", branchName);
    const head = declare("q", "String!", `refs/heads/${branchName}`);
    const fields = `...Where
      target: ${target} { ...Tip${includesRules ? " ...Rules" : ""} compare(headRef: ${branch}) { aheadBy behindBy${includesCommits ? " ...Commits" : ""} } }
      head: ref(qualifiedName: ${head}) { ...Tip ...Suites${includesConversation ? " ...Newest" : ""} }
      pullRequests(headRefName: ${branch}, first: ${maxPullRequests}, orderBy: { field: CREATED_AT, direction: DESC }) {
        nodes { ...Pull${includesRules ? " ...Verification" : ""} }
      }`;
    if (!includesConversation) return fields;
    // Only of the pull request that changed last, because comments are expensive to read.
    return `${fields}
      lastChanged: pullRequests(headRefName: ${branch}, first: 1, orderBy: { field: UPDATED_AT, direction: DESC }) {
        nodes { ...SaidOn }
      }`;
  },
  fragments: (questions) => {
    if (questions.every(({ branchName }) => branchName === null)) return FRAGMENTS;
    return [
      FRAGMENTS,
      PULL_REQUEST,
      SUITES,
      ...(includesCommits ? [COMMITS] : []),
      ...(includesRules ? [RULES, VERIFICATION] : []),
      ...(includesConversation ? [CONVERSATION, NEWEST] : []),
    ].join("\n");
  },
  shape: repositoryShape,
  forbiddable: FORBIDDABLE,
});
