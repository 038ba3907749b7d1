import { setTimeout as sleep } from "node:timers/promises";
import { listRefs } from "../../sandbox/forge/git/refs.ts";
import type { PullRequestRow, RepositoryRow } from "../../sandbox/forge/rows.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import { SHARED } from "../world/shared-repository.ts";
import type { CheckedWorld } from "../world/world.ts";
import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";

interface PersonContext {
  readonly world: Pick<CheckedWorld, "forge">;
  readonly login: "ada" | "grace";
  readonly random: SeededRandom;
  readonly own: BoardKnowledge;
  readonly history: History;
}

/** A person and a repository of their board in its current state on the forge. */
interface RepositoryContext extends PersonContext {
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

type Action = (context: RepositoryContext) => Promise<unknown>;

/** Performs random actions on the forge until `isOver`. The forge may refuse them. */
export async function runPerson(context: PersonContext, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const name = context.random.weighted(WEIGHTS);
    const chosen = await chooseRepository(context, name);
    if (chosen) await ACTIONS[name](chosen);
    await sleep(context.random.between(50, 600));
  }
}

/** Calls there are recorded under the name of the action. */
async function chooseRepository(context: PersonContext, action: string): Promise<RepositoryContext | null> {
  const { world, own, random, login, history } = context;
  const { state, git } = world.forge.context;
  const [account] = state.accounts.inGroup(own.board.owner);
  const repository = random.pick(
    state.repositories.all().filter(({ ownerId, name }) => ownerId === account?.id && name !== SHARED),
  );
  if (!repository) return null;
  const refs = await listRefs(git.repository(repository.id), "refs/heads/");
  return {
    ...context,
    repository,
    branches: refs
      .map(({ name }) => name.slice("refs/heads/".length))
      .filter((name) => name.startsWith("card/")),
    pulls: state.pullRequests.inGroup(repository.id),
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
  push: (context) => commitTo(context, context.random.pick(context.branches)),
  gitPush,
  pushTrunk: (context) => commitTo(context, context.repository.defaultBranch),
  forcePush,
  deleteBranch: async ({ random, branches, call }) => {
    const branch = random.pick(branches);
    if (branch) await call("DELETE", `/git/refs/heads/${branch}`);
  },
  foreignBranch: async (context) => {
    const { random, own } = context;
    own.count += 1;
    const sha = await headOf(context, context.repository.defaultBranch);
    const branch = `card/${random.pick(own.cards) ?? 1}-by-hand-${own.count}`;
    await context.call("POST", "/git/refs", { ref: `refs/heads/${branch}`, sha });
    await commitTo(context, branch);
  },
  report: async (context) => {
    const branch = context.random.pick(context.branches);
    if (!branch) return;
    const state = context.random.weighted({ success: 4, failure: 1, pending: 1 });
    await context.call("POST", `/statuses/${await headOf(context, branch)}`, { state, context: "ci" });
  },
  merge: onPull((pull, { call }) => call("PUT", `/pulls/${pull.number}/merge`, {})),
  close: onPull((pull, { call }) => call("PATCH", `/pulls/${pull.number}`, { state: "closed" })),
  reopen: onPull((pull, { call }) => call("PATCH", `/pulls/${pull.number}`, { state: "open" }), "closed"),
  comment: onPull((pull, { call, own }) =>
    call("POST", `/issues/${pull.number}/comments`, { body: uniqueText(own, "comment on the forge") }),
  ),
  approve: onPull((pull, { call }) => call("POST", `/pulls/${pull.number}/reviews`, { event: "APPROVE" })),
  revert,
  rename: async ({ random, repository, call }) => {
    if (random.chance(0.6))
      await call("PATCH", "", { name: `${repository.name.replace(/-\d+$/, "")}-${random.between(1, 9)}` });
  },
};

function onPull(
  action: (pull: PullRequestRow, context: RepositoryContext) => Promise<unknown>,
  state = "open",
): Action {
  return async (context) => {
    const pull = context.random.pick(
      context.pulls.filter((each) => each.state === state && each.mergedAt === null),
    );
    if (pull) await action(pull, context);
  };
}

async function headOf({ world, repository }: RepositoryContext, branch: string): Promise<string> {
  const refs = await listRefs(world.forge.context.git.repository(repository.id), `refs/heads/${branch}`);
  return refs.find(({ name }) => name === `refs/heads/${branch}`)?.sha ?? "";
}

async function commitTo({ own, random, call }: RepositoryContext, branch: string | undefined): Promise<void> {
  if (branch === undefined) return;
  own.count += 1;
  // A file that others change too leads to merge conflicts.
  const path = random.chance(0.15) ? "app.txt" : `file-${own.count}.txt`;
  const content = Buffer.from(`version ${own.count}\n`).toString("base64");
  await call("PUT", `/contents/${path}`, { message: `Change ${path}`, content, branch });
}

/** Pushes two commits with git. */
async function gitPush({
  own,
  random,
  login,
  repository,
  branches,
  history,
}: RepositoryContext): Promise<void> {
  const branch = random.pick(branches);
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
async function forcePush(context: RepositoryContext): Promise<void> {
  const { random, branches, repository, world, call } = context;
  const branch = random.pick(branches);
  if (branch === undefined) return;
  const head = await headOf(context, branch);
  const git = world.forge.context.git.repository(repository.id);
  const { stdout } = await git.run(["rev-list", "--max-count=2", "--first-parent", head], { codes: [128] });
  const sha = stdout.toString("utf8").trim().split("\n").at(-1) ?? "";
  await call("PATCH", `/git/refs/heads/${branch}`, { sha, force: true });
}

async function revert({ world, own, login, pulls, random, history }: RepositoryContext): Promise<void> {
  const pull = random.pick(pulls.filter(({ mergedAt }) => mergedAt !== null));
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
  const result = await response.text();
  const status = result.includes('"errors"') ? 422 : response.status;
  history.event("person", "revert", { pull: pull.number, status, result: result.slice(0, 300) });
}

async function nodeIdOf(
  world: PersonContext["world"],
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
