import { setTimeout as sleep } from "node:timers/promises";
import { listRefs } from "../../sandbox/forge/git/refs.ts";
import type { PullRequestRow, RepositoryRow } from "../../sandbox/forge/rows.ts";
import type { Dice } from "../dice.ts";
import type { History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";
import { ownText, type BoardKnowledge } from "./board-knowledge.ts";

export interface PersonPlace {
  readonly world: FaultWorld;
  readonly login: "ada" | "grace";
  readonly dice: Dice;
  readonly own: BoardKnowledge;
  readonly history: History;
}

/** A person at a repository of their board, as the forge has it now. */
interface Desk extends PersonPlace {
  readonly repository: RepositoryRow;
  /** Below the repository's address. */
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

type Act = (desk: Desk) => Promise<unknown>;

/** Does one thing after the other on the forge until told to stop. What the forge refuses is not done. */
export async function runPerson(place: PersonPlace, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const name = place.dice.weighted(WEIGHTS);
    const desk = await sitDown(place, name);
    if (desk) await ACTS[name](desk);
    await sleep(place.dice.between(50, 600));
  }
}

/** What is done there is recorded under the act's name. */
async function sitDown(place: PersonPlace, act: string): Promise<Desk | null> {
  const { world, own, dice, login, history } = place;
  const { context } = world.forge;
  const [account] = context.state.accounts.in(own.board.owner);
  const repository = dice.pick(
    context.state.repositories.all().filter(({ ownerId }) => ownerId === account?.id),
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
      history.event("person", act, detail);
      return status;
    },
  };
}

const ACTS: Readonly<Record<keyof typeof WEIGHTS, Act>> = {
  push: (desk) => commitTo(desk, desk.dice.pick(desk.branches)),
  gitPush,
  pushTrunk: (desk) => commitTo(desk, desk.repository.defaultBranch),
  forcePush,
  deleteBranch: async ({ dice, branches, call }) => {
    const branch = dice.pick(branches);
    if (branch) await call("DELETE", `/git/refs/heads/${branch}`);
  },
  foreignBranch: async (desk) => {
    const { dice, own } = desk;
    own.count += 1;
    const sha = await headOf(desk, desk.repository.defaultBranch);
    const branch = `card/${dice.pick(own.cards) ?? 1}-by-hand-${own.count}`;
    await desk.call("POST", "/git/refs", { ref: `refs/heads/${branch}`, sha });
    await commitTo(desk, branch);
  },
  report: async (desk) => {
    const branch = desk.dice.pick(desk.branches);
    if (!branch) return;
    const state = desk.dice.weighted({ success: 4, failure: 1, pending: 1 });
    await desk.call("POST", `/statuses/${await headOf(desk, branch)}`, { state, context: "ci" });
  },
  merge: onPull((pull, { call }) => call("PUT", `/pulls/${pull.number}/merge`, {})),
  close: onPull((pull, { call }) => call("PATCH", `/pulls/${pull.number}`, { state: "closed" })),
  reopen: onPull((pull, { call }) => call("PATCH", `/pulls/${pull.number}`, { state: "open" }), "closed"),
  comment: onPull((pull, { call, own }) =>
    call("POST", `/issues/${pull.number}/comments`, { body: ownText(own, "said on the forge") }),
  ),
  approve: onPull((pull, { call }) => call("POST", `/pulls/${pull.number}/reviews`, { event: "APPROVE" })),
  revert,
  rename: async ({ dice, repository, call }) => {
    if (dice.chance(0.6))
      await call("PATCH", "", { name: `${repository.name.replace(/-\d+$/, "")}-${dice.between(1, 9)}` });
  },
};

function onPull(act: (pull: PullRequestRow, desk: Desk) => Promise<unknown>, state = "open"): Act {
  return async (desk) => {
    const pull = desk.dice.pick(desk.pulls.filter((each) => each.state === state && each.mergedAt === null));
    if (pull) await act(pull, desk);
  };
}

async function headOf({ world, repository }: Desk, branch: string): Promise<string> {
  const refs = await listRefs(world.forge.context.git.repository(repository.id), `refs/heads/${branch}`);
  return refs.find(({ name }) => name === `refs/heads/${branch}`)?.sha ?? "";
}

async function commitTo({ own, dice, call }: Desk, branch: string | undefined): Promise<void> {
  if (branch === undefined) return;
  own.count += 1;
  // Now and then a file that others change, too: that is what conflicts come of.
  const path = dice.chance(0.15) ? "app.txt" : `file-${own.count}.txt`;
  const content = Buffer.from(`version ${own.count}\n`).toString("base64");
  await call("PUT", `/contents/${path}`, { message: `Change ${path}`, content, branch });
}

/** With git itself, several commits at once. */
async function gitPush({ own, dice, login, repository, branches, history }: Desk): Promise<void> {
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

/** Takes the last commit of a branch away, or all of them. */
async function forcePush(desk: Desk): Promise<void> {
  const { dice, branches, repository, world, call } = desk;
  const branch = dice.pick(branches);
  if (branch === undefined) return;
  const head = await headOf(desk, branch);
  const git = world.forge.context.git.repository(repository.id);
  const { stdout } = await git.run(["rev-list", "--max-count=2", "--first-parent", head], { codes: [128] });
  const sha = stdout.toString("utf8").trim().split("\n").at(-1) ?? "";
  await call("PATCH", `/git/refs/heads/${branch}`, { sha, force: true });
}

async function revert({ world, own, login, pulls, dice, history }: Desk): Promise<void> {
  const pull = dice.pick(pulls.filter(({ mergedAt }) => mergedAt !== null));
  if (!pull) return;
  const user = world.forge.users.find((each) => each.login === `${login}-${own.board.owner.slice(4)}`);
  const { nodeId } = await nodeOf(world, own.board.owner, pull, user?.token ?? "");
  const query =
    "mutation($id: ID!) { revertPullRequest(input: { pullRequestId: $id }) { revertPullRequest { number } } }";
  const response = await fetch(`${world.forge.rootUrl}/api/graphql`, {
    method: "POST",
    headers: { authorization: `token ${user?.token ?? ""}` },
    body: JSON.stringify({ query, variables: { id: nodeId } }),
  });
  const answer = await response.text();
  const status = answer.includes('"errors"') ? 422 : response.status;
  history.event("person", "revert", { pull: pull.number, status, answer: answer.slice(0, 300) });
}

async function nodeOf(
  world: FaultWorld,
  owner: string,
  pull: PullRequestRow,
  token: string,
): Promise<{ nodeId: string }> {
  const { name } = world.forge.context.state.repositories.need(pull.repositoryId);
  const response = await fetch(`${world.forge.apiUrl}/repos/${owner}/${name}/pulls/${pull.number}`, {
    headers: { authorization: `token ${token}` },
  });
  const { node_id: nodeId } = (await response.json()) as { node_id: string };
  return { nodeId };
}
