import { z } from "zod";
import { readsAbout } from "../../actions/live-reads.ts";
import type { PullRequestQuestion } from "../../forge/pull-requests.ts";
import type { QuestionResult } from "../../forge/values.ts";
import { listOpenPullRequests, type OpenPullRequest } from "../../store/forge/pull-requests.ts";
import { cardOf, cardParams } from "../resolve.ts";
import { readRoute, type Route } from "../route.ts";
import { reviewState } from "./shapes.ts";

const error = z
  .string()
  .nullable()
  .meta({ description: "Why GitHub did not respond for this repository; null if it did" });

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
    workflow: z.object({ name: z.string(), event: z.string() }).optional().meta({
      description:
        "The workflow of GitHub Actions and the event that started it, such as `pull_request`; absent if GitHub does not show it to the App",
    }),
    state: z.enum(["passing", "failing", "pending", "skipped"]),
    url: z.string().nullable().meta({ description: "The web page of the run" }),
    summary: z.string().nullable().meta({ description: "Markdown, from the reporter of the run" }),
    notes: z.array(note).max(20).meta({ description: "The first 20 of a failing run, otherwise empty" }),
  })
  .meta({ id: "CheckRun", description: "A check run or a commit status" });

const checksEntry = z
  .object({
    repository: z.string(),
    branchName: z.string(),
    runs: z
      .array(run)
      .nullable()
      .meta({ description: "Empty if nothing has reported; null if GitHub did not respond" }),
    error,
  })
  .meta({ id: "ChecksEntry" });

const reviewsEntry = z
  .object({
    repository: z.string(),
    prNumber: z.int(),
    reviews: z
      .array(
        z.object({
          author: z.string().meta({ description: "The GitHub login" }),
          state: reviewState,
          body: z.string(),
        }),
      )
      .nullable()
      .meta({ description: "Oldest first; null if GitHub did not respond" }),
    error,
  })
  .meta({ id: "ReviewsEntry" });

/** Asks GitHub about the connected repositories, and adds an error for each of the others. */
async function askLive<T>(
  ask: (questions: readonly PullRequestQuestion[]) => Promise<readonly QuestionResult<T>[]>,
  pulls: readonly OpenPullRequest[],
): Promise<{ readonly value: T | null; readonly error: string | null }[]> {
  const questions = pulls.flatMap(({ forgeRef, number }) =>
    forgeRef ? [{ repository: forgeRef, number }] : [],
  );
  const results = questions.length > 0 ? [...(await ask(questions))] : [];
  return pulls.map(({ forgeRef, fullName }) => {
    const result = forgeRef && results.shift();
    if (!result)
      return { value: null, error: `The App's installation no longer grants access to ${fullName}` };
    return result.ok ? { value: result.value, error: null } : { value: null, error: result.error };
  });
}

export const checkRoutes: readonly Route[] = [
  readRoute({
    path: "/v1/cards/{number}/checks",
    summary: "List the checks of a card",
    description:
      "Reads the checks from GitHub, or repeats what it said in the last 3 seconds unless the card has changed since: one entry for each repository with an open pull request of the card. If GitHub does not respond for a repository within 5 seconds, its entry has an `error`; the other entries are complete.",
    tag: "Cards",
    params: cardParams,
    responses: { 200: { description: "Sorted by repository name", schema: z.array(checksEntry) } },
    handle: async (deps, { board, params }) => {
      const card = await cardOf(deps.db, board, params);
      const share = await readsAbout(deps, card);
      const pulls = await listOpenPullRequests(deps.db, card.id);
      const ask = (questions: readonly PullRequestQuestion[]) =>
        share("checks", questions, () => deps.forge.checks(questions));
      const results = await askLive(ask, pulls);
      return pulls.map(({ fullName, branchName }, index) => {
        const { value: runs, error } = results[index]!;
        return { repository: fullName, branchName, runs, error };
      });
    },
  }),
  readRoute({
    path: "/v1/cards/{number}/reviews",
    summary: "List the reviews of a card",
    description: "Reads the reviews from GitHub, in the same way as the checks.",
    tag: "Cards",
    params: cardParams,
    responses: { 200: { description: "Sorted by repository name", schema: z.array(reviewsEntry) } },
    handle: async (deps, { board, params }) => {
      const card = await cardOf(deps.db, board, params);
      const share = await readsAbout(deps, card);
      const pulls = await listOpenPullRequests(deps.db, card.id);
      const ask = (questions: readonly PullRequestQuestion[]) =>
        share("reviews", questions, () => deps.forge.reviews(questions));
      const results = await askLive(ask, pulls);
      return pulls.map(({ fullName, number }, index) => {
        const { value: reviews, error } = results[index]!;
        return { repository: fullName, prNumber: number, reviews, error };
      });
    },
  }),
];
