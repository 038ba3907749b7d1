import type { ForgeContext } from "../context.ts";
import { isRefName, readRef } from "../git/refs.ts";
import { resolveCommit } from "../git/resolve.ts";
import { presentRelease } from "../present/release.ts";
import type { AccountRow, ReleaseRow, RepositoryRow } from "../rows.ts";
import { invalidFields, type FieldError } from "../server/api-error.ts";
import { emit } from "../webhooks/emit.ts";
import { changeRefs } from "./change-refs.ts";

export type ReleaseContent = Pick<
  ReleaseRow,
  "tagName" | "targetCommitish" | "name" | "body" | "draft" | "prerelease"
> & {
  /** Null leaves it as it is. */
  readonly makeLatest: "true" | "false" | "legacy" | null;
};

const fieldError = (field: string, code: FieldError["code"]): FieldError => ({
  resource: "Release",
  field,
  code,
});

/** Creates a release and, if it is published, its missing tag. Throws GitHub's refusals. */
export async function createRelease(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  given: ReleaseContent,
): Promise<ReleaseRow> {
  await checkRelease(forge, repository, given, null);
  if (!given.draft) await ensureTag(forge, repository, by, given);
  const now = forge.now();
  const { makeLatest, ...content } = given;
  const row = forge.state.releases.save({
    ...content,
    immutable: !given.draft && repository.immutableReleases,
    latestAt:
      mayBeLatest(given) && becomesLatest(forge, repository, content.tagName, makeLatest) ? now : null,
    id: forge.state.newId(),
    repositoryId: repository.id,
    authorId: by.id,
    createdAt: now,
    publishedAt: given.draft ? null : now,
  });
  await emitRelease(forge, repository, row, "created", by);
  if (!row.draft) await emitPublished(forge, repository, row, by);
  return row;
}

export async function editRelease(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  before: ReleaseRow,
  given: ReleaseContent,
): Promise<ReleaseRow> {
  await checkRelease(forge, repository, given, before);
  if (!given.draft) await ensureTag(forge, repository, by, given);
  const isPublished = before.draft && !given.draft;
  const publishedAt = given.draft ? null : (before.publishedAt ?? forge.now());
  const { makeLatest, ...content } = given;
  const latestAt = makeLatest === "true" ? forge.now() : makeLatest === "false" ? null : before.latestAt;
  const row = forge.state.releases.update(before.id, {
    ...content,
    publishedAt,
    immutable: before.immutable || (isPublished && repository.immutableReleases),
    latestAt: mayBeLatest(given) ? (isPublished && makeLatest === null ? publishedAt : latestAt) : null,
  });
  const changes = {
    ...(row.body === before.body ? {} : { body: { from: before.body ?? "" } }),
    ...(row.name === before.name ? {} : { name: { from: before.name ?? "" } }),
    ...(row.tagName === before.tagName ? {} : { tag_name: { from: before.tagName } }),
  };
  if (Object.keys(changes).length > 0) await emitRelease(forge, repository, row, "edited", by, { changes });
  if (isPublished) await emitPublished(forge, repository, row, by);
  if (!before.draft && row.draft) await emitRelease(forge, repository, row, "unpublished", by);
  return row;
}

/** `legacy` compares the semantic versions: a lower one does not replace the latest release. */
function becomesLatest(
  forge: ForgeContext,
  repository: RepositoryRow,
  tagName: string,
  makeLatest: ReleaseContent["makeLatest"],
): boolean {
  if (makeLatest !== "legacy") return makeLatest !== "false";
  const version = versionIn(tagName);
  const published = forge.state.releases.inGroup(repository.id).filter(mayBeLatest);
  return !published.some(
    (each) => versionIn(each.tagName).localeCompare(version, "en", { numeric: true }) > 0,
  );
}

/** The numbers in a tag name such as `v1.10.2`; empty if it is no semantic version. */
const versionIn = (tagName: string): string => /^v?(\d+\.\d+\.\d+)$/.exec(tagName)?.[1] ?? "";

/** Drafts and prereleases cannot be the latest release. */
const mayBeLatest = ({ draft, prerelease }: Pick<ReleaseRow, "draft" | "prerelease">): boolean =>
  !draft && !prerelease;

/** Deletes a release and keeps its tag. The tag of an immutable one cannot be released again. */
export async function deleteRelease(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  release: ReleaseRow,
): Promise<void> {
  forge.state.releases.delete(release.id);
  if (release.immutable) {
    const usedTags = [...repository.usedTags, release.tagName];
    forge.state.repositories.update(repository.id, { usedTags });
  }
  await emitRelease(forge, repository, release, "deleted", by);
}

async function checkRelease(
  forge: ForgeContext,
  repository: RepositoryRow,
  given: ReleaseContent,
  known: ReleaseRow | null,
): Promise<void> {
  const name = `refs/tags/${given.tagName}`;
  if (given.tagName === "") throw invalidFields(fieldError("tag_name", "missing_field"));
  if (!isRefName(name))
    throw invalidFields({ ...fieldError("tag_name", "custom"), message: "tag_name is not a valid tag" });
  const others = forge.state.releases
    .inGroup(repository.id)
    .filter((each) => each.id !== known?.id && !each.draft);
  if (!given.draft && others.some((each) => each.tagName === given.tagName))
    throw invalidFields(fieldError("tag_name", "already_exists"));
  if (!given.draft && repository.usedTags.includes(given.tagName)) {
    const message = "tag_name was used by an immutable release";
    throw invalidFields({ ...fieldError("tag_name", "custom"), message });
  }
  const repo = forge.git.repository(repository.id);
  const isTagged = (await readRef(repo, name)) !== null;
  if (!isTagged && (await resolveCommit(repo, given.targetCommitish)) === null)
    throw invalidFields(fieldError("target_commitish", "invalid"));
}

/** Creates the tag at the target unless it exists. */
async function ensureTag(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
  given: ReleaseContent,
): Promise<void> {
  const name = `refs/tags/${given.tagName}`;
  await forge.withLock(repository.id, async () => {
    const repo = forge.git.repository(repository.id);
    if ((await readRef(repo, name)) !== null) return;
    const after = await resolveCommit(repo, given.targetCommitish);
    await changeRefs(forge, repository, by, [{ name, before: null, after }]);
  });
}

async function emitPublished(
  forge: ForgeContext,
  repository: RepositoryRow,
  row: ReleaseRow,
  by: AccountRow,
): Promise<void> {
  await emitRelease(forge, repository, row, "published", by);
  await emitRelease(forge, repository, row, row.prerelease ? "prereleased" : "released", by);
}

async function emitRelease(
  forge: ForgeContext,
  repository: RepositoryRow,
  release: ReleaseRow,
  action: "created" | "published" | "released" | "prereleased" | "edited" | "unpublished" | "deleted",
  sender: AccountRow,
  more: object = {},
): Promise<void> {
  const payload = () => ({ release: presentRelease(forge, repository, release), ...more });
  await emit(forge, { event: "release", action, repository, sender, payload });
}
