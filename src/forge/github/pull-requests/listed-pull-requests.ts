import { z } from "zod";
import type { ListedPullRequest } from "../../pull-requests.ts";
import { parseResponse } from "../calls/client.ts";
import type { GitHubRepository } from "../github-repository.ts";
import { allPages, PAGE, succeeded } from "../repositories.ts";
import { time } from "../account-shapes.ts";
import { name } from "../text-shapes.ts";

const pullShape = z.looseObject({
  number: z.number(),
  title: z.string(),
  body: z.string().nullish(),
  user: z.looseObject({ login: z.string() }).nullish(),
  state: z.string(),
  merged_at: z.string().nullish(),
  draft: z.boolean().nullish(),
  head: z.looseObject({ ref: name, repo: z.looseObject({ id: z.number() }).nullish() }),
  base: z.looseObject({ ref: name }),
  html_url: z.string(),
  updated_at: time,
});

export const readOpenPullRequests = ({ ref, read }: GitHubRepository): Promise<ListedPullRequest[]> =>
  allPages(
    (page) => read("/pulls", { state: "open", per_page: PAGE, page }),
    (response) =>
      parseResponse(z.array(pullShape), succeeded(response)).map((pull) => toListed(pull, ref.forgeId)),
  );

export async function readPullRequest(
  { ref, read }: GitHubRepository,
  number: number,
): Promise<ListedPullRequest | null> {
  const response = await read("/pulls/{pull_number}", { pull_number: number });
  if (response.status === 404) return null;
  return toListed(parseResponse(pullShape, succeeded(response)), ref.forgeId);
}

const toListed = (pull: z.infer<typeof pullShape>, repositoryId: number): ListedPullRequest => ({
  number: pull.number,
  title: pull.title,
  body: pull.body ?? "",
  author: pull.user?.login ?? null,
  state: pull.merged_at ? "merged" : pull.state === "open" ? "open" : "closed",
  isDraft: pull.draft ?? false,
  headBranch: pull.head.ref,
  // The repository of a deleted fork is null.
  isFromFork: pull.head.repo?.id !== repositoryId,
  targetBranch: pull.base.ref,
  url: pull.html_url,
  updatedAt: pull.updated_at,
});
