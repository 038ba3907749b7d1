import { z } from "zod";
import { releaseNotes, type NotedCard } from "../flow/release-notes.ts";
import type { RepositoryRef } from "../forge/forge.ts";
import { TAGS_AT_ONCE } from "../forge/releasing.ts";
import type { Trx } from "../store/db/connect.ts";
import { saveProgress } from "../store/releases/release-actions.ts";
import {
  completeScope,
  listCarriedCards,
  listReleaseTags,
  saveReleaseTag,
  type CarriedCard,
  type ReleaseHead,
} from "../store/releases/releases.ts";
import { listBoardRepositories } from "../store/forge/repositories.ts";
import { recordEvents } from "../store/events/timeline.ts";
import { underWay } from "./begin-release-action.ts";
import type { Deps } from "./deps.ts";
import { notInstalled, plannedTag, planTags, taken, type PlannedTag } from "./plan-tags.ts";
import { recordAsOurs, requireOurs, type ReleaseContext, type ReleaseOutcome } from "./release-action.ts";

const inputOf = z.object({ versions: z.array(z.object({ repositoryId: z.string(), tagName: z.string() })) });
/**
 * Which commit is tagged where: written down before the first tag, so that no retry tags another. `tried` was ordered without a look, at a
 * commit that had been heard of.
 */
const progressOf = z.object({ plan: z.array(plannedTag).optional(), tried: plannedTag.optional() });

interface Tagged extends PlannedTag {
  readonly fullName: string;
  readonly ref: RepositoryRef;
}

/** Checks all versions at the forge, then writes the tags, then publishes the releases; what is done already is left as it is. */
export async function carryOutComplete(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, action } = context;
  const known = await listBoardRepositories(deps.db, release.workspaceId);
  const repositories = new Map(known.map((repository) => [repository.id, repository]));
  let { plan, tried } = progressOf.parse(action.progress);
  const save = async (): Promise<void> => {
    if (!(await saveProgress(deps.db, action, { plan, tried }))) throw underWay(release, action);
  };
  if (!plan) {
    const onTry = async (trying: PlannedTag): Promise<void> => {
      tried = trying;
      await save();
    };
    const { versions } = inputOf.parse(action.input);
    const planned = await planTags(deps, context, { versions, repositories, tried, onTry });
    if ("message" in planned) return { state: "refused", ...planned };
    plan = planned;
    await save();
  }
  const toTag: Tagged[] = [];
  for (const each of plan) {
    const repository = repositories.get(each.repositoryId);
    if (!repository?.ref) return { state: "refused", message: notInstalled(repository) };
    toTag.push({ ...each, fullName: repository.fullName, ref: repository.ref });
  }
  const cards = await listCarriedCards(deps.db, release.id);
  const written = await tagAll(deps, context, toTag, tried);
  if ("message" in written) return { state: "refused", ...written };
  const { tagged } = written;
  const refused = await publishAll(deps, context, tagged, cards);
  if (refused !== null) return { state: "refused", message: refused };
  return { state: "done", record: (trx, current) => record(trx, context, current, cards, tagged) };
}

/**
 * Tags come before anything is published: it is here that a rule of the forge may stand in the way. Never by the release itself, which would
 * take a tag that somebody has just made at another commit.
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
    const { repositoryId, tagName, fullName, ref } = each;
    const earlier = written.find((tag) => tag.repositoryId === repositoryId);
    let { sha } = earlier ?? each;
    if (!earlier) {
      await requireOurs(deps, context);
      const created = await deps.forge.createTag(ref, tagName, sha);
      if (!created.ok) return { message: `${fullName}: ${created.refusal.message}` };
      if ("taken" in created.value) {
        // What was tried may not have been shown yet when it was looked for.
        if (tried?.repositoryId !== repositoryId || tried.sha !== created.value.taken)
          return { message: taken(fullName, tagName) };
        ({ sha } = tried);
      }
      const tag = { repositoryId, tagName, sha, url: null };
      await recordAsOurs(deps, context, (trx) => saveReleaseTag(trx, release.id, tag));
    }
    tagged.push({ ...each, sha });
  }
  return { tagged };
}

/** Tags what it can of several repositories with one call for each account; what is left is tagged one by one. */
async function tagTogether(deps: Deps, context: ReleaseContext, planned: readonly Tagged[]): Promise<void> {
  const { release } = context;
  const written = await listReleaseTags(deps.db, release.id);
  const left = planned.filter(
    ({ repositoryId }) => !written.some((tag) => tag.repositoryId === repositoryId),
  );
  for (const some of callsToTag(left)) {
    await requireOurs(deps, context);
    const made = await deps.forge.createTags(
      some.map(({ ref, tagName, sha }) => ({ repository: ref, tagName, sha })),
    );
    await recordAsOurs(deps, context, async (trx) => {
      for (const { repositoryId, tagName, sha } of some.filter((_, at) => made[at]))
        await saveReleaseTag(trx, release.id, { repositoryId, tagName, sha, url: null });
    });
  }
}

/** What may be tagged by one call, where that is more than one. */
function callsToTag(tags: readonly Tagged[]): Tagged[][] {
  const calls: Tagged[][] = [];
  for (const installationId of new Set(tags.map(({ ref }) => ref.installationId))) {
    const group = tags.filter(({ ref }) => ref.installationId === installationId);
    for (let start = 0; start < group.length; start += TAGS_AT_ONCE)
      calls.push(group.slice(start, start + TAGS_AT_ONCE));
  }
  return calls.filter(({ length }) => length > 1);
}

async function publishAll(
  deps: Deps,
  context: ReleaseContext,
  tagged: readonly Tagged[],
  cards: readonly CarriedCard[],
): Promise<string | null> {
  const { release } = context;
  const written = new Map((await listReleaseTags(deps.db, release.id)).map((tag) => [tag.repositoryId, tag]));
  for (const { repositoryId, tagName, sha, fullName, ref } of tagged) {
    if (written.get(repositoryId)?.url) continue;
    const body = releaseNotes(cards.map((card) => notedIn(card, repositoryId)));
    await requireOurs(deps, context);
    const published = await deps.forge.publishRelease(ref, { tagName, sha, name: release.name, body });
    if (!published.ok) return `${fullName}: ${published.refusal.message}`;
    const tag = { repositoryId, tagName, sha, url: published.value.url };
    await recordAsOurs(deps, context, (trx) => saveReleaseTag(trx, release.id, tag));
  }
  return null;
}

function notedIn({ number, title, isDone, pullRequests }: CarriedCard, repositoryId: string): NotedCard {
  const there = pullRequests.filter((pull) => pull.repositoryId === repositoryId);
  return { number, title, pullRequests: there, isUndone: !isDone && pullRequests.length === 0 };
}

async function record(
  trx: Trx,
  { action }: ReleaseContext,
  { id, name }: ReleaseHead,
  cards: readonly CarriedCard[],
  tagged: readonly Tagged[],
): Promise<void> {
  await completeScope(trx, id);
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
