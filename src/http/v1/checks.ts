import { z } from "zod";
import type { PullRequestQuestion } from "../../forge/pull-requests.ts";
import type { Asked } from "../../forge/values.ts";
import { listOpenPullRequests, type OpenPullRequest } from "../../store/forge/pull-requests.ts";
import { cardOf, cardParams } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";

const error = z
  .string()
  .nullable()
  .meta({ description: "Why this repository could not be asked, in words; null when it answered" });

const note = z
  .object({
    path: z.string(),
    line: z.int(),
    level: z.enum(["notice", "warning", "failure"]),
    message: z.string(),
  })
  .meta({ id: "CheckNote" });

const run = z
  .object({
    id: z.string(),
    name: z.string(),
    state: z.enum(["passing", "failing", "pending", "skipped"]),
    url: z.string().nullable().meta({ description: "Where a person reads more" }),
    summary: z.string().nullable().meta({ description: "What its reporter says of it, as markdown" }),
    notes: z.array(note).max(20).meta({ description: "Of a failing run, the first 20; else empty" }),
  })
  .meta({ id: "CheckRun", description: "A check run or a commit status" });

const checksEntry = z
  .object({
    repository: z.string().meta({ example: "acme/web" }),
    branchName: z.string(),
    runs: z
      .array(run)
      .nullable()
      .meta({ description: "Empty when nothing has reported; null when the repository could not be asked" }),
    error,
  })
  .meta({ id: "ChecksEntry" });

const reviewsEntry = z
  .object({
    repository: z.string().meta({ example: "acme/web" }),
    prNumber: z.int(),
    reviews: z
      .array(
        z.object({
          author: z.string().meta({ description: "The forge login", example: "grace" }),
          state: z.enum(["approved", "changes_requested", "commented", "dismissed", "pending"]),
          body: z.string(),
        }),
      )
      .nullable()
      .meta({ description: "Oldest first; null when the repository could not be asked" }),
    error,
  })
  .meta({ id: "ReviewsEntry" });

/** Asks about all that can be asked; the others are answered for here. */
async function askLive<T>(
  ask: (questions: readonly PullRequestQuestion[]) => Promise<readonly Asked<T>[]>,
  pulls: readonly OpenPullRequest[],
): Promise<{ readonly value: T | null; readonly error: string | null }[]> {
  const questions = pulls.flatMap(({ ref, number }) => (ref ? [{ repository: ref, number }] : []));
  const answers = questions.length > 0 ? [...(await ask(questions))] : [];
  return pulls.map(({ ref, fullName }) => {
    const answer = ref && answers.shift();
    if (!answer)
      return { value: null, error: `The App's installation does not grant ${fullName} any longer` };
    return answer.ok ? { value: answer.value, error: null } : { value: null, error: answer.error };
  });
}

export const checkRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/cards/{number}/checks",
    summary: "What CI says of a card, asked live from the forge",
    description:
      "One entry for each repository with an open pull request of the card. A repository that cannot be asked, or does not answer within 5 seconds, says so in its entry; the others answer all the same.",
    tag: "Cards",
    params: cardParams,
    responses: { 200: { description: "By the repositories' names", schema: z.array(checksEntry) } },
    handle: async (deps, { board, params }) => {
      const pulls = await listOpenPullRequests(deps.db, (await cardOf(deps.db, board, params)).id);
      const answers = await askLive((questions) => deps.forge.checks(questions), pulls);
      return pulls.map(({ fullName, branchName }, index) => {
        const { value: runs, error } = answers[index]!;
        return { repository: fullName, branchName, runs, error };
      });
    },
  }),
  readRoute({
    path: "/v1/cards/{number}/reviews",
    summary: "What reviewers say of a card, asked live from the forge",
    description: "One entry for each repository with an open pull request of the card, as with its checks.",
    tag: "Cards",
    params: cardParams,
    responses: { 200: { description: "By the repositories' names", schema: z.array(reviewsEntry) } },
    handle: async (deps, { board, params }) => {
      const pulls = await listOpenPullRequests(deps.db, (await cardOf(deps.db, board, params)).id);
      const answers = await askLive((questions) => deps.forge.reviews(questions), pulls);
      return pulls.map(({ fullName, number }, index) => {
        const { value: reviews, error } = answers[index]!;
        return { repository: fullName, prNumber: number, reviews, error };
      });
    },
  }),
];
