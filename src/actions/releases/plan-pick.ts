import { z } from "zod";
import { targetOf } from "../../flow/flow.ts";
import { pickedMerges } from "../../flow/releases.ts";
import type { Link } from "../../store/cards/links.ts";
import { lacksBranch, type ReleaseContext } from "./release-operation.ts";

const preparedSchema = z.object({
  state: z.literal("prepared"),
  sha: z.string(),
  commits: z.array(z.string()).readonly(),
  handle: z.string(),
});

/** The state of the pick in one repository. */
export const repositoryPick = z.object({
  repositoryId: z.string(),
  /** Merged pull requests of the card. */
  pullRequests: z.array(z.int()),
  /** The trunk, if they were merged into another branch; else null. */
  missingFrom: z.string().nullable(),
  /** The tip of the release's branch that the pick is prepared on; null before. */
  expectedTip: z.string().nullable().default(null),
  prepared: preparedSchema.nullable().default(null),
  /** The tip that contains the commits; null before. */
  pickedTip: z.string().nullable().default(null),
  /** The picked commits; empty before, or if the branch contained them. */
  commits: z.array(z.string()).readonly().default([]),
  tries: z.int().default(0),
});
export type RepositoryPick = z.infer<typeof repositoryPick>;

/** `body` has further fields of the response. */
export interface PickRefused {
  readonly message: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const refusedIn = (repository: string, message: string, details = {}): PickRefused => ({
  message,
  body: { repository, ...details },
});

const MERGE_FIRST = "Merge its work, then pick the card, or complete the release without it.";

/** Plans the picks of a card in each repository, or returns why the card cannot be picked. */
export function planPick(
  { release, project }: ReleaseContext,
  links: readonly Link[],
  branches: ReadonlyMap<string, unknown>,
  number: number,
): RepositoryPick[] | PickRefused {
  const picks: RepositoryPick[] = [];
  for (const { repository, pullRequests } of links) {
    const { id: repositoryId, fullName, defaultBranch, broken } = repository;
    const trunk = targetOf(project.flow, false) ?? defaultBranch;
    const merges = pickedMerges(pullRequests, trunk);
    if ("waitsFor" in merges) {
      if (merges.waitsFor === null) continue;
      const message = `Pull request #${merges.waitsFor} of card ${number} is not merged yet in ${fullName}. ${MERGE_FIRST}`;
      return refusedIn(fullName, message);
    }
    if (broken === "other_project") {
      const message = `${fullName} does not belong to the project any more. Unlink it from card ${number}, then pick the card again.`;
      return refusedIn(fullName, message);
    }
    if (!branches.has(repositoryId)) return refusedIn(fullName, lacksBranch(release, fullName));
    const missingFrom = merges.into === trunk ? null : trunk;
    picks.push(repositoryPick.parse({ repositoryId, pullRequests: merges.merged, missingFrom }));
  }
  if (links.length > 0 && picks.length === 0) {
    return { message: `Card ${number} has nothing merged yet. ${MERGE_FIRST}`, body: {} };
  }
  return picks;
}
