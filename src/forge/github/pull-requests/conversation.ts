/** Reviews and comments of a pull request. */
import { z } from "zod";
import type { InspectedConversation, Review } from "../../pull-requests.ts";
import { time, graphqlAccount } from "../account-shapes.ts";
import { nodesOf, enumOf } from "../calls/graphql-response.ts";
import { name, text } from "../text-shapes.ts";
import { NO_ITEMS, pageOf, type PullRequestList } from "./pull-request-lists.ts";

/** Upper case in GraphQL, lower case in webhooks. */
export const reviewState = enumOf(["approved", "changes_requested", "commented", "dismissed", "pending"]);

/** GraphQL omits the `[bot]` of a bot's login. The author of a deleted account is null. */
const reviewShape = z
  .looseObject({
    state: reviewState,
    body: text,
    author: z.looseObject({ kind: z.string(), login: name }).nullish(),
  })
  .transform(({ state, body, author }): Review => {
    const login = author?.kind === "Bot" ? `${author.login}[bot]` : author?.login;
    return { author: login ?? "ghost", state, body };
  });

const REVIEW_PAGE = /* GraphQL */ `
  fragment ReviewPage on PullRequestReviewConnection {
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      state
      body
      author {
        kind: __typename
        login
      }
    }
  }
`;

/** GitHub lists reviews oldest first. */
export const REVIEWS: PullRequestList<Review, Review> = {
  name: "Reviews",
  select: (page) => `reviews(${page}) { ...ReviewPage }`,
  fragments: REVIEW_PAGE,
  shape: z
    .looseObject({ id: z.string(), reviews: pageOf(reviewShape).nullish() })
    .transform(({ id, reviews }) => ({ id, page: reviews ?? NO_ITEMS })),
  toValues: (reviews) => reviews,
};

/** The number of comments, and of reviews, to read. */
const NEWEST = 20;

export const CONVERSATION = /* GraphQL */ `
  fragment SaidOn on PullRequest {
    number
    headRefName
    headRepository {
      databaseId
    }
    comments(last: ${NEWEST}) {
      pageInfo {
        hasPreviousPage
      }
      nodes {
        fullDatabaseId
        body
        createdAt
        updatedAt
        author {
          ...Who
        }
      }
    }
    reviews(last: ${NEWEST}) {
      nodes {
        fullDatabaseId
        state
        body
        submittedAt
        updatedAt
        author {
          ...Who
        }
      }
    }
  }
`;

/** GraphQL returns 64-bit numbers as strings. */
const forgeId = z.union([z.string(), z.number()]).transform(Number).pipe(z.int());

const commentShape = z.looseObject({
  fullDatabaseId: forgeId,
  body: text,
  createdAt: time,
  updatedAt: time,
  author: graphqlAccount,
});

const newestReviewShape = z.looseObject({
  fullDatabaseId: forgeId,
  state: reviewState,
  body: text,
  submittedAt: time,
  updatedAt: time,
  author: graphqlAccount,
});

export const conversationShape = z.looseObject({
  number: z.number(),
  headRefName: name,
  headRepository: z.looseObject({ databaseId: z.number().nullable() }).nullable(),
  comments: z.looseObject({
    pageInfo: z.looseObject({ hasPreviousPage: z.boolean() }).nullish(),
    nodes: nodesOf(commentShape),
  }),
  reviews: z.looseObject({ nodes: nodesOf(newestReviewShape) }),
});

/** Omits reviews that are not submitted. */
export const toConversation = ({
  number,
  comments,
  reviews,
}: z.infer<typeof conversationShape>): InspectedConversation => ({
  number,
  isAllComments: comments.pageInfo?.hasPreviousPage === false,
  comments: comments.nodes.map((comment) => ({
    commentId: comment.fullDatabaseId,
    author: comment.author,
    body: comment.body,
    writtenAt: comment.createdAt,
    changedAt: comment.updatedAt,
  })),
  reviews: reviews.nodes.flatMap(({ fullDatabaseId, author, state, body, ...times }) => {
    if (state === "pending") return [];
    const at = state === "dismissed" ? times.updatedAt : times.submittedAt;
    return { reviewId: fullDatabaseId, author, state, body, at };
  }),
});
