import { z } from "zod";
import { conflict, invalid, type Issue } from "../../errors.ts";
import { isTagName } from "../../flow/names.ts";
import { releasedAs } from "../../flow/versions.ts";
import type { Trx } from "../../store/db/connect.ts";
import { listReleaseRepositories } from "../../store/releases/release-branches.ts";
import { listReleaseTags, type ReleaseHead, type WrittenTag } from "../../store/releases/releases.ts";
import { lacksBranch } from "./release-action.ts";

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
  await requirePublished(trx, release, versions, nameOf);
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
async function requirePublished(
  trx: Trx,
  release: ReleaseHead,
  versions: readonly Version[],
  nameOf: ReadonlyMap<string, string>,
): Promise<void> {
  for (const tag of await listReleaseTags(trx, release.id)) {
    if (tag.url === null || keepsPublished(versions, tag)) continue;
    throw conflict(publishedMessage(nameOf.get(tag.repositoryId) ?? "", tag));
  }
}

/** Whether the versions request a published GitHub release as it is. */
export const keepsPublished = (
  versions: readonly Version[],
  { repositoryId, tagName }: Pick<WrittenTag, "repositoryId" | "tagName">,
): boolean =>
  versions.some((version) => version.repositoryId === repositoryId && version.tagName === tagName);

export const publishedMessage = (fullName: string, { tagName }: Pick<WrittenTag, "tagName">): string =>
  `${fullName} has a GitHub release ${tagName} for this release already. Request the same tag.`;
