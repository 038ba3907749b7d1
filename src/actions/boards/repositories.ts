import { busy, conflict, invalid, requireFound } from "../../errors.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { recordChange } from "../../store/events/feed.ts";
import { lockLinkedCards } from "../../store/cards/links.ts";
import { listProjects, lockProject, type Project } from "../../store/cards/projects.ts";
import {
  lockRepositories,
  listBoardRepositories,
  listProjectRepositories,
  saveProjectRepositories,
  type ConnectedRepository,
  type Repository,
} from "../../store/forge/repositories.ts";
import { followNewTrunksSoon } from "../trunks/follow-trunk.ts";
import { unlinkUnmerged } from "../cards/relink-card.ts";
import type { Write } from "../write.ts";
import { requireNoReleaseBranches } from "./projects.ts";

interface ChosenRepository {
  readonly id: string;
  /** Absent leaves it as it is. */
  readonly linkByDefault?: boolean | undefined;
}

/** A repository as the API shows it. */
export const repositoryEntry = (repository: ConnectedRepository) => {
  const { id, fullName, defaultBranch, linkByDefault, projectId, installationId } = repository;
  const { broken, lastWebhookAt, lastReconciledAt, missingPermissions, unavailable } = repository;
  const connected = repository.connected && installationId !== null;
  const health = { broken, lastWebhookAt, lastReconciledAt, missingPermissions, unavailable };
  return { id, fullName, defaultBranch, linkByDefault, connected, projectId, health };
};

/**
 * Replaces the repositories of a project. Unlinks cards from removed repositories unless their work
 * there is merged. Returns the repositories. Throws `conflict` for a repository of another
 * project, or a removed one that the App can reach with a card's open pull request or an open
 * release's branch.
 */
export async function setProjectRepositories(
  write: Write,
  project: Project,
  chosen: readonly ChosenRepository[],
): Promise<StoredResponse> {
  requireEachOnce(chosen);
  const { trx } = write;
  requireFound(await lockProject(trx, project.id, "no key update"), "project");
  const before = await listProjectRepositories(trx, project.id);
  const involved = [...before, ...chosen].map(({ id }) => id);
  await lockRepositories(trx, involved);
  await requireFree(write, project, chosen);
  const removed = before.filter(({ id }) => !chosen.some((one) => one.id === id));
  await requireNoReleaseBranches(trx, project.id, removed);
  await unlinkCards(write, removed);
  const saved = chosen.map((one) => withDefault(one, before, chosen.length));
  await saveProjectRepositories(trx, project.id, saved);
  const after = await listProjectRepositories(trx, project.id);
  await followNewTrunksSoon(trx, project.id);
  await recordChange(trx, write, {
    kind: "project_changed",
    data: { from: withRepositories(project, before), to: withRepositories(project, after) },
  });
  return write.respond(after.map(repositoryEntry));
}

const withRepositories = (
  { id, name }: Project,
  repositories: readonly { readonly id: string }[],
): object => ({
  id,
  name,
  repositoryIds: repositories.map((repository) => repository.id),
});

/** `linkByDefault` defaults to its current value, and to true for a project's only repository. */
function withDefault(
  { id, linkByDefault }: ChosenRepository,
  before: readonly Repository[],
  count: number,
): { readonly id: string; readonly linkByDefault: boolean } {
  const was = before.find((repository) => repository.id === id)?.linkByDefault;
  return { id, linkByDefault: linkByDefault ?? was ?? count === 1 };
}

function requireEachOnce(chosen: readonly ChosenRepository[]): void {
  const issues = chosen.flatMap(({ id }, at) =>
    chosen.findIndex((other) => other.id === id) === at
      ? []
      : [{ path: `body.repositories.${at}.id`, message: `the repository ${id} is listed twice` }],
  );
  const [first] = issues;
  if (first) throw invalid(`${first.path}: ${first.message}`, issues);
}

async function requireFree(
  { trx, workspaceId }: Write,
  project: Project,
  chosen: readonly ChosenRepository[],
): Promise<void> {
  const known = await listBoardRepositories(trx, workspaceId);
  const onBoard = new Map(known.map((repository) => [repository.id, repository]));
  const issues = chosen.flatMap(({ id }, at) =>
    onBoard.has(id)
      ? []
      : [{ path: `body.repositories.${at}.id`, message: `${id} is not a repository of this board` }],
  );
  const [first] = issues;
  if (first) throw invalid(`${first.message}. GET /v1/repositories lists them.`, issues);
  const taken = chosen
    .map(({ id }) => onBoard.get(id))
    .find((repository) => repository && ![null, project.id].includes(repository.projectId));
  if (!taken) return;
  const holder = (await listProjects(trx, workspaceId)).find(({ id }) => id === taken.projectId);
  throw conflict(
    `${taken.fullName} belongs to the project ${holder?.name ?? taken.projectId}. Remove it from that project first.`,
  );
}

async function unlinkCards({ trx, userId }: Write, removed: readonly Repository[]): Promise<void> {
  const nameOf = new Map(removed.map(({ id, fullName }) => [id, fullName]));
  const cards = await lockLinkedCards(trx, [...nameOf.keys()]);
  const outOfReach = new Set(removed.filter(({ broken }) => broken !== null).map(({ id }) => id));
  // Nobody can close a pull request that is out of reach, so it is ignored.
  const needed = cards.filter(
    ({ openPullRequest, repositoryId }) => openPullRequest !== null && !outOfReach.has(repositoryId),
  );
  if (needed.length > 0) {
    const pulls = needed
      .slice(0, 10)
      .map((card) => `#${card.openPullRequest} of card ${card.number} in ${nameOf.get(card.repositoryId)}`);
    throw conflict(
      `Pull requests are open: ${pulls.join(", ")}${needed.length > 10 ? " and more" : ""}. Merge or close them first.`,
    );
  }
  const moving = cards.find(({ isMoving }) => isMoving);
  if (moving) {
    throw busy(`Card ${moving.number} is being moved. Change the repositories after that.`, 2);
  }
  await unlinkUnmerged(trx, userId, cards);
}
