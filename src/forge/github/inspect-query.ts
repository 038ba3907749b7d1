import type { BranchQuestion, InspectOptions } from "../forge.ts";
import { WHO } from "./actor.ts";
import type { Document } from "./ask-repositories.ts";
import { SAID_ON } from "./said.ts";

/** Pull requests looked at for one branch: closed ones pile up where a branch is tried again. */
export const PULL_REQUESTS = 20;

const CONTEXTS = /* GraphQL */ `
  fragment Contexts on StatusCheckRollupContextConnection {
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      kind: __typename
      ... on CheckRun {
        databaseId
        name
        status
        conclusion
        checkSuite {
          app {
            databaseId
          }
        }
      }
      ... on StatusContext {
        context
        state
        createdAt
      }
    }
  }
`;

const FRAGMENTS = /* GraphQL */ `
  fragment Where on Repository {
    databaseId
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
    statusCheckRollup {
      contexts(first: 100) {
        ...Contexts
      }
    }
  }
  ${WHO}
  ${CONTEXTS}
`;

/** Further checks of one pull request's head, a hundred at a time. */
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

/**
 * All questions as one document, the n-th under the alias `r<n>`. What users chose, names of repositories and branches, goes in
 * as variables only.
 */
export function inspectDocument(
  questions: readonly BranchQuestion[],
  options: InspectOptions = {},
): Document {
  const variables: Record<string, unknown> = {};
  const types: string[] = [];
  const declare = (name: string, value: string): string => {
    variables[name] = value;
    types.push(`$${name}: String!`);
    return `$${name}`;
  };
  const parts = questions.map((question, index) => aliased(question, index, options, declare));
  const hasPulls = questions.some((question) => question.branchName !== null);
  const head = `query Inspect(${types.join(", ")}) {\n${parts.join("\n")}\n}`;
  const fragments = hasPulls
    ? [FRAGMENTS, PULL_REQUEST, ...(options.isSaidAsked ? [SAID_ON, NEWEST] : [])]
    : [FRAGMENTS];
  return { document: [head, ...fragments].join("\n"), variables };
}

function aliased(
  question: BranchQuestion,
  index: number,
  { pullRequests = PULL_REQUESTS, isSaidAsked = false }: InspectOptions,
  declare: (name: string, value: string) => string,
): string {
  const [owner = "", name = ""] = question.repository.fullName.split("/");
  const { branchName, targetBranch } = question;
  const where = `owner: ${declare(`o${index}`, owner)}, name: ${declare(`n${index}`, name)}`;
  const targetField =
    targetBranch === null
      ? "defaultBranchRef"
      : `ref(qualifiedName: ${declare(`t${index}`, `refs/heads/${targetBranch}`)})`;
  if (branchName === null) {
    return `r${index}: repository(${where}) { ...Where target: ${targetField} { ...Tip } }`;
  }
  const branch = declare(`b${index}`, branchName);
  const qualified = declare(`q${index}`, `refs/heads/${branchName}`);
  return `r${index}: repository(${where}) {
    ...Where
    target: ${targetField} { ...Tip compare(headRef: ${branch}) { aheadBy } }
    head: ref(qualifiedName: ${qualified}) { ...Tip${isSaidAsked ? " ...Newest" : ""} }
    pullRequests(headRefName: ${branch}, first: ${pullRequests}, orderBy: { field: CREATED_AT, direction: DESC }) {
      nodes { ...Pull }
    }${isSaidAsked ? lastChanged(branch) : ""}
  }`;
}

/** What was said on one more than that would cost as much again: somebody who says something changes the pull request. */
const lastChanged = (branch: string): string => `
    lastChanged: pullRequests(headRefName: ${branch}, first: 1, orderBy: { field: UPDATED_AT, direction: DESC }) {
      nodes { ...SaidOn }
    }`;
