import { z } from "zod";
import { type Caller, shaped } from "./client.ts";
import { REPOSITORY } from "./repositories.ts";

const filesShape = z.looseObject({
  files: z
    .array(
      z.looseObject({
        filename: z.string(),
        sha: z.string().nullish(),
        previous_filename: z.string().nullish(),
      }),
    )
    .nullish(),
});

/**
 * The files that both sides changed, and not to the same content; a side is `base...head` and means what head has changed since it left base.
 * GitHub does not say which files conflict, but those that do are among these (300 changed files are told at most).
 */
export async function changedOnBothSides(
  caller: Caller,
  repositoryId: number,
  sides: readonly [string, string],
): Promise<string[]> {
  const [ours, theirs] = await Promise.all(
    sides.map(async (basehead) => {
      const parameters = { repository_id: repositoryId, basehead };
      const answer = await caller.read(`GET ${REPOSITORY}/compare/{basehead}`, parameters);
      if (answer.status >= 300) return new Map<string, string | null>();
      const files = shaped(filesShape, answer).files ?? [];
      return new Map(
        files.flatMap(({ filename, sha, previous_filename: before }) => [
          [filename, sha ?? null] as const,
          ...(before ? [[before, null] as const] : []),
        ]),
      );
    }),
  );
  const names = [...(ours?.keys() ?? [])];
  return names.filter(
    (name) => theirs?.has(name) && (ours?.get(name) === null || ours?.get(name) !== theirs.get(name)),
  );
}
