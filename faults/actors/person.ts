import { setTimeout as sleep } from "node:timers/promises";
import { nodeId, NODE_PREFIXES } from "../../sandbox/forge/node-id.ts";
import type { PullRequestRow } from "../../sandbox/forge/rows.ts";
import { uniqueText } from "./board-knowledge.ts";
import { deleteComment, editComment, hideComment } from "./comment-actions.ts";
import { backdate, renameBranch, renameTrunk, resetBranch, resetTrunk, sameName } from "./ref-actions.ts";
import {
  chooseRepository,
  commitTo,
  headOf,
  mutate,
  type Action,
  type PersonContext,
  type RepositoryContext,
} from "./repository-actions.ts";

const WEIGHTS = {
  push: 6,
  gitPush: 1,
  pushTrunk: 1,
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
  resetBranch: 2,
  resetTrunk: 1,
  renameBranch: 1,
  renameTrunk: 1,
  backdate: 2,
  sameName: 2,
  editComment: 1,
  deleteComment: 1,
  hideComment: 2,
} as const;

/** Performs random actions on the forge until `isOver`. The forge may refuse them. */
export async function runPerson(context: PersonContext, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const name = context.random.weighted(WEIGHTS);
    const chosen = await chooseRepository(context, name);
    if (chosen) await ACTIONS[name](chosen);
    await sleep(context.random.between(50, 600));
  }
}

const ACTIONS: Readonly<Record<keyof typeof WEIGHTS, Action>> = {
  push: (context) => commitTo(context, context.random.pick(context.branches)),
  gitPush,
  pushTrunk: (context) => commitTo(context, context.repository.defaultBranch),
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
  resetBranch,
  resetTrunk,
  renameBranch,
  renameTrunk,
  backdate,
  sameName,
  editComment,
  deleteComment,
  hideComment,
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

/** Pushes two commits with git. */
async function gitPush(context: RepositoryContext): Promise<void> {
  const { own, random, login, repository, branches, record } = context;
  const branch = random.pick(branches);
  if (branch === undefined) return;
  own.count += 1;
  const clone = await own.board.clone(login, repository.name);
  try {
    await clone.checkout(branch);
    for (const nth of [1, 2])
      await clone.commit(`Work ${nth}`, { [`git-${own.count}-${nth}.txt`]: "work\n" });
    await clone.push("origin", `HEAD:refs/heads/${branch}`);
    record({ branch, status: 200 });
  } catch (error) {
    record({ branch, status: 422, error: String(error).slice(0, 300) });
  } finally {
    await clone.remove();
  }
}

const REVERT = `mutation($id: ID!) {
  revertPullRequest(input: { pullRequestId: $id }) { revertPullRequest { number } } }`;

async function revert(context: RepositoryContext): Promise<void> {
  const pull = context.random.pick(context.pulls.filter(({ mergedAt }) => mergedAt !== null));
  if (!pull) return;
  const id = nodeId(NODE_PREFIXES.pullRequest, pull.id);
  context.record({ pull: pull.number, ...(await mutate(context, REVERT, { id })) });
}
