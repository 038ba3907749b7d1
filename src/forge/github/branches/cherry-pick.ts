import { z } from "zod";
import { ForgeUnavailable, type Ordered } from "../../values.ts";
import type { PickOrder, PickResult, PreparedPick } from "../../releasing.ts";
import { changedOnBothSides } from "./branches.ts";
import { type Caller, shaped } from "../calls/client.ts";
import { isInstallationRefused, recovered } from "../calls/failures.ts";
import { type GitHubRepository, nothingToFind, refusedBy } from "../github-repository.ts";
import { mergeChain } from "./pick-merges.ts";
import {
  commitsIn,
  type MergedCommit,
  missingFrom,
  PICK,
  type PickState,
  settledPick,
} from "./pick-state.ts";
import { NO_COMMIT, updateRefs } from "./refs.ts";
import { askRepository } from "../repository-questions.ts";

type Picked = Ordered<PickResult>;

/** Opens the repository for the time that writing so many commits takes. */
export type OpenFor = (commits: number) => GitHubRepository;

/** A pick whose commits are being made. */
interface Making {
  readonly repository: GitHubRepository;
  readonly order: PickOrder;
  readonly state: PickState;
  /** Is called before the temporary branch is used. */
  readonly willUseTemp: () => void;
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
 * (https://github.com/tibdex/github-cherry-pick). Four calls for one commit, one more for each further one, and one to land them: one question
 * tells both what the pull requests brought and where the branch stands.
 */
export async function preparePick(
  openFor: OpenFor,
  order: PickOrder,
): Promise<Ordered<PickResult | PreparedPick>> {
  const asked = await look(openFor(1), order);
  if (!asked.ok) return asked;
  const state = asked.value;
  const found = commitsIn(state, order);
  if ("unmerged" in found) {
    const message = `GitHub knows of no merge of pull request #${found.unmerged}`;
    return { ok: false, refusal: { reason: "unknown", message } };
  }
  const commits = found.map(({ oid }) => oid);
  const settled = settledPick(state, order, commits);
  const repository = openFor(commits.length);
  let hasTemp = Boolean(state.temp);
  try {
    if (settled !== null) return { ok: true, value: settled };
    const begun = state.branch!.target!;
    const making = { repository, order, state, willUseTemp: () => (hasTemp = true) };
    const grown = await grow(making, found, { tip: begun.oid, tree: begun.tree.oid });
    if (grown.tip === begun.oid) return { ok: true, value: { state: "contained" } };
    hasTemp = false;
    return { ok: true, value: { state: "prepared", sha: grown.tip, commits, handle: state.id } };
  } catch (error) {
    if (error instanceof PickEnded) return error.outcome;
    throw error;
  } finally {
    if (hasTemp) await removeTemp(repository.caller, state.id, order.tempBranch);
  }
}

/** False where it cannot be removed now. */
export const dropPick = (
  { caller }: GitHubRepository,
  order: PickOrder,
  { handle }: PreparedPick,
): Promise<boolean> => recovered(removeTemp(caller, handle, order.tempBranch), isInstallationRefused, false);

const look = ({ caller, ref }: GitHubRepository, order: PickOrder): Promise<Ordered<PickState>> =>
  askRepository(caller, PICK, { repository: ref, order });

/** Makes the commits, on no branch yet. A change that the target has already makes none. */
async function grow(making: Making, all: readonly MergedCommit[], begun: Grown): Promise<Grown> {
  const originals = all.map(({ oid }) => oid);
  const missing = missingFrom(making.state, originals);
  let at = begun;
  for (const commits of chainsOf(all.filter(({ oid }) => missing.has(oid)))) {
    const trees = await treesOf(making, at, commits);
    for (const [index, tree] of trees.entries()) {
      if (tree === at.tree) continue;
      const commit = commits[index]!;
      const { author } = commit;
      const tip = await writeCommit(making, {
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
function chainsOf(commits: readonly MergedCommit[]): MergedCommit[][] {
  const chains: MergedCommit[][] = [];
  for (const commit of commits) {
    const chain = chains.at(-1);
    if (chain !== undefined && chain.at(-1)?.oid === parentOf(commit)) chain.push(commit);
    else chains.push([commit]);
  }
  return chains;
}

async function treesOf(
  making: Making,
  at: Grown,
  commits: readonly MergedCommit[],
): Promise<readonly string[]> {
  const { repository, order, state } = making;
  const message = "Begin a cherry-pick [skip ci]";
  const parent = parentOf(commits[0]!);
  const sibling = await writeCommit(making, { message, tree: at.tree, parents: [parent] });
  making.willUseTemp();
  // Done again from the start, it ends the same way.
  const chain = { repositoryId: state.id, tempBranch: order.tempBranch, sibling, commits };
  const merged = await repository.carryOut(() => mergeChain(repository.caller, chain), nothingToFind);
  if ("trees" in merged) return merged.trees;
  const { refusal, at: commit } = merged;
  if (refusal.reason !== "conflicts") throw new PickEnded({ ok: false, refusal });
  const sides = [`${parent}...${sibling}`, `${parent}...${commit.oid}`] as const;
  const files = await changedOnBothSides(repository, sides);
  throw new PickEnded({ ok: true, value: { state: "conflict", files, message: refusal.message } });
}

/** A commit of no branch is nothing to anybody, so writing it again does no harm. */
async function writeCommit(
  { repository: { carryOut, write } }: Making,
  commit: Readonly<Record<string, unknown>>,
): Promise<string> {
  const answer = await carryOut(() => write("POST /git/commits", commit), nothingToFind);
  if (answer.status >= 300) throw new PickEnded(refusedBy(answer));
  return shaped(committedShape, answer).sha;
}

/** Moves the branch and takes the temporary one away, both or neither. */
export async function landPick(
  openFor: OpenFor,
  order: PickOrder,
  { sha: tip, commits, handle }: PreparedPick,
): Promise<Picked> {
  const repository = openFor(commits.length);
  const picked: Picked = { ok: true, value: { state: "picked", sha: tip, commits } };
  const find = async (): Promise<Picked | null> => {
    const asked = await look(repository, order);
    if (!asked.ok) return asked;
    const now = asked.value.branch?.target?.oid;
    if (now === tip) return picked;
    if (now === order.expectedTip) return null;
    return {
      ok: true,
      value: settledPick(asked.value, order, commits) ?? { state: "moved", sha: now ?? null },
    };
  };
  return await repository.carryOut<Picked>(async () => {
    const refusal = await updateRefs(repository.caller, handle, [
      { name: `refs/heads/${order.branchName}`, beforeOid: order.expectedTip, afterOid: tip },
      { name: `refs/heads/${order.tempBranch}`, afterOid: NO_COMMIT },
    ]);
    if (refusal === null) return picked;
    return (await find()) ?? { ok: false, refusal };
  }, find);
}

async function removeTemp(caller: Caller, repositoryId: string, tempBranch: string): Promise<boolean> {
  const removal = { name: `refs/heads/${tempBranch}`, afterOid: NO_COMMIT };
  try {
    return (await updateRefs(caller, repositoryId, [removal])) === null;
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    return false;
  }
}

function parentOf(commit: MergedCommit): string {
  const parent = commit.parents.nodes[0]?.oid;
  if (parent !== undefined) return parent;
  const refusal = { reason: "unknown", message: "A first commit cannot be picked" } as const;
  throw new PickEnded({ ok: false, refusal });
}

/** As `git cherry-pick -x` writes it: among the trailers, where the message ends in some. */
function pickedMessage({ message, oid }: MergedCommit): string {
  const text = message.trimEnd();
  const [, ...paragraphs] = text.split(/\n{2,}/);
  const isTrailers = paragraphs
    .at(-1)
    ?.split("\n")
    .every((line) => /^(?:[A-Za-z0-9-]+: |\(cherry picked from commit )/.test(line));
  return `${text}${isTrailers ? "\n" : "\n\n"}(cherry picked from commit ${oid})`;
}
