import { z } from "zod";
import type { InspectedWords } from "../forge.ts";
import { isoTime, toAccount, who } from "./actor.ts";

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

const listOf = <Node>(node: z.ZodType<Node>) =>
  z.looseObject({
    pageInfo: z.looseObject({ hasPreviousPage: z.boolean() }).nullish(),
    nodes: z.array(node.nullable()).nullable(),
  });

const shownOf = <Node>({ nodes }: { readonly nodes: readonly (Node | null)[] | null }): Node[] =>
  (nodes ?? []).filter((each) => each !== null);

const commentShape = z.looseObject({
  fullDatabaseId: forgeId,
  body: z.string(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
  author: who,
});

const reviewShape = z.looseObject({
  fullDatabaseId: forgeId,
  state: z.enum(["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"]),
  body: z.string(),
  submittedAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
  author: who,
});

export const saidOnShape = z.looseObject({
  number: z.number(),
  headRefName: z.string(),
  headRepository: z.looseObject({ databaseId: z.number().nullable() }).nullable(),
  comments: listOf(commentShape),
  reviews: listOf(reviewShape),
});

const STATES = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "changes_requested",
  COMMENTED: "commented",
  DISMISSED: "dismissed",
} as const;

/** Reviews nobody has sent yet are left out. */
export const toWords = ({ number, comments, reviews }: z.infer<typeof saidOnShape>): InspectedWords => ({
  number,
  isAllComments: comments.pageInfo?.hasPreviousPage === false,
  comments: shownOf(comments).map((comment) => ({
    commentId: comment.fullDatabaseId,
    author: toAccount(comment.author),
    body: comment.body,
    writtenAt: isoTime(comment.createdAt),
    changedAt: isoTime(comment.updatedAt),
  })),
  reviews: shownOf(reviews).flatMap((review) =>
    review.state === "PENDING"
      ? []
      : {
          reviewId: review.fullDatabaseId,
          author: toAccount(review.author),
          state: STATES[review.state],
          body: review.body,
          at: isoTime(review.state === "DISMISSED" ? review.updatedAt : review.submittedAt),
        },
  ),
});
