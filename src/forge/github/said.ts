import { z } from "zod";
import type { InspectedWords } from "../forge.ts";
import { time, who } from "./actor.ts";
import { nodesOf } from "./graphql-answer.ts";
import { reviewState } from "./reviews.ts";

/** Of comments and of reviews each the newest. */
const NEWEST = 20;

/** What was said last on a pull request. */
export const SAID_ON = /* GraphQL */ `
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

/** A 64-bit number, which GraphQL gives as text. */
const forgeId = z.union([z.string(), z.number()]).transform(Number).pipe(z.int());

const commentShape = z.looseObject({
  fullDatabaseId: forgeId,
  body: z.string(),
  createdAt: time,
  updatedAt: time,
  author: who,
});

const reviewShape = z.looseObject({
  fullDatabaseId: forgeId,
  state: reviewState,
  body: z.string(),
  submittedAt: time,
  updatedAt: time,
  author: who,
});

export const saidOnShape = z.looseObject({
  number: z.number(),
  headRefName: z.string(),
  headRepository: z.looseObject({ databaseId: z.number().nullable() }).nullable(),
  comments: z.looseObject({
    pageInfo: z.looseObject({ hasPreviousPage: z.boolean() }).nullish(),
    nodes: nodesOf(commentShape),
  }),
  reviews: z.looseObject({ nodes: nodesOf(reviewShape) }),
});

/** Reviews nobody has sent yet are left out. */
export const toWords = ({ number, comments, reviews }: z.infer<typeof saidOnShape>): InspectedWords => ({
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
