import { z } from "zod";
import { targetOf } from "../flow/flow.ts";
import { releaseNotes } from "../flow/release-notes.ts";
import type { RepositoryRef } from "../forge/forge.ts";
import type { TaggingQuestion } from "../forge/releasing.ts";
import type { Trx } from "../store/connect.ts";
import { saveProgress } from "../store/release-actions.ts";
import { listReleaseBranches } from "../store/release-branches.ts";
import {
  completeScope,
  listCarriedCards,
  listReleaseTags,
  saveReleaseTag,
  type CarriedCard,
} from "../store/release-tags.ts";
import type { ReleaseHead } from "../store/releases.ts";
import { listBoardRepositories, type Repository } from "../store/repositories.ts";
import { recordEvents } from "../store/timeline.ts";
import { underWay } from "./begin-release-action.ts";
import type { Deps } from "./deps.ts";
import { requireOurs, type ReleaseContext, type ReleaseOutcome } from "./release-action.ts";

const inputOf = z.object({ versions: z.array(z.object({ repositoryId: z.string(), tagName: z.string() })) });
/** Which commit is tagged where: written down before the first tag, so that no retry tags another. */
const planOf = z.object({
  plan: z.array(z.object({ repositoryId: z.string(), tagName: z.string(), sha: z.string() })).optional(),
});
type Planned = NonNullable<z.infer<typeof planOf>["plan"]>[number];

interface Tagged extends Planned {
  readonly fullName: string;
  readonly ref: RepositoryRef;
}

/** Checks all versions at the forge, then writes the tags, then publishes the releases; what is done already is left as it is. */
export async function carryOutComplete(deps: Deps, context: ReleaseContext): Promise<ReleaseOutcome> {
  const { release, action } = context;
  const known = await listBoardRepositories(deps.db, release.workspaceId);
  const repositories = new Map(known.map((repository) => [repository.id, repository]));
  let { plan } = planOf.parse(action.progress);
  if (!plan) {
    const planned = await check(deps, context, repositories);
    if ("message" in planned) return { state: "refused", ...planned };
    plan = planned;
    if (!(await saveProgress(deps.db, action, { plan }))) throw underWay(release, action);
  }
  const tagged: Tagged[] = [];
  for (const each of plan) {
    const repository = repositories.get(each.repositoryId);
    if (!repository?.ref) return { state: "refused", message: notInstalled(repository) };
    tagged.push({ ...each, fullName: repository.fullName, ref: repository.ref });
  }
  const cards = await listCarriedCards(deps.db, release.id);
  const refused = (await tagAll(deps, context, tagged)) ?? (await publishAll(deps, context, tagged, cards));
  if (refused !== null) return { state: "refused", message: refused };
  return { state: "done", record: (trx, current) => record(trx, context, current, cards, tagged) };
}

const notInstalled = (repository: Repository | undefined): string =>
  `The App is not installed on the account of ${repository?.fullName ?? "a repository"} any more. Install it again.`;

/** The commits to tag, where nothing stands in the way of any of them. */
async function check(
  deps: Deps,
  { release, project, action }: ReleaseContext,
  repositories: ReadonlyMap<string, Repository>,
): Promise<Planned[] | { readonly message: string }> {
  const branches = await listReleaseBranches(deps.db, release.id);
  const { versions } = inputOf.parse(action.input);
  const shas = new Map(
    (await listReleaseTags(deps.db, release.id)).map((tag) => [tag.repositoryId, tag.sha]),
  );
  const questions: (TaggingQuestion & { readonly known: Repository })[] = [];
  for (const { repositoryId, tagName } of versions) {
    const known = repositories.get(repositoryId);
    if (!known?.ref) return { message: notInstalled(known) };
    if (shas.has(repositoryId)) continue;
    const cut = branches.find((branch) => branch.repositoryId === repositoryId);
    const target = targetOf(project.flow, true) ?? known.defaultBranch;
    const branchName = release.frozenAt ? cut?.branchName : target;
    if (branchName === undefined)
      return { message: `${known.fullName} has no branch of the release to tag.` };
    questions.push({ repository: known.ref, branchName, tagName, known });
  }
  const answers = questions.length === 0 ? [] : await deps.forge.lookBeforeTagging(questions);
  for (const [at, { known, branchName, tagName }] of questions.entries()) {
    const found = answers[at];
    if (!found) throw new Error("a question without an answer");
    const { fullName } = known;
    if (found.refusal) return { message: `${fullName}: ${found.refusal.message}` };
    const { branchSha, tagSha } = found;
    if (branchSha === null) return { message: `${fullName} has no branch ${branchName} to tag.` };
    if (tagSha !== null && tagSha !== branchSha) return { message: taken(fullName, tagName) };
    shas.set(known.id, branchSha);
  }
  return versions.map((version) => ({ ...version, sha: shas.get(version.repositoryId) ?? "" }));
}

const taken = (fullName: string, tagName: string): string =>
  `${fullName} has a tag ${tagName} already, at another commit. Choose another name.`;

/**
 * Tags come before anything is published: it is here that a rule of the forge may stand in the way. Never by the release itself, which would
 * take a tag that somebody has just made at another commit.
 */
async function tagAll(
  deps: Deps,
  context: ReleaseContext,
  tagged: readonly Tagged[],
): Promise<string | null> {
  const { release } = context;
  const written = await listReleaseTags(deps.db, release.id);
  for (const { repositoryId, tagName, sha, fullName, ref } of tagged) {
    if (written.some((tag) => tag.repositoryId === repositoryId)) continue;
    await requireOurs(deps, context);
    const created = await deps.forge.createTag(ref, tagName, sha);
    if (!created.ok) return `${fullName}: ${created.refusal.message}`;
    if ("taken" in created.value) return taken(fullName, tagName);
    await saveReleaseTag(deps.db, release.id, { repositoryId, tagName, sha, url: null });
  }
  return null;
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
    const body = releaseNotes(cards.map((card) => ({ ...card, prNumbers: pullsIn(card, repositoryId) })));
    await requireOurs(deps, context);
    const published = await deps.forge.publishRelease(ref, { tagName, sha, name: release.name, body });
    if (!published.ok) return `${fullName}: ${published.refusal.message}`;
    await saveReleaseTag(deps.db, release.id, { repositoryId, tagName, sha, url: published.value.url });
  }
  return null;
}

const pullsIn = ({ pullRequests }: CarriedCard, repositoryId: string): number[] =>
  pullRequests.filter((pull) => pull.repositoryId === repositoryId).map(({ number }) => number);

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
