import { z } from "zod";
import { targetOf } from "../flow/flow.ts";
import { pickedMerges } from "../flow/picked-merges.ts";
import type { Link } from "../store/links.ts";
import type { ReleaseBranch } from "../store/release-branches.ts";
import type { Deps } from "./deps.ts";
import type { ReleaseContext } from "./release-action.ts";

const preparedOf = z.object({ state: z.literal("prepared"), sha: z.string(), handle: z.string() });
/** The pick in one repository, as far as it has come. */
export const repositoryPick = z.object({
  repositoryId: z.string(),
  commits: z.array(z.string()),
  /** The branch releases are cut from, where the commits are from another one; else null. */
  missingFrom: z.string().nullable().default(null),
  /** Where the branch stood when the pick was worked out; null before. */
  expectedTip: z.string().nullable().default(null),
  prepared: preparedOf.nullable().default(null),
  /** Where the branch stands with the commits; null before they are there. */
  landed: z.string().nullable().default(null),
  tries: z.int().default(0),
});
export type RepositoryPick = z.infer<typeof repositoryPick>;

/** Why nothing is picked, in words and as the answer's body. */
export interface PickRefused {
  readonly message: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What is to be picked where; refused when there is nothing, or not yet. */
export async function planPick(
  deps: Deps,
  { release, project }: ReleaseContext,
  links: readonly Link[],
  branches: ReadonlyMap<string, ReleaseBranch>,
  number: number,
): Promise<RepositoryPick[] | PickRefused> {
  const picks: RepositoryPick[] = [];
  for (const { repository, pullRequests } of links) {
    const { id: repositoryId, fullName, ref, defaultBranch } = repository;
    const trunk = targetOf(project.flow, false) ?? defaultBranch;
    const merges = pickedMerges(pullRequests, trunk);
    if ("waitsFor" in merges) {
      if (merges.waitsFor === null) continue;
      const message = `Pull request #${merges.waitsFor} of card ${number} is not merged yet in ${fullName}.`;
      return { message, body: { repository: fullName } };
    }
    if (!ref || !branches.has(repositoryId)) {
      const message = `The release ${release.name} has no branch in ${fullName}. Freeze it again to cut one there.`;
      return { message, body: { repository: fullName } };
    }
    const commits: string[] = [];
    for (const merged of merges.merged) {
      const found = await deps.forge.commitsOf(ref, merged);
      if (!found.ok) return { message: found.refusal.message, body: { repository: fullName } };
      commits.push(...found.value.shas);
    }
    const missingFrom = merges.into === trunk ? null : trunk;
    picks.push(repositoryPick.parse({ repositoryId, commits, missingFrom }));
  }
  if (links.length > 0 && picks.length === 0) {
    return { message: `Card ${number} has nothing merged yet.`, body: {} };
  }
  return picks;
}
