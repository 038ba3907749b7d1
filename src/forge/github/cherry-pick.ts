import { z } from "zod";
import type { Refusal } from "../../flow/refusal.ts";
import { ForgeUnavailable, type Ordered, type RepositoryRef } from "../forge.ts";
import type { PickOrder, PickResult, PreparedPick } from "../releasing.ts";
import { askRepository } from "./ask-repository.ts";
import type { CarryOut } from "./carry-out.ts";
import { changedOnBothSides } from "./changed-files.ts";
import { type Caller, shaped } from "./client.ts";
import { mergeChain } from "./pick-merges.ts";
import {
  commitsIn,
  missingFrom,
  PICK,
  type PickedCommit,
  type PickState,
  settledPick,
} from "./pick-state.ts";
import { refusalOf } from "./refusals.ts";
import { REPOSITORY } from "./repositories.ts";
import { NO_COMMIT, updateRefs } from "./update-refs.ts";

type Picked = Ordered<PickResult>;
type Prepared = Ordered<PickResult | PreparedPick>;

interface Pick {
  readonly caller: Caller;
  readonly carryOut: CarryOut;
  readonly repository: RepositoryRef;
  readonly order: PickOrder;
}

/** The target as it would be: a tip that no branch shows yet. */
interface Grown {
  readonly tip: string;
  readonly tree: string;
}

/** Ends the work on a pick with its outcome. */
class PickEnded extends Error {
  override readonly name = "PickEnded";
  readonly outcome: Picked;

  constructor(outcome: Picked) {
    super("the pick has ended");
    this.outcome = outcome;
  }
}

const committedShape = z.looseObject({ sha: z.string() });

/**
 * Cherry-picks with what GitHub has: a commit with the target's tree is made beside the one to be picked, as a child of the same parent,
 * and GitHub merges the two; the tree that comes of it is what the pick would leave
 * (https://github.com/tibdex/github-cherry-pick). Four calls for one commit, one more for each further one, and one to land them.
 */
export async function preparePick(pick: Pick): Promise<Prepared> {
  const { caller, order } = pick;
  const asked = await look(pick);
  if (!asked.ok) return asked;
  const state = asked.value;
  const settled = settledPick(state, order);
  let hasTemp = Boolean(state.temp);
  try {
    if (settled !== null) return { ok: true, value: settled };
    const begun = state.branch!.target!;
    const grown = await grow(pick, state, { tip: begun.oid, tree: begun.tree.oid }, () => (hasTemp = true));
    if (grown.tip === begun.oid) return { ok: true, value: { state: "contained" } };
    hasTemp = false;
    return { ok: true, value: { state: "prepared", sha: grown.tip, handle: state.id } };
  } catch (error) {
    if (error instanceof PickEnded) return error.outcome;
    throw error;
  } finally {
    if (hasTemp) await removeTemp(caller, state.id, order.tempBranch);
  }
}

/** What cannot be removed now is found under its prefix later. */
export const dropPick = ({ caller, order }: Pick, { handle }: PreparedPick): Promise<void> =>
  removeTemp(caller, handle, order.tempBranch);

const look = ({ caller, repository, order }: Pick): Promise<Ordered<PickState>> =>
  askRepository(caller, PICK, { repository, order });

/** Makes the commits, on no branch yet. A change that the target has already makes none. */
async function grow(pick: Pick, state: PickState, begun: Grown, willUseTemp: () => void): Promise<Grown> {
  const { order } = pick;
  const all = commitsIn(state, order);
  if (all === null) throw refused({ reason: "unknown", message: "GitHub does not have the commits to pick" });
  const missing = new Set(missingFrom(state, order));
  let at = begun;
  for (const commits of chainsOf(all.filter(({ oid }) => missing.has(oid)))) {
    const trees = await treesOf(pick, state.id, at, commits, willUseTemp);
    for (const [index, tree] of trees.entries()) {
      if (tree === at.tree) continue;
      const commit = commits[index]!;
      const { author } = commit;
      const tip = await writeCommit(pick, {
        message: pickedMessage(commit),
        tree,
        parents: [at.tip],
        ...(author?.name && author.email ? { author } : {}),
      });
      at = { tip, tree };
    }
  }
  return at;
}

/** Runs of commits each of which is the child of the one before: the merges of a run build on one another. */
function chainsOf(commits: readonly PickedCommit[]): PickedCommit[][] {
  const chains: PickedCommit[][] = [];
  for (const commit of commits) {
    const chain = chains.at(-1);
    if (chain !== undefined && chain.at(-1)?.oid === parentOf(commit)) chain.push(commit);
    else chains.push([commit]);
  }
  return chains;
}

async function treesOf(
  pick: Pick,
  repositoryId: string,
  at: Grown,
  commits: readonly PickedCommit[],
  willUseTemp: () => void,
): Promise<readonly string[]> {
  const { caller, carryOut, repository, order } = pick;
  const message = "Begin a cherry-pick [skip ci]";
  const parents = [parentOf(commits[0]!)];
  const sibling = await writeCommit(pick, { message, tree: at.tree, parents });
  willUseTemp();
  // Done again from the start, it ends the same way.
  const chain = { repositoryId, tempBranch: order.tempBranch, sibling, commits };
  const merged = await carryOut(
    () => mergeChain(caller, chain),
    async () => null,
  );
  if ("trees" in merged) return merged.trees;
  const { refusal, at: commit } = merged;
  if (refusal.reason !== "conflicts") throw refused(refusal);
  const parent = parents[0]!;
  const sides = [`${parent}...${sibling}`, `${parent}...${commit.oid}`] as const;
  const files = await changedOnBothSides(caller, repository.forgeId, sides);
  throw new PickEnded({ ok: true, value: { state: "conflict", files, message: refusal.message } });
}

/** A commit of no branch is nothing to anybody, so writing it again does no harm. */
async function writeCommit(pick: Pick, commit: Readonly<Record<string, unknown>>): Promise<string> {
  const { caller, carryOut, repository } = pick;
  const parameters = { repository_id: repository.forgeId, ...commit };
  const answer = await carryOut(
    () => caller.write(`POST ${REPOSITORY}/git/commits`, parameters),
    async () => null,
  );
  if (answer.status >= 300) throw refused(refusalOf(answer.status, answer.body));
  return shaped(committedShape, answer).sha;
}

/** Moves the branch and takes the temporary one away, both or neither. */
export async function landPick(pick: Pick, { sha: tip, handle }: PreparedPick): Promise<Picked> {
  const { caller, carryOut, order } = pick;
  const picked: Picked = { ok: true, value: { state: "picked", sha: tip } };
  const find = async (): Promise<Picked | null> => {
    const asked = await look(pick);
    if (!asked.ok) return asked;
    const now = asked.value.branch?.target?.oid;
    if (now === tip) return picked;
    if (now === order.expectedTip) return null;
    return { ok: true, value: settledPick(asked.value, order) ?? { state: "moved", sha: now ?? null } };
  };
  return await carryOut<Picked>(async () => {
    const refusal = await updateRefs(caller, handle, [
      { name: `refs/heads/${order.branchName}`, beforeOid: order.expectedTip, afterOid: tip },
      { name: `refs/heads/${order.tempBranch}`, afterOid: NO_COMMIT },
    ]);
    if (refusal === null) return picked;
    return (await find()) ?? { ok: false, refusal };
  }, find);
}

async function removeTemp(caller: Caller, repositoryId: string, tempBranch: string): Promise<void> {
  try {
    await updateRefs(caller, repositoryId, [{ name: `refs/heads/${tempBranch}`, afterOid: NO_COMMIT }]);
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
  }
}

const refused = (refusal: Refusal): PickEnded => new PickEnded({ ok: false, refusal });

function parentOf(commit: PickedCommit): string {
  const parent = commit.parents.nodes[0]?.oid;
  if (parent === undefined) throw refused({ reason: "unknown", message: "A first commit cannot be picked" });
  return parent;
}

/** As `git cherry-pick -x` writes it: among the trailers, where the message ends in some. */
export function pickedMessage({ message, oid }: { readonly message: string; readonly oid: string }): string {
  const text = message.trimEnd();
  const last =
    text
      .split(/\n{2,}/)
      .slice(1)
      .at(-1) ?? "";
  const isTrailers =
    last !== "" &&
    last.split("\n").every((line) => /^(?:[A-Za-z0-9-]+: |\(cherry picked from commit )/.test(line));
  return `${text}${isTrailers ? "\n" : "\n\n"}(cherry picked from commit ${oid})`;
}
