import { z } from "zod";
import type { Review } from "../forge.ts";
import { NO_ITEMS, pageOf, type PullRequestList } from "./pull-request-lists.ts";

const reviewShape = z.looseObject({
  state: z.enum(["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"]),
  body: z.string(),
  author: z.looseObject({ kind: z.string(), login: z.string() }).nullish(),
});

type ReviewAnswer = z.infer<typeof reviewShape>;

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
export const REVIEWS: PullRequestList<ReviewAnswer, Review> = {
  name: "Reviews",
  select: (page) => `reviews(${page}) { ...ReviewPage }`,
  fragments: REVIEW_PAGE,
  shape: z
    .looseObject({ id: z.string(), reviews: pageOf(reviewShape).nullish() })
    .transform(({ id, reviews }) => ({ id, page: reviews ?? NO_ITEMS })),
  tell: (reviews) => reviews.map(toReview),
};

const STATES = {
  APPROVED: "approved",
  CHANGES_REQUESTED: "changes_requested",
  COMMENTED: "commented",
  DISMISSED: "dismissed",
  PENDING: "pending",
} as const satisfies Record<ReviewAnswer["state"], Review["state"]>;

function toReview({ author, state, body }: ReviewAnswer): Review {
  return { author: loginOf(author), state: STATES[state], body };
}

/** GraphQL leaves out the `[bot]` that webhooks and REST put behind a bot's login; nobody stands for a deleted account. */
function loginOf(author: ReviewAnswer["author"]): string {
  if (!author) return "ghost";
  return author.kind === "Bot" ? `${author.login}[bot]` : author.login;
}
