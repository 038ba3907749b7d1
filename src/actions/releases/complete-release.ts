import { z } from "zod";
import { targetOf } from "../../flow/flow.ts";
import { dependsOnTags, releasedAs } from "../../flow/versions.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { MAX_TAGS_PER_CALL } from "../../forge/releasing.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { listReleaseRepositories } from "../../store/releases/release-branches.ts";
import {
  markCompleted,
  listReleasedCards,
  removeUnpublishedTags,
  saveReleaseTag,
  type ReleasedCard,
  type ReleaseHead,
} from "../../store/releases/releases.ts";
import { listBoardRepositories, type Repository } from "../../store/forge/repositories.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { Deps } from "../deps.ts";
import { findLostRelease } from "./find-lost-release.ts";
import {
  isIn,
  plannedTag,
  planOrWriteTags,
  tagTakenMessage,
  writtenTags,
  type PlannedTag,
  type Refused,
} from "./plan-tags.ts";
import { readTagNames } from "./read-tag-names.ts";
import { askAboutUnknown, missingCards, notesIn } from "./release-notes.ts";
import { refusalToChange, requireVersions, versionSchema, type Version } from "./release-versions.ts";
import type { Write } from "../write.ts";
import {
  operateOnRelease,
  recordIfOwned,
  requireOwned,
  unusableMessage,
  saveOperationProgress,
  type ReleaseContext,
  type ReleaseOutcome,
} from "./release-operation.ts";
import { recordRelease } from "./releases.ts";

/**
 * Completes a release: writes a tag and a GitHub release in each repository that gets a version, at
 * the release's branch if it is frozen, else at the target of the flow's last merge stage. All
 * versions are checked before the first write. After a refusal or an interruption, the call continues;
 * a repository where nothing was published can get another tag then. Returns the release.
 */
export const completeRelease = (
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  versions: readonly Version[],
): Promise<StoredResponse> =>
  operateOnRelease(
    deps,
    write,
    release,
    { kind: "complete", input: { versions } },
    runComplete,
    async (trx, current) => {
      await requireVersions(trx, current, versions);
      return true;
    },
  );

const inputSchema = z.object({ versions: z.array(versionSchema) });

/**
 * `plan` is saved before the first tag, so that a retry tags the same commits. `tried` is a tag
 * that an earlier attempt may have written without inspecting GitHub first.
 */
const progressSchema = z.object({ plan: z.array(plannedTag).optional(), tried: plannedTag.optional() });

interface Tagged extends Version, PlannedTag {
  readonly fullName: string;
  readonly forgeRef: RepositoryRef;
}

/** Inspects all repositories, then writes missing tags, then publishes missing releases. */
export async function runComplete(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, operation, stop } = context;
  if (stop !== null) return { state: "refused", message: stop };
  const known = await listBoardRepositories(deps.db, release.workspaceId);
  const repositories = new Map(known.map((repository) => [repository.id, repository]));
  const { versions } = inputSchema.parse(operation.input);
  const refusal = await findLostRelease(deps, context, versions, repositories);
  if (refusal !== null) return { state: "refused", message: refusal };
  const plan = await planTags(deps, context, versions, repositories);
  if ("message" in plan) return { state: "refused", ...plan };
  const toTag: Tagged[] = [];
  for (const version of versions) {
    const { repositoryId } = version;
    const repository = repositories.get(repositoryId);
    if (!repository?.forgeRef) return { state: "refused", message: unusableMessage(repository) };
    const sha = plan.tags.find((tag) => tag.repositoryId === repositoryId)?.sha ?? "";
    toTag.push({ ...version, sha, fullName: repository.fullName, forgeRef: repository.forgeRef });
  }
  const written = await tagAll(deps, context, toTag, plan.tried);
  if ("message" in written) return { state: "refused", ...written };
  const { tagged } = written;
  const listed = await listReleasedCards(deps.db, release.id, targetOf(context.project.flow, true));
  const cards = await askAboutUnknown(deps, listed, tagged);
  const refused = await publishAll(deps, context, tagged, cards);
  if (refused !== null) return { state: "refused", message: refused };
  return { state: "done", record: (trx, current) => record(trx, context, current, cards, tagged) };
}

/**
 * The planned tags, from an earlier attempt as far as the versions still have them. Saves the plan
 * before the first tag is written.
 */
async function planTags(
  deps: Deps,
  context: ReleaseContext,
  versions: readonly Version[],
  repositories: ReadonlyMap<string, Repository>,
): Promise<{ readonly tags: readonly PlannedTag[]; readonly tried: PlannedTag | undefined } | Refused> {
  const progress = progressSchema.parse(context.operation.progress);
  const earlier = (progress.plan ?? []).filter((tag) => isIn(versions, tag));
  let tried = progress.tried && isIn(versions, progress.tried) ? progress.tried : undefined;
  if (progress.plan && earlier.length === versions.length) return { tags: earlier, tried };
  const onTry = async (trying: PlannedTag): Promise<void> => {
    tried = trying;
    await saveOperationProgress(deps, context, { plan: progress.plan, tried });
  };
  const tags = await planOrWriteTags(deps, context, { versions, earlier, repositories, tried, onTry });
  if ("message" in tags) return tags;
  await saveOperationProgress(deps, context, { plan: tags, tried });
  return { tags, tried };
}

/**
 * Writes all tags before it publishes the first GitHub release, because GitHub may refuse a tag.
 * Otherwise GitHub would create a missing tag itself, or silently use one at another commit.
 */
async function tagAll(
  deps: Deps,
  context: ReleaseContext,
  planned: readonly Tagged[],
  tried: PlannedTag | undefined,
): Promise<{ readonly tagged: readonly Tagged[] } | { readonly message: string }> {
  const { release } = context;
  await tagTogether(deps, context, planned);
  const written = await writtenTags(deps, context, planned);
  const tagged: Tagged[] = [];
  for (const each of planned) {
    const { repositoryId, tagName, fullName, forgeRef } = each;
    const earlier = written.find((tag) => tag.repositoryId === repositoryId);
    let { sha } = earlier ?? each;
    if (!earlier) {
      await requireOwned(deps, context);
      const created = await deps.forge.createTag(forgeRef, tagName, sha);
      if (!created.ok) return { message: `${fullName}: ${created.refusal.message}` };
      if ("taken" in created.value) {
        // The inspection may not have shown our own tag.
        if (tried?.repositoryId !== repositoryId || tried.sha !== created.value.taken)
          return { message: tagTakenMessage(fullName, tagName) };
        ({ sha } = tried);
      }
      const tag = { repositoryId, tagName, sha, publishedAs: null, url: null };
      await recordIfOwned(deps, context, (trx) => saveReleaseTag(trx, release.id, tag));
    }
    tagged.push({ ...each, sha });
  }
  return { tagged };
}

/** Writes several tags with one call for each account. `tagAll` writes the ones that fail. */
async function tagTogether(deps: Deps, context: ReleaseContext, planned: readonly Tagged[]): Promise<void> {
  const { release } = context;
  const written = await writtenTags(deps, context, planned);
  const left = planned.filter((each) => !written.some((tag) => tag.repositoryId === each.repositoryId));
  for (const some of callsToTag(left)) {
    await requireOwned(deps, context);
    const made = await deps.forge.createTags(
      some.map(({ forgeRef, tagName, sha }) => ({ repository: forgeRef, tagName, sha })),
    );
    await recordIfOwned(deps, context, async (trx) => {
      for (const { repositoryId, tagName, sha } of some.filter((_, at) => made[at]))
        await saveReleaseTag(trx, release.id, { repositoryId, tagName, sha, publishedAs: null, url: null });
    });
  }
}

/** Groups of two or more tags that one call can write. */
function callsToTag(tags: readonly Tagged[]): Tagged[][] {
  const calls: Tagged[][] = [];
  for (const installationId of new Set(tags.map(({ forgeRef }) => forgeRef.installationId))) {
    const group = tags.filter(({ forgeRef }) => forgeRef.installationId === installationId);
    for (let start = 0; start < group.length; start += MAX_TAGS_PER_CALL)
      calls.push(group.slice(start, start + MAX_TAGS_PER_CALL));
  }
  return calls.filter(({ length }) => length > 1);
}

async function publishAll(
  deps: Deps,
  context: ReleaseContext,
  tagged: readonly Tagged[],
  cards: readonly ReleasedCard[],
): Promise<string | null> {
  const { release } = context;
  const written = await writtenTags(deps, context, tagged);
  const published = written.filter(({ url }) => url !== null);
  const left = tagged.filter((tag) => !isIn(published, tag));
  const tags = await readTagNames(deps, left.filter(dependsOnTags));
  for (const version of left) {
    const { repositoryId, tagName, sha, fullName, forgeRef, notes } = version;
    const { body, references } = notesIn(repositoryId, cards);
    // An earlier attempt may have published it, and its response was lost.
    const earlier = written.find(
      (tag) => isIn([version], tag) && refusalToChange(fullName, tag, [version]) === null,
    );
    const { isPrerelease, isLatest } =
      earlier?.publishedAs ?? releasedAs(version, tags.get(repositoryId) ?? null);
    const flags = { isPrerelease, isLatest };
    const publishedAs = { ...flags, notes: notes ?? earlier?.publishedAs?.notes ?? null };
    const text = { tagName, sha, name: release.name, body: publishedAs.notes ?? body, references };
    const save = (url: string | null) =>
      recordIfOwned(deps, context, (trx) =>
        saveReleaseTag(trx, release.id, { repositoryId, tagName, sha, publishedAs, url }),
      );
    await save(null);
    const made = await deps.forge.publishRelease(forgeRef, { ...text, ...flags });
    if (!made.ok) return `${fullName}: ${made.refusal.message}`;
    await save(made.value.url);
  }
  return null;
}

async function record(
  trx: Trx,
  { operation }: ReleaseContext,
  release: ReleaseHead,
  cards: readonly ReleasedCard[],
  tagged: readonly Tagged[],
): Promise<void> {
  const { id, name, workspaceId } = release;
  await removeUnpublishedTags(trx, id);
  await markCompleted(trx, id, missingCards(cards, await listReleaseRepositories(trx, id)));
  const by = { workspaceId, userId: operation.actorId };
  await recordRelease(trx, by, release, { from: release.frozenAt ? "frozen" : "open", to: "completed" });
  const tags = tagged.map(({ fullName, tagName, sha }) => ({ fullName, tagName, sha }));
  await recordEvents(
    trx,
    cards.map((card) => ({
      cardId: card.id,
      kind: "release_completed",
      actor: { userId: operation.actorId, login: null },
      data: { releaseId: id, releaseName: name, tags },
    })),
  );
}
