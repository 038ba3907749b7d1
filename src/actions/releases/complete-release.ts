import { z } from "zod";
import { conflict, invalid, type Issue } from "../../errors.ts";
import { targetOf } from "../../flow/flow.ts";
import { isTagName } from "../../flow/names.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { MAX_TAGS_PER_CALL } from "../../forge/releasing.ts";
import type { Trx } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { listReleaseRepositories } from "../../store/releases/release-branches.ts";
import {
  markCompleted,
  listReleasedCards,
  listReleaseTags,
  saveReleaseTag,
  type ReleasedCard,
  type ReleaseHead,
} from "../../store/releases/releases.ts";
import { listBoardRepositories } from "../../store/forge/repositories.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { Deps } from "../deps.ts";
import { plannedTag, planOrWriteTags, tagTakenMessage, type PlannedTag } from "./plan-tags.ts";
import { askAboutUnknown, missingCards, notesIn } from "./release-notes.ts";
import type { Write } from "../write.ts";
import {
  actOnRelease,
  recordIfOwned,
  requireOwned,
  lacksBranch,
  unusableMessage,
  saveActionProgress,
  type ReleaseContext,
  type ReleaseOutcome,
} from "./release-action.ts";
import { recordRelease } from "./releases.ts";

const versionSchema = plannedTag.omit({ sha: true });
type Version = z.infer<typeof versionSchema>;

/**
 * Completes a release: writes a tag and a GitHub release in each repository that gets a version, at
 * the release's branch if it is frozen, else at the target of the flow's last merge stage. All
 * versions are checked before the first write. Returns the release.
 */
export const completeRelease = (
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  versions: readonly Version[],
): Promise<StoredResponse> =>
  actOnRelease(
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

/** Checks the versions as far as possible without GitHub. */
async function requireVersions(trx: Trx, release: ReleaseHead, versions: readonly Version[]): Promise<void> {
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
  await requireSameTags(trx, release, versions, nameOf);
}

function issuesOf(
  { repositoryId, tagName }: Version,
  at: number,
  versions: readonly Version[],
  nameOf: ReadonlyMap<string, string>,
): Issue[] {
  const path = `body.versions.${at}`;
  if (!nameOf.has(repositoryId)) {
    return [{ path: `${path}.repositoryId`, message: "not a repository of the release's project" }];
  }
  if (versions.findIndex((other) => other.repositoryId === repositoryId) !== at) {
    return [{ path: `${path}.repositoryId`, message: `${nameOf.get(repositoryId)} is listed twice` }];
  }
  return isTagName(tagName) ? [] : [{ path: `${path}.tagName`, message: INVALID_TAG_NAME }];
}

const INVALID_TAG_NAME =
  "not a valid Git tag name. Use letters, digits and . - _ / without spaces, for example v1.4.0.";

/** An earlier attempt may have written tags before it was refused in another repository. */
async function requireSameTags(
  trx: Trx,
  release: ReleaseHead,
  versions: readonly Version[],
  nameOf: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { repositoryId, tagName } of await listReleaseTags(trx, release.id)) {
    const version = versions.find((candidate) => candidate.repositoryId === repositoryId);
    if (version?.tagName === tagName) continue;
    throw conflict(
      `${nameOf.get(repositoryId)} is tagged ${tagName} for this release already. Request the same tag.`,
    );
  }
}

const inputSchema = z.object({ versions: z.array(versionSchema) });

/**
 * `plan` is saved before the first tag, so that a retry tags the same commits. `tried` is a tag
 * that an earlier attempt may have written without inspecting GitHub first.
 */
const progressSchema = z.object({ plan: z.array(plannedTag).optional(), tried: plannedTag.optional() });

interface Tagged extends PlannedTag {
  readonly fullName: string;
  readonly forgeRef: RepositoryRef;
}

/** Inspects all repositories, then writes missing tags, then publishes missing releases. */
export async function runComplete(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, action, stop } = context;
  if (stop !== null) return { state: "refused", message: stop };
  const known = await listBoardRepositories(deps.db, release.workspaceId);
  const repositories = new Map(known.map((repository) => [repository.id, repository]));
  let { plan, tried } = progressSchema.parse(action.progress);
  const save = (): Promise<void> => saveActionProgress(deps, context, { plan, tried });
  if (!plan) {
    const onTry = async (trying: PlannedTag): Promise<void> => {
      tried = trying;
      await save();
    };
    const { versions } = inputSchema.parse(action.input);
    const planned = await planOrWriteTags(deps, context, { versions, repositories, tried, onTry });
    if ("message" in planned) return { state: "refused", ...planned };
    plan = planned;
    await save();
  }
  const toTag: Tagged[] = [];
  for (const each of plan) {
    const repository = repositories.get(each.repositoryId);
    if (!repository?.forgeRef) return { state: "refused", message: unusableMessage(repository) };
    toTag.push({ ...each, fullName: repository.fullName, forgeRef: repository.forgeRef });
  }
  const written = await tagAll(deps, context, toTag, tried);
  if ("message" in written) return { state: "refused", ...written };
  const { tagged } = written;
  const listed = await listReleasedCards(deps.db, release.id, targetOf(context.project.flow, true));
  const cards = await askAboutUnknown(deps, listed, tagged);
  const refused = await publishAll(deps, context, tagged, cards);
  if (refused !== null) return { state: "refused", message: refused };
  return { state: "done", record: (trx, current) => record(trx, context, current, cards, tagged) };
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
  const written = await listReleaseTags(deps.db, release.id);
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
      const tag = { repositoryId, tagName, sha, url: null };
      await recordIfOwned(deps, context, (trx) => saveReleaseTag(trx, release.id, tag));
    }
    tagged.push({ ...each, sha });
  }
  return { tagged };
}

/** Writes several tags with one call for each account. `tagAll` writes the ones that fail. */
async function tagTogether(deps: Deps, context: ReleaseContext, planned: readonly Tagged[]): Promise<void> {
  const { release } = context;
  const written = await listReleaseTags(deps.db, release.id);
  const left = planned.filter((each) => !written.some((tag) => tag.repositoryId === each.repositoryId));
  for (const some of callsToTag(left)) {
    await requireOwned(deps, context);
    const made = await deps.forge.createTags(
      some.map(({ forgeRef, tagName, sha }) => ({ repository: forgeRef, tagName, sha })),
    );
    await recordIfOwned(deps, context, async (trx) => {
      for (const { repositoryId, tagName, sha } of some.filter((_, at) => made[at]))
        await saveReleaseTag(trx, release.id, { repositoryId, tagName, sha, url: null });
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
  const written = new Map((await listReleaseTags(deps.db, release.id)).map((tag) => [tag.repositoryId, tag]));
  for (const { repositoryId, tagName, sha, fullName, forgeRef } of tagged) {
    if (written.get(repositoryId)?.url) continue;
    const notes = { tagName, sha, name: release.name, ...notesIn(repositoryId, cards) };
    await requireOwned(deps, context);
    const published = await deps.forge.publishRelease(forgeRef, notes);
    if (!published.ok) return `${fullName}: ${published.refusal.message}`;
    const tag = { repositoryId, tagName, sha, url: published.value.url };
    await recordIfOwned(deps, context, (trx) => saveReleaseTag(trx, release.id, tag));
  }
  return null;
}

async function record(
  trx: Trx,
  { action }: ReleaseContext,
  release: ReleaseHead,
  cards: readonly ReleasedCard[],
  tagged: readonly Tagged[],
): Promise<void> {
  const { id, name, workspaceId } = release;
  await markCompleted(trx, id, missingCards(cards, await listReleaseRepositories(trx, id)));
  const by = { workspaceId, userId: action.actorId };
  await recordRelease(trx, by, release, { from: release.frozenAt ? "frozen" : "open", to: "completed" });
  const tags = tagged.map(({ fullName, tagName, sha }) => ({ fullName, tagName, sha }));
  await recordEvents(
    trx,
    cards.map((card) => ({
      cardId: card.id,
      kind: "release_completed",
      actor: { userId: action.actorId, login: null },
      data: { releaseId: id, releaseName: name, tags },
    })),
  );
}
