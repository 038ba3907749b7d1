import { repositoryNodeId } from "../../sandbox/forge/present/repository.ts";
import { listRefs } from "../../sandbox/forge/git/refs.ts";
import { headOf, lineOf, mutate, type Action } from "./repository-actions.ts";

/** The actions of people on refs that a later check needs. */
export const RESET_TRUNK = "resetTrunk";
export const RENAME_TRUNK = "renameTrunk";
export const SAME_NAME = "sameName";

/** What is recorded of `RESET_TRUNK` and `RENAME_TRUNK`. */
export interface RewrittenTrunk {
  readonly forgeId: number;
  readonly status: number;
  /** The names of the trunk before and after. */
  readonly names: readonly string[];
  /** The tip that the trunk contains no longer, if any. */
  readonly tips: readonly string[];
}

/** What is recorded of `SAME_NAME`: a ref that nobody changes. */
export interface UnchangedRef {
  readonly forgeId: number;
  readonly status: number;
  readonly ref: string;
  readonly sha: string;
}

/** Resets a card's branch to an earlier commit, or to the trunk, which empties its pull request. */
export const resetBranch: Action = async (context) => {
  const { random, branches, repository, call } = context;
  const branch = random.pick(branches);
  if (branch === undefined) return;
  const target = random.chance(0.3) ? repository.defaultBranch : branch;
  const sha = random.pick((await lineOf(context, target, 4)).slice(target === branch ? 1 : 0));
  if (sha) await call("PATCH", `/git/refs/heads/${branch}`, { sha, force: true });
};

const UPDATE_REFS = `mutation($repositoryId: ID!, $refUpdates: [RefUpdate!]!) {
  updateRefs(input: { repositoryId: $repositoryId, refUpdates: $refUpdates }) { clientMutationId } }`;

/** Resets the trunk to one of the commits before its tip, if nobody changes it meanwhile. */
export const resetTrunk: Action = async (context) => {
  const { random, repository, record } = context;
  const name = repository.defaultBranch;
  const [tip = "", ...earlier] = await lineOf(context, name, 3);
  const sha = random.pick(earlier);
  if (!sha) return;
  const { status, result } = await mutate(context, UPDATE_REFS, {
    repositoryId: repositoryNodeId(repository),
    refUpdates: [{ name: `refs/heads/${name}`, beforeOid: tip, afterOid: sha, force: true }],
  });
  const rewritten: RewrittenTrunk = { forgeId: repository.id, status, names: [name], tips: [tip] };
  record({ ...rewritten, to: sha, result });
};

export const renameBranch: Action = async ({ random, own, branches, call }) => {
  const branch = random.pick(branches);
  if (branch === undefined) return;
  own.count += 1;
  await call("POST", `/branches/${branch}/rename`, { new_name: `${branch}-renamed-${own.count}` });
};

/** Renames the trunk, and at times back to `main`. */
export const renameTrunk: Action = async ({ random, repository, ask, record }) => {
  const from = repository.defaultBranch;
  const to = from === "main" || random.chance(0.5) ? `trunk-${random.between(1, 3)}` : "main";
  const { status } = await ask("POST", `/branches/${from}/rename`, { new_name: to });
  const rewritten: RewrittenTrunk = { forgeId: repository.id, status, names: [from, to], tips: [] };
  record({ ...rewritten });
};

/** Adds a commit with the date of a wrong clock, or an earlier one than its parent. */
export const backdate: Action = async (context) => {
  const { random, own, login, repository, branches, ask, call } = context;
  const branch = random.chance(0.5) ? repository.defaultBranch : random.pick(branches);
  const parent = branch === undefined ? "" : await headOf(context, branch);
  if (parent === "") return;
  own.count += 1;
  const path = `dated-${own.count}.txt`;
  const tree = await ask("POST", "/git/trees", { base_tree: parent, tree: [{ path, content: "dated\n" }] });
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const date = random.pick([anHourAgo, "2001-01-01T00:00:00Z", "2082-01-01T00:00:00Z"]);
  const person = { name: login, email: `${login}@example.com`, date };
  const commit = await ask("POST", "/git/commits", {
    message: `Change ${path}`,
    tree: tree.body["sha"],
    parents: [parent],
    author: person,
    committer: person,
  });
  await call("PATCH", `/git/refs/heads/${branch}`, { sha: commit.body["sha"] });
};

/** Creates a tag with the name of a branch, or a branch with the name of a tag that may follow. */
export const sameName: Action = async (context) => {
  const { random, own, repository, world, ask, record } = context;
  const git = world.forge.context.git.repository(repository.id);
  const heads = (await listRefs(git, "refs/heads/")).map(({ name }) => name);
  const isTag = random.chance(0.7);
  const name = isTag ? random.pick(heads)?.slice("refs/heads/".length) : nextTag(own.count);
  const sha = random.pick(await lineOf(context, repository.defaultBranch, 5));
  if (name === undefined || !sha) return;
  const ref = `refs/${isTag ? "tags" : "heads"}/${name}`;
  const { status } = await ask("POST", "/git/refs", { ref, sha });
  const unchanged: UnchangedRef = { forgeId: repository.id, status, ref, sha };
  record({ ...unchanged });
};

/** A name that `completeRelease` of an agent may give its tag soon. */
const nextTag = (count: number): string => `v${count + 2}`;
