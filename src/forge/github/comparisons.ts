import { z } from "zod";
import { shaped } from "./client.ts";
import type { GitHubRepository } from "./github-repository.ts";
import { succeeded } from "./repositories.ts";

const COMPARE = "/compare/{basehead}";

const comparisonShape = z.looseObject({ ahead_by: z.number() });
const fileShape = z.looseObject({
  filename: z.string(),
  sha: z.string().nullish(),
  previous_filename: z.string().nullish(),
});
const filesShape = z.looseObject({ files: z.array(fileShape).nullish() });

/** Whether a branch has a commit: nothing of the commit's history is then missing from the branch. */
export async function readContains(
  { read }: GitHubRepository,
  branchName: string,
  sha: string,
): Promise<boolean | null> {
  // Only the first page has the changed files, up to 300 with their patches; each has the counts.
  const answer = await read(COMPARE, { basehead: `${branchName}...${sha}`, per_page: 1, page: 2 });
  if (answer.status === 404) return null;
  return shaped(comparisonShape, succeeded(answer)).ahead_by === 0;
}

/**
 * The files that both sides changed, and not to the same content; a side is `base...head` and means
 * what head has changed since it left base. GitHub does not say which files conflict, but those
 * that do are among these (it lists at most 300 changed files).
 */
export async function changedOnBothSides(
  repository: GitHubRepository,
  [ours, theirs]: readonly [string, string],
): Promise<string[]> {
  const [our, their] = await Promise.all([readFiles(repository, ours), readFiles(repository, theirs)]);
  return [...our].flatMap(([name, sha]) =>
    their.has(name) && (sha === null || sha !== their.get(name)) ? [name] : [],
  );
}

/** From the names of changed files to their content; null for a name that a file has no more. */
async function readFiles({ read }: GitHubRepository, basehead: string): Promise<Map<string, string | null>> {
  const answer = await read(COMPARE, { basehead });
  const files = answer.status < 300 ? (shaped(filesShape, answer).files ?? []) : [];
  return new Map(
    files.flatMap(({ filename, sha, previous_filename: before }) => [
      [filename, sha ?? null] as const,
      ...(before ? [[before, null] as const] : []),
    ]),
  );
}
