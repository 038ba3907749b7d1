import { setTimeout as sleep } from "node:timers/promises";
import { listRefs } from "../../sandbox/forge/git/refs.ts";
import type { PullRequestRow, RepositoryRow } from "../../sandbox/forge/rows.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import { SHARED } from "../world/shared-repository.ts";
import type { FaultWorld } from "../world/world.ts";
import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";

interface PersonPlace {
  readonly world: FaultWorld;
  readonly login: "ada" | "grace";
  readonly dice: SeededRandom;
  readonly own: BoardKnowledge;
  readonly history: History;
}

/** A person and a repository of their board in its current state on the forge. */
interface RepositoryPlace extends PersonPlace {
  readonly repository: RepositoryRow;
  /** Calls the REST API with a path below the repository's URL. Returns the status. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<number>;
  readonly branches: readonly string[];
  readonly pulls: readonly PullRequestRow[];
}

const WEIGHTS = {
  push: 6,
  gitPush: 1,
  pushTrunk: 1,
  forcePush: 1,
  deleteBranch: 1,
  foreignBranch: 2,
  report: 3,
  merge: 2,
  close: 1,
  reopen: 1,
  comment: 2,
  approve: 1,
  revert: 1,
  rename: 1,
} as const;

type Action = (place: RepositoryPlace) => Promise<unknown>;

/** Performs random actions on the forge until `isOver`. The forge may refuse them. */
export async function runPerson(place: PersonPlace, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const name = place.dice.weighted(WEIGHTS);
    const chosen = await chooseRepository(place, name);
    if (chosen) await ACTIONS[name](chosen);
    await sleep(place.dice.between(50, 600));
  }
}

/** Calls there are recorded under the name of the action. */
async function chooseRepository(place: PersonPlace, action: string): Promise<RepositoryPlace | null> {
  const { world, own, dice, login, history } = place;
  const { context } = world.forge;
  const [account] = context.state.accounts.in(own.board.owner);
  const repository = dice.pick(
    context.state.repositories
      .all()
      .filter(({ ownerId, name }) => ownerId === account?.id && name !== SHARED),
  );
  if (!repository) return null;
  const refs = await listRefs(context.git.repository(repository.id), "refs/heads/");
  return {
    ...place,
    repository,
    branches: refs
      .map(({ name }) => name.slice("refs/heads/".length))
      .filter((name) => name.startsWith("card/")),
    pulls: context.state.pullRequests.in(repository.id),
    call: async (method, path, body) => {
      const at = `/repos/${own.board.owner}/${repository.name}${path}`;
      const { status } = await own.board.person(login, method, at, body);
      const detail = { login, repository: repository.name, asked: `${method} ${path}`, status, body };
      history.event("person", action, detail);
      return status;
    },
  };
}

const ACTIONS: Readonly<Record<keyof typeof WEIGHTS, Action>> = {
  push: (place) => commitTo(place, place.dice.pick(place.branches)),
  gitPush,
  pushTrunk: (place) => commitTo(place, place.repository.defaultBranch),
  forcePush,
  deleteBranch: async ({ dice, branches, call }) => {
    const branch = dice.pick(branches);
    if (branch) await call("DELETE", `/git/refs/heads/${branch}`);
  },
  foreignBranch: async (place) => {
    const { dice, own } = place;
    own.count += 1;
    const sha = await headOf(place, place.repository.defaultBranch);
    const branch = `card/${dice.pick(own.cards) ?? 1}-by-hand-${own.count}`;
    await place.call("POST", "/git/refs", { ref: `refs/heads/${branch}`, sha });
    await commitTo(place, branch);
  },
  report: async (place) => {
    const branch = place.dice.pick(place.branches);
    if (!branch) return;
    const state = place.dice.weighted({ success: 4, failure: 1, pending: 1 });
    await place.call("POST", `/statuses/${await headOf(place, branch)}`, { state, context: "ci" });
  },
  merge: onPull((pull, { call }) => call("PUT", `/pulls/${pull.number}/merge`, {})),
  close: onPull((pull, { call }) => call("PATCH", `/pulls/${pull.number}`, { state: "closed" })),
  reopen: onPull((pull, { call }) => call("PATCH", `/pulls/${pull.number}`, { state: "open" }), "closed"),
  comment: onPull((pull, { call, own }) =>
    call("POST", `/issues/${pull.number}/comments`, { body: uniqueText(own, "comment on the forge") }),
  ),
  approve: onPull((pull, { call }) => call("POST", `/pulls/${pull.number}/reviews`, { event: "APPROVE" })),
  revert,
  rename: async ({ dice, repository, call }) => {
    if (dice.chance(0.6))
      await call("PATCH", "", { name: `${repository.name.replace(/-\d+$/, "")}-${dice.between(1, 9)}` });
  },
};

function onPull(
  action: (pull: PullRequestRow, place: RepositoryPlace) => Promise<unknown>,
  state = "open",
): Action {
  return async (place) => {
    const pull = place.dice.pick(
      place.pulls.filter((each) => each.state === state && each.mergedAt === null),
    );
    if (pull) await action(pull, place);
  };
}

async function headOf({ world, repository }: RepositoryPlace, branch: string): Promise<string> {
  const refs = await listRefs(world.forge.context.git.repository(repository.id), `refs/heads/${branch}`);
  return refs.find(({ name }) => name === `refs/heads/${branch}`)?.sha ?? "";
}

async function commitTo({ own, dice, call }: RepositoryPlace, branch: string | undefined): Promise<void> {
  if (branch === undefined) return;
  own.count += 1;
  // A file that others change too leads to merge conflicts.
  const path = dice.chance(0.15) ? "app.txt" : `file-${own.count}.txt`;
  const content = Buffer.from(`version ${own.count}\n`).toString("base64");
  await call("PUT", `/contents/${path}`, { message: `Change ${path}`, content, branch });
}

/** Pushes two commits with git. */
async function gitPush({ own, dice, login, repository, branches, history }: RepositoryPlace): Promise<void> {
  const branch = dice.pick(branches);
  if (branch === undefined) return;
  own.count += 1;
  const clone = await own.board.clone(login, repository.name);
  try {
    await clone.checkout(branch);
    for (const nth of [1, 2])
      await clone.commit(`Work ${nth}`, { [`git-${own.count}-${nth}.txt`]: "work\n" });
    await clone.push("origin", `HEAD:${branch}`);
    history.event("person", "gitPush", { login, repository: repository.name, branch });
  } catch (error) {
    history.event("person", "gitPush", { branch, status: 422, error: String(error).slice(0, 300) });
  } finally {
    await clone.remove();
  }
}

/** Resets a branch to the parent of its head. */
async function forcePush(place: RepositoryPlace): Promise<void> {
  const { dice, branches, repository, world, call } = place;
  const branch = dice.pick(branches);
  if (branch === undefined) return;
  const head = await headOf(place, branch);
  const git = world.forge.context.git.repository(repository.id);
  const { stdout } = await git.run(["rev-list", "--max-count=2", "--first-parent", head], { codes: [128] });
  const sha = stdout.toString("utf8").trim().split("\n").at(-1) ?? "";
  await call("PATCH", `/git/refs/heads/${branch}`, { sha, force: true });
}

async function revert({ world, own, login, pulls, dice, history }: RepositoryPlace): Promise<void> {
  const pull = dice.pick(pulls.filter(({ mergedAt }) => mergedAt !== null));
  if (!pull) return;
  const user = world.forge.users.find((each) => each.login === `${login}-${own.board.owner.slice(4)}`);
  const id = await nodeIdOf(world, own.board.owner, pull, user?.token ?? "");
  const query =
    "mutation($id: ID!) { revertPullRequest(input: { pullRequestId: $id }) { revertPullRequest { number } } }";
  const response = await fetch(`${world.forge.rootUrl}/api/graphql`, {
    method: "POST",
    headers: { authorization: `token ${user?.token ?? ""}` },
    body: JSON.stringify({ query, variables: { id } }),
  });
  const answer = await response.text();
  const status = answer.includes('"errors"') ? 422 : response.status;
  history.event("person", "revert", { pull: pull.number, status, answer: answer.slice(0, 300) });
}

async function nodeIdOf(
  world: FaultWorld,
  owner: string,
  pull: PullRequestRow,
  token: string,
): Promise<string> {
  const { name } = world.forge.context.state.repositories.need(pull.repositoryId);
  const response = await fetch(`${world.forge.apiUrl}/repos/${owner}/${name}/pulls/${pull.number}`, {
    headers: { authorization: `token ${token}` },
  });
  return ((await response.json()) as { node_id: string }).node_id;
}
