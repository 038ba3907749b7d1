import { ForgeUnavailable, type RepositoryRef } from "../../forge/values.ts";
import type { Deps } from "../deps.ts";

interface ListedRepository {
  readonly repositoryId: string;
  readonly forgeRef: RepositoryRef;
}

/** The tags of each repository, by its id; without those that GitHub does not list, or not in time. */
export async function readTagNames(
  { forge, log }: Pick<Deps, "forge" | "log">,
  repositories: readonly ListedRepository[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  try {
    const found = await forge.tagNames(repositories.map(({ forgeRef }) => forgeRef));
    return new Map(
      repositories.flatMap(({ repositoryId }, at) => {
        const tags = found[at];
        return tags?.ok && tags.value !== null ? [[repositoryId, tags.value] as const] : [];
      }),
    );
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    log.warn({ err: error }, "the tags of a release's repositories could not be read");
    return new Map();
  }
}
