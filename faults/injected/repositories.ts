import { setTimeout as sleep } from "node:timers/promises";
import { syncInstallation } from "../../src/actions/installations/sync-installation.ts";
import { transferRepository } from "../../sandbox/forge/actions/change-repository.ts";
import { onForge } from "../../test/support/forge/installations.ts";
import { makeCaller, type Caller } from "../actors/caller.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import { installationIdOf, SHARED, type PossibleOwner } from "../world/shared-repository.ts";
import type { FaultWorld } from "../world/world.ts";

interface SharedRepositoryContext {
  readonly world: FaultWorld;
  readonly random: SeededRandom;
  readonly history: History;
  readonly retryUntil: () => number;
}

/** A board with what it has done in the shared repository. */
interface SharingBoard extends PossibleOwner, SharedRepositoryContext {
  readonly caller: Caller;
  readonly cards: { readonly number: number; readonly branch: string }[];
  /** The number of cards that it has asked for: one without a response may exist. */
  requested: number;
}

interface ListedRepository {
  readonly id: string;
  readonly fullName: string;
  readonly projectId: string | null;
}

/** The event that a board has lost the shared repository. */
export const GIVEN_AWAY = "repository given away";

/** The number of tries to hand the repository over. Open pull requests and moves prevent it. */
const MAX_TRIES = 12;

/**
 * Lets the shared repository change hands: to another board of its organization or to another
 * organization, and back, while both boards use it. At the end it is at home.
 */
export async function transferSharedRepository(
  context: SharedRepositoryContext,
  isOver: () => boolean,
): Promise<void> {
  const [home, neighbor, foreign] = context.world.shared.possibleOwners.map((owner) =>
    sharingBoard(context, owner),
  );
  if (!home || !neighbor || !foreign) throw new Error("the shared repository has three possible owners");
  await addToProject(home);
  while (!isOver()) {
    const other = context.random.chance(0.6) ? neighbor : foreign;
    await work(home);
    if (!(await giveTo(home, other))) continue;
    const meanwhile = useOldCards(home);
    await work(other);
    await meanwhile;
    while (!(await giveTo(other, home))) await sleep(500);
    await useOldCards(other);
  }
}

function sharingBoard(context: SharedRepositoryContext, owner: PossibleOwner): SharingBoard {
  const { world, random, history, retryUntil } = context;
  const { name, apiKey } = owner;
  const actor = `owner-${name}`;
  const own = random.for(actor);
  const { processes } = world;
  const caller = makeCaller({ actor, owner: name, apiKey, processes, random: own, history, retryUntil });
  return { ...context, ...owner, random: own, caller, cards: [], requested: 0 };
}

/** Creates cards in the shared repository, with commits, and moves them on. */
async function work(board: SharingBoard): Promise<void> {
  const { caller, random, projectId, stages, cards } = board;
  const repository = await findShared(board);
  if (!repository) return;
  for (let count = random.between(1, 2); count > 0; count--) {
    const nth = (board.requested += 1);
    const created = await caller.write("POST", "/v1/cards", {
      title: `Shared work ${nth}`,
      description: `shared work ${nth} of ${board.name}`,
      projectId,
      statusId: stages["In progress"],
      repositoryIds: [repository.id],
    });
    if (created.status !== 201) continue;
    const { number, repositories } = created.body as {
      number: number;
      repositories: readonly { branchName: string | null }[];
    };
    const branch = repositories[0]?.branchName ?? "";
    cards.push({ number, branch });
    if (branch !== "") await commit(board, branch);
    await moveCard(board, number, random.pick(["In review", "Done", "Done"]) ?? "Done");
  }
}

/** What a board still does with cards whose repository it may have lost. */
async function useOldCards(board: SharingBoard): Promise<void> {
  const { caller, cards, random } = board;
  for (const { number, branch } of cards.slice(-3)) {
    if (branch !== "" && random.chance(0.5)) await commit(board, branch);
    const body = `From ${board.name}, remark ${cards.length} on ${number}: ${random.between(1, 1e9)}`;
    await caller.write("POST", `/v1/cards/${number}/comments`, { body });
    for (const stage of ["To do", "In progress", "In review", "Done"])
      if (random.chance(0.7)) await moveCard(board, number, stage);
  }
}

const moveCard = ({ caller, stages }: SharingBoard, number: number, stage: string) =>
  caller.write("POST", `/v1/cards/${number}/move`, { statusId: stages[stage], index: 0 });

/** Gives the repository to another board. False if its cards prevent it. */
async function giveTo(from: SharingBoard, to: SharingBoard): Promise<boolean> {
  const { random, history, world } = from;
  const isTransfer = from.organization !== to.organization;
  // A move may be in progress meanwhile.
  const last = from.cards.at(-1);
  const moving = last && random.chance(0.6) ? moveCard(from, last.number, "Done") : null;
  if (!isTransfer && random.chance(0.7)) await endPullRequests(from);
  const isArchived = random.chance(0.4) && (await setArchived(from, true));
  if (isTransfer) {
    const { context, by } = onForge(world, from.organization);
    const { account } = onForge(world, to.organization);
    await transferRepository(context, world.shared.forgeId, by, account, { omitsEvent: random.chance(0.3) });
  }
  const isGiven = isTransfer || (await remove(from));
  if (isGiven) history.event("fault", GIVEN_AWAY, { from: from.name, to: to.name });
  const owner = isGiven ? to : from;
  const isEarly = isArchived && random.chance(0.5);
  if (isEarly) await setArchived(owner, false);
  if (isGiven) {
    await addToProject(to);
    history.event("note", "repository taken over", { by: to.name });
  }
  if (isArchived && !isEarly) await setArchived(owner, false);
  await moving;
  return isGiven;
}

/** Removes the repository from its project. False if open pull requests or moves prevent it. */
async function remove(board: SharingBoard): Promise<boolean> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const kept = (await listOwn(board)).filter(({ fullName }) => !isShared(fullName));
    const { status } = await putRepositories(board, kept);
    if (status === 200) return true;
    await endPullRequests(board);
    await sleep(400);
  }
  return false;
}

/** Adds the repository to the project. An account that has received it may have to be synced. */
async function addToProject(board: SharingBoard): Promise<void> {
  const { world, projectId, organization } = board;
  for (let tries = 1; tries <= 60; tries++) {
    const repository = await findShared(board);
    if (repository?.projectId === projectId) return;
    if (repository) await putRepositories(board, [...(await listOwn(board)), repository]);
    else if (tries % 6 === 0) {
      const installationId = installationIdOf(world.forge, organization.owner);
      await syncInstallation(world.deps, installationId).catch(() => undefined);
    }
    await sleep(500);
  }
  throw new Error(`${board.name} does not get the shared repository`);
}

const isShared = (fullName: string): boolean => fullName.endsWith(`/${SHARED}`);

async function listed({ caller }: SharingBoard, path: string): Promise<readonly ListedRepository[]> {
  const { status, body } = await caller.get(path);
  return status === 200 ? (body as readonly ListedRepository[]) : [];
}

async function findShared(board: SharingBoard): Promise<ListedRepository | undefined> {
  return (await listed(board, "/v1/repositories")).find(({ fullName }) => isShared(fullName));
}

/** The repositories of the project. Repeats a failed read: what is missing would be removed. */
async function listOwn(board: SharingBoard): Promise<readonly ListedRepository[]> {
  for (;;) {
    const { status, body } = await board.caller.get(`/v1/projects/${board.projectId}/repositories`);
    if (status === 200) return body as readonly ListedRepository[];
    await sleep(200);
  }
}

const putRepositories = ({ caller, projectId }: SharingBoard, repositories: readonly ListedRepository[]) =>
  caller.write("PUT", `/v1/projects/${projectId}/repositories`, {
    repositories: repositories.map(({ id, fullName }) => ({
      id,
      ...(isShared(fullName) && { linkByDefault: false }),
    })),
  });

const pathOf = ({ organization: { owner } }: SharingBoard): string => `/repos/${owner}/${SHARED}`;

async function commit(board: SharingBoard, branch: string): Promise<void> {
  const name = `shared-${board.random.between(1, 1e9)}.txt`;
  const content = { message: "Work", branch, content: "" };
  await person(board, "commit", "PUT", `/contents/${name}`, content);
}

/** Merges or closes all open pull requests. */
async function endPullRequests(board: SharingBoard): Promise<void> {
  const { world, random } = board;
  for (const { number, state } of world.forge.context.state.pullRequests.inGroup(world.shared.forgeId)) {
    if (state !== "open") continue;
    const isMerged =
      random.chance(0.5) && (await person(board, "merge", "PUT", `/pulls/${number}/merge`, {})) < 300;
    if (!isMerged) await person(board, "close", "PATCH", `/pulls/${number}`, { state: "closed" });
  }
}

async function setArchived(board: SharingBoard, archived: boolean): Promise<boolean> {
  return (await person(board, archived ? "archive" : "unarchive", "PATCH", "", { archived })) < 300;
}

async function person(board: SharingBoard, action: string, method: string, path: string, body: unknown) {
  const { organization, history } = board;
  const { status } = await organization.person("ada", method, `${pathOf(board)}${path}`, body);
  history.event("person", `${SHARED}: ${action}`, { asked: `${method} ${path}`, status, body });
  return status;
}
