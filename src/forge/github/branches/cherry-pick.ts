import { z } from "zod";
import type { InertTextOptions } from "../../../flow/inert-text.ts";
import type { ForgeResult } from "../../values.ts";
import type { PickOrder, PickResult, PreparedPick } from "../../releasing.ts";
import { changedOnBothSides, readContains } from "./branches.ts";
import { type GitHubCaller, parseResponse } from "../calls/client.ts";
import { isInstallationRefusedError, isUnavailable, orFallback } from "../calls/failures.ts";
import { type GitHubRepository, nothingToFind, refusedBy } from "../github-repository.ts";
import { withOlderCommits } from "./pick-history.ts";
import { mergeChain } from "./pick-merges.ts";
import {
  type MergedCommit,
  missingFrom,
  PICK,
  type PickedPull,
  pullsIn,
  requiresSignatures,
  type PickState,
  finishedPick,
} from "./pick-state.ts";
import { explainedRefusal, NO_COMMIT, updateRefs } from "./refs.ts";
import { askRepository } from "../repository-questions.ts";

type Picked = ForgeResult<PickResult>;

/** Opens the repository with a deadline that allows for writing this many commits. */
type OpenFor = (commits: number) => GitHubRepository;

interface Preparation {
  readonly repository: GitHubRepository;
  readonly order: PickOrder;
  readonly state: PickState;
  /** Called before the temporary branch is written. */
  readonly willUseTemp: () => void;
}

/** The target with the commits picked so far, on no branch yet. */
interface Picks {
  readonly tip: string;
  readonly tree: string;
}

/** Ends the preparation with an outcome. */
class PickEnded extends Error {
  override readonly name = "PickEnded";
  readonly outcome: Picked;

  constructor(outcome: Picked) {
    super("the pick has ended");
    this.outcome = outcome;
  }
}

/** The temporary commits must not start CI. */
const SKIP_CI = "[skip ci]";
const OWN = { keeps: [SKIP_CI] };

const committedShape = z.looseObject({ sha: z.string() });

/**
 * Cherry-picks without a Git checkout (https://github.com/tibdex/github-cherry-pick): creates a
 * commit with the target's tree and the parent of the commit to pick, and lets GitHub merge the
 * two, which gives the tree of the pick. Takes four calls for one commit, one more for each further
 * commit, and one to land them.
 */
export async function preparePick(
  openFor: OpenFor,
  order: PickOrder,
): Promise<ForgeResult<PickResult | PreparedPick>> {
  const asked = await readState(openFor(1), order);
  if (!asked.ok) return asked;
  const pulls = pullsIn(asked.value, order);
  if ("why" in pulls)
    return { ok: false, refusal: { reason: "unknown", message: NOT_PICKED[pulls.why](pulls) } };
  const found = (await inLandingOrder(openFor(1), pulls)).flatMap((pull) => pull.commits);
  const commits = found.map(({ oid }) => oid);
  const older = await withOlderCommits(openFor(1), asked.value, found);
  if (!older.ok) return older;
  const state = older.value;
  const result = finishedPick(state, order, commits);
  const repository = openFor(commits.length);
  let hasTemp = Boolean(state.temp);
  try {
    if (result !== null) return { ok: true, value: result };
    const target = state.branch!.target!;
    const preparation = { repository, order, state, willUseTemp: () => (hasTemp = true) };
    const { tip } = await writePicks(preparation, found, { tip: target.oid, tree: target.tree.oid });
    if (tip === target.oid) return { ok: true, value: { state: "contained" } };
    hasTemp = false;
    return { ok: true, value: { state: "prepared", sha: tip, commits, handle: state.id } };
  } catch (error) {
    if (error instanceof PickEnded) return error.outcome;
    throw error;
  } finally {
    if (hasTemp) await removeTemp(repository.caller, state.id, order.tempBranch);
  }
}

const NOT_PICKED = {
  unmerged: ({ number }: { readonly number: number }) =>
    `GitHub reports no merge of pull request #${number}. Check it on GitHub, then try again.`,
  too_many_commits: ({ number }: { readonly number: number }) =>
    `Pull request #${number} was merged by rebase with more than 100 commits, which is too many for a pick. Complete the release without it, or unfreeze or delete the release and freeze one that includes it.`,
};

/** Sorts pull requests as their target has them: a number says only when one was opened. */
async function inLandingOrder(
  repository: GitHubRepository,
  pulls: readonly PickedPull[],
): Promise<PickedPull[]> {
  const sorted: PickedPull[] = [];
  for (const pull of pulls) {
    let at = sorted.length;
    while (at > 0 && (await landedBefore(repository, pull, sorted[at - 1]!))) at -= 1;
    sorted.splice(at, 0, pull);
  }
  return sorted;
}

async function landedBefore(
  repository: GitHubRepository,
  first: PickedPull,
  second: PickedPull,
): Promise<boolean> {
  const [one, other] = [first.commits.at(-1)?.oid ?? "", second.commits.at(-1)?.oid ?? ""];
  if (second.history.some(({ oid }) => oid === one)) return true;
  if (first.history.some(({ oid }) => oid === other)) return false;
  return (await readContains(repository, other, one)) === true;
}

export const discardPick = (
  { caller }: GitHubRepository,
  order: PickOrder,
  { handle }: PreparedPick,
): Promise<boolean> =>
  orFallback(removeTemp(caller, handle, order.tempBranch), isInstallationRefusedError, false);

const readState = ({ caller, ref }: GitHubRepository, order: PickOrder): Promise<ForgeResult<PickState>> =>
  askRepository(caller, PICK, { repository: ref, order });

/** Writes a commit for each change that the target lacks. */
async function writePicks(
  preparation: Preparation,
  all: readonly MergedCommit[],
  start: Picks,
): Promise<Picks> {
  const originals = all.map(({ oid }) => oid);
  const missing = missingFrom(preparation.state, originals);
  let at = start;
  for (const commits of chainsOf(all.filter(({ oid }) => missing.has(oid)))) {
    const trees = await treesOf(preparation, at, commits);
    for (const [index, tree] of trees.entries()) {
      if (tree === at.tree) continue;
      const credited = creditedTo(commits[index]!, requiresSignatures(preparation.state));
      const tip = await writeCommit(preparation, { ...credited, tree, parents: [at.tip] });
      at = { tip, tree };
    }
  }
  return at;
}

/** Runs of commits, each the child of the one before, that one call can merge. */
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
  preparation: Preparation,
  at: Picks,
  commits: readonly MergedCommit[],
): Promise<readonly string[]> {
  const { repository, order, state } = preparation;
  const message = `Begin a cherry-pick ${SKIP_CI}`;
  const parent = parentOf(commits[0]!);
  const sibling = await writeCommit(preparation, { message, tree: at.tree, parents: [parent] }, OWN);
  preparation.willUseTemp();
  const chain = { repositoryId: state.id, tempBranch: order.tempBranch, sibling, commits };
  const merged = await repository.runWrite(() => mergeChain(repository.caller, chain), nothingToFind);
  if ("trees" in merged) return merged.trees;
  const { refusal, at: commit } = merged;
  if (refusal.reason !== "conflicts") {
    const ref = `refs/heads/${order.tempBranch}`;
    throw new PickEnded({ ok: false, refusal: await explainedRefusal(repository, ref, refusal) });
  }
  const sides = [`${parent}...${sibling}`, `${parent}...${commit.oid}`] as const;
  const files = await changedOnBothSides(repository, sides);
  throw new PickEnded({ ok: true, value: { state: "conflict", files, message: refusal.message } });
}

/** Writing a commit twice is harmless while no branch contains it. */
async function writeCommit(
  { repository: { runWrite, write } }: Preparation,
  commit: Readonly<Record<string, unknown>>,
  text?: InertTextOptions,
): Promise<string> {
  const response = await runWrite(() => write("POST /git/commits", commit, text), nothingToFind);
  if (response.status >= 300) throw new PickEnded(refusedBy(response));
  return parseResponse(committedShape, response).sha;
}

/** Moves the branch and deletes the temporary one atomically. */
export async function applyPick(
  openFor: OpenFor,
  order: PickOrder,
  { sha: tip, commits, handle }: PreparedPick,
): Promise<Picked> {
  const repository = openFor(commits.length);
  const picked: Picked = { ok: true, value: { state: "picked", sha: tip, commits } };
  const find = async (): Promise<Picked | null> => {
    const asked = await readState(repository, order);
    if (!asked.ok) return asked;
    const now = asked.value.branch?.target?.oid;
    if (now === tip) return picked;
    if (now === order.expectedTip) return null;
    return {
      ok: true,
      value: finishedPick(asked.value, order, commits) ?? { state: "moved", sha: now ?? null },
    };
  };
  return await repository.runWrite<Picked>(async () => {
    const refusal = await updateRefs(repository.caller, handle, [
      { name: `refs/heads/${order.branchName}`, beforeOid: order.expectedTip, afterOid: tip },
      { name: `refs/heads/${order.tempBranch}`, afterOid: NO_COMMIT },
    ]);
    if (refusal === null) return picked;
    return (await find()) ?? { ok: false, refusal };
  }, find);
}

async function removeTemp(caller: GitHubCaller, repositoryId: string, tempBranch: string): Promise<boolean> {
  const removal = { name: `refs/heads/${tempBranch}`, afterOid: NO_COMMIT };
  const refusal = updateRefs(caller, repositoryId, [removal]);
  return (await orFallback(refusal, isUnavailable, undefined)) === null;
}

function parentOf(commit: MergedCommit): string {
  const parent = commit.parents.nodes[0]?.oid;
  if (parent !== undefined) return parent;
  const message = "A commit without a parent cannot be picked. Add its change manually.";
  throw new PickEnded({ ok: false, refusal: { reason: "unknown", message } });
}

/** GitHub signs a commit only if the request names no author, so the author becomes a co-author. */
function creditedTo(commit: MergedCommit, isSigned: boolean): Readonly<Record<string, unknown>> {
  const { author } = commit;
  const message = pickedMessage(commit);
  if (!author?.name || !author.email) return { message };
  if (!isSigned) return { message, author };
  return { message: `${message}\nCo-authored-by: ${author.name} <${author.email}>` };
}

/** As `git cherry-pick -x` does: appended to the trailers if the message ends with some. */
function pickedMessage({ message, oid }: MergedCommit): string {
  const text = message.trimEnd();
  const [, ...paragraphs] = text.split(/\n{2,}/);
  const isTrailers = paragraphs
    .at(-1)
    ?.split("\n")
    .every((line) => /^(?:[A-Za-z0-9-]+: |\(cherry picked from commit )/.test(line));
  return `${text}${isTrailers ? "\n" : "\n\n"}(cherry picked from commit ${oid})`;
}
