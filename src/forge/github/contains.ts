import { z } from "zod";
import type { RepositoryRef } from "../forge.ts";
import { type Caller, shaped } from "./client.ts";
import { REPOSITORY, succeeded } from "./repositories.ts";

const comparisonShape = z.looseObject({ ahead_by: z.number() });

/** Whether a branch has a commit: nothing of the commit's history is then missing from the branch. */
export async function readContains(
  caller: Caller,
  repository: RepositoryRef,
  branchName: string,
  sha: string,
): Promise<boolean | null> {
  const answer = await caller.read(`GET ${REPOSITORY}/compare/{basehead}`, {
    repository_id: repository.forgeId,
    basehead: `${branchName}...${sha}`,
    // Only the first page comes with the changed files, up to 300 with their patches; the counts are on each.
    per_page: 1,
    page: 2,
  });
  if (answer.status === 404) return null;
  return shaped(comparisonShape, succeeded(answer)).ahead_by === 0;
}
