import { z } from "zod";
import { conflict, invalid, type Issue } from "../../errors.ts";
import { isTagName } from "../../flow/names.ts";
import { releasedAs } from "../../flow/versions.ts";
import type { Trx } from "../../store/db/connect.ts";
import { listReleaseRepositories } from "../../store/releases/release-branches.ts";
import {
  listReleaseTags,
  type PublishedAs,
  type ReleaseHead,
  type WrittenTag,
} from "../../store/releases/releases.ts";
import { lacksBranch } from "./release-operation.ts";

export const versionSchema = z.object({
  repositoryId: z.string(),
  tagName: z.string(),
  /** By default as the tag's name says. */
  prerelease: z.boolean().optional(),
  /** By default if no tag of the repository has a higher version. */
  latest: z.boolean().optional(),
  /** By default the cards. */
  notes: z.string().optional(),
});
export type Version = z.infer<typeof versionSchema>;

/** Checks the versions as far as possible without GitHub. */
export async function requireVersions(
  trx: Trx,
  release: ReleaseHead,
  versions: readonly Version[],
): Promise<void> {
  const repositories = await listReleaseRepositories(trx, release.id);
  const nameOf = new Map(repositories.map(({ repositoryId, fullName }) => [repositoryId, fullName]));
  const issues = versions.flatMap((version, at) => issuesOf(version, at, versions, nameOf));
  const named = new Set(versions.map(({ repositoryId }) => repositoryId));
  for (const { repositoryId, fullName, holdsCards } of repositories) {
    if (!holdsCards || named.has(repositoryId)) continue;
    issues.push({
      path: "body.versions",
      message: `${fullName} (${repositoryId}) holds cards of the release and needs a version`,
    });
  }
  const [first] = issues;
  if (first) throw invalid(`${first.path}: ${first.message}`, issues);
  const missing = repositories.find(({ repositoryId, branchName }) => named.has(repositoryId) && !branchName);
  if (release.frozenAt && missing) throw conflict(lacksBranch(release, missing.fullName));
  await requirePublishedTagsKept(trx, release, versions, nameOf);
}

function issuesOf(
  version: Version,
  at: number,
  versions: readonly Version[],
  nameOf: ReadonlyMap<string, string>,
): Issue[] {
  const { repositoryId, tagName } = version;
  const path = `body.versions.${at}`;
  if (!nameOf.has(repositoryId)) {
    return [{ path: `${path}.repositoryId`, message: "not a repository of the release's project" }];
  }
  if (versions.findIndex((other) => other.repositoryId === repositoryId) !== at) {
    return [{ path: `${path}.repositoryId`, message: `${nameOf.get(repositoryId)} is listed twice` }];
  }
  if (!isTagName(tagName)) return [{ path: `${path}.tagName`, message: INVALID_TAG_NAME }];
  const { isPrerelease, isLatest } = releasedAs(version, []);
  return isPrerelease && isLatest ? [{ path: `${path}.latest`, message: LATEST_PRERELEASE }] : [];
}

const INVALID_TAG_NAME =
  "not a valid Git tag name. Use letters, digits and . - _ / without spaces, for example v1.4.0.";
const LATEST_PRERELEASE =
  "a prerelease cannot be the latest release on GitHub. Set latest or prerelease to false";

/** An earlier attempt may have published releases before it was refused in another repository. */
async function requirePublishedTagsKept(
  trx: Trx,
  release: ReleaseHead,
  versions: readonly Version[],
  nameOf: ReadonlyMap<string, string>,
): Promise<void> {
  for (const tag of await listReleaseTags(trx, release.id)) {
    const fullName = nameOf.get(tag.repositoryId);
    // A repository that has left the project keeps its GitHub release and gets no version.
    if (fullName === undefined || tag.url === null) continue;
    const refusal = refusalToChange(fullName, tag, versions);
    if (refusal !== null) throw conflict(refusal);
  }
}

/** The refusal of versions that would change a published GitHub release; null if they keep it. */
export function refusalToChange(
  fullName: string,
  { repositoryId, tagName, publishedAs }: WrittenTag,
  versions: readonly Version[],
): string | null {
  const isPublished = `${fullName} has a GitHub release ${tagName} for this release already.`;
  const version = versions.find((candidate) => candidate.repositoryId === repositoryId);
  if (version?.tagName !== tagName) return `${isPublished} Request the same tag.`;
  const changed = publishedAs ? changedValues(version, publishedAs).join(", ") : "";
  if (changed === "") return null;
  return `${isPublished} Repeat the call without ${changed}. Edit the GitHub release to change them.`;
}

/** The names of the values that differ from the published ones. What is omitted stays as it is. */
function changedValues({ prerelease, latest, notes }: Version, published: PublishedAs): string[] {
  const values = [
    ["prerelease", prerelease, published.isPrerelease],
    ["latest", latest, published.isLatest],
    ["notes", notes, published.notes],
  ] as const;
  return values.flatMap(([name, requested, present]) =>
    requested === undefined || requested === present ? [] : [name],
  );
}
