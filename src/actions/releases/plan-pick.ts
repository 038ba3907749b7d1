import { z } from "zod";
import { targetOf } from "../../flow/flow.ts";
import { pickedMerges } from "../../flow/releases.ts";
import type { Link } from "../../store/cards/links.ts";
import type { ReleaseContext } from "./release-action.ts";

const preparedOf = z.object({
  state: z.literal("prepared"),
  sha: z.string(),
  commits: z.array(z.string()).readonly(),
  handle: z.string(),
});

/** The state of the pick in one repository. */
export const repositoryPick = z.object({
  repositoryId: z.string(),
  /** The card's merged pull requests whose commits are picked. */
  pullRequests: z.array(z.int()),
  /** The branch releases are cut from, where these were merged into another one; else null. */
  missingFrom: z.string().nullable(),
  /** The branch's tip that the pick is prepared on; null before. */
  expectedTip: z.string().nullable().default(null),
  prepared: preparedOf.nullable().default(null),
  /** The branch's tip with the commits; null before they are there. */
  landed: z.string().nullable().default(null),
  /** The picked commits; empty before they are there, or where the branch had them. */
  commits: z.array(z.string()).readonly().default([]),
  tries: z.int().default(0),
});
export type RepositoryPick = z.infer<typeof repositoryPick>;

/** Why nothing is picked, as a message and as fields of the answer. */
export interface PickRefused {
  readonly message: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What to pick in which repository; refused when nothing is merged, or not everything. */
export function planPick(
  { release, project }: ReleaseContext,
  links: readonly Link[],
  branches: ReadonlyMap<string, unknown>,
  number: number,
): RepositoryPick[] | PickRefused {
  const picks: RepositoryPick[] = [];
  for (const { repository, pullRequests } of links) {
    const { id: repositoryId, fullName, defaultBranch } = repository;
    const trunk = targetOf(project.flow, false) ?? defaultBranch;
    const merges = pickedMerges(pullRequests, trunk);
    if ("waitsFor" in merges) {
      if (merges.waitsFor === null) continue;
      const message = `Pull request #${merges.waitsFor} of card ${number} is not merged yet in ${fullName}.`;
      return { message, body: { repository: fullName } };
    }
    if (!branches.has(repositoryId)) {
      const message = `The release ${release.name} has no branch in ${fullName}. Freeze it again to cut one there.`;
      return { message, body: { repository: fullName } };
    }
    const missingFrom = merges.into === trunk ? null : trunk;
    picks.push(repositoryPick.parse({ repositoryId, pullRequests: merges.merged, missingFrom }));
  }
  if (links.length > 0 && picks.length === 0) {
    return { message: `Card ${number} has nothing merged yet.`, body: {} };
  }
  return picks;
}
