import { z } from "zod";
import type { Review } from "../forge.ts";
import { wordOf } from "./graphql-answer.ts";
import { NO_ITEMS, pageOf, type PullRequestList } from "./pull-request-lists.ts";

/** GitHub's words for a review; it writes them in either case. */
export const reviewState = wordOf(["approved", "changes_requested", "commented", "dismissed", "pending"]);

/** GraphQL leaves out the `[bot]` at the end of a bot's login; a deleted account has no author. */
const reviewShape = z
  .looseObject({
    state: reviewState,
    body: z.string(),
    author: z.looseObject({ kind: z.string(), login: z.string() }).nullish(),
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

/** A pull request's reviews, which GitHub lists in the order of time. */
export const REVIEWS: PullRequestList<Review, Review> = {
  name: "Reviews",
  select: (page) => `reviews(${page}) { ...ReviewPage }`,
  fragments: REVIEW_PAGE,
  shape: z
    .looseObject({ id: z.string(), reviews: pageOf(reviewShape).nullish() })
    .transform(({ id, reviews }) => ({ id, page: reviews ?? NO_ITEMS })),
  tell: (reviews) => reviews,
};
