import { z } from "zod";
import type { PickOrder, PickResult } from "../releasing.ts";
import { MERGED_FIELDS, mergedCommitsOf, TOLD, type MergedCommit } from "./merged-commits.ts";
import type { Question, QuestionKind } from "./repository-questions.ts";

/** How far back a commit's own picks are looked for by name; beyond that a pick that changes nothing tells. */
const HISTORY = 100;

interface PickQuestion extends Question {
  readonly order: PickOrder;
}

const oidShape = z.looseObject({ oid: z.string() });
const branchShape = z.looseObject({
  oid: z.string(),
  tree: oidShape,
  history: z.looseObject({ nodes: z.array(oidShape.extend({ message: z.string() })) }),
});
const stateShape = z
  .looseObject({
    id: z.string(),
    databaseId: z.number(),
    branch: z.looseObject({ target: branchShape.nullish() }).nullish(),
    temp: z.looseObject({ name: z.string() }).nullish(),
  })
  .catchall(z.unknown());

/** Everything a pick has to know, from one question. */
export type PickState = z.infer<typeof stateShape>;

export const PICK: QuestionKind<PickQuestion, PickState> = {
  operation: "Repository",
  fields: ({ order }, declare) => `id
      branch: ref(qualifiedName: ${declare("branch", "String!", `refs/heads/${order.branchName}`)}) {
        target { ... on Commit { oid tree { oid } history(first: ${HISTORY}) { nodes { oid message } } } }
      }
      temp: ref(qualifiedName: ${declare("temp", "String!", `refs/heads/${order.tempBranch}`)}) { name }
      ${order.pullRequests
        .map(
          (number, index) =>
            `p${index}: pullRequest(number: ${declare(`p${index}_`, "Int!", number)}) { ${MERGED_FIELDS} }`,
        )
        .join("\n")}`,
  fragments: () => TOLD,
  shape: stateShape,
};

/** The commits to pick, in order; or the first pull request the forge knows no merge of. */
export function commitsIn(
  state: PickState,
  { pullRequests }: PickOrder,
): readonly MergedCommit[] | { readonly unmerged: number } {
  const found: MergedCommit[] = [];
  for (const [index, number] of pullRequests.entries()) {
    const commits = mergedCommitsOf(state[`p${index}`]);
    if (commits === null) return { unmerged: number };
    found.push(...commits);
  }
  return found;
}

/** What the branch alone says about picking these commits; null when there is something to pick. */
export function settledPick(
  state: PickState,
  { expectedTip }: PickOrder,
  commits: readonly string[],
): PickResult | null {
  const target = state.branch?.target;
  if (!target) return { state: "moved", sha: null };
  const { nodes } = target.history;
  if (target.oid === expectedTip) {
    return missingFrom(state, commits).size === 0 ? { state: "contained" } : null;
  }
  const expected = nodes.findIndex(({ oid }) => oid === expectedTip);
  const picks = picksIn(nodes.slice(0, Math.max(0, expected)));
  const isOurs = commits.every((sha) => picks.has(sha));
  const last = picks.get(commits.at(-1) ?? "");
  return isOurs && last !== undefined
    ? { state: "picked", sha: last, commits }
    : { state: "moved", sha: target.oid };
}

/** Those of these commits that the branch shows neither themselves nor as a pick. */
export function missingFrom(state: PickState, commits: readonly string[]): ReadonlySet<string> {
  const nodes = state.branch?.target?.history.nodes ?? [];
  const picks = picksIn(nodes);
  const reverted = revertedIn(nodes);
  const present = new Set(nodes.map(({ oid }) => oid).filter((oid) => !reverted.has(oid)));
  return new Set(commits.filter((sha) => !present.has(sha) && !picks.has(sha)));
}

interface Told {
  readonly oid: string;
  readonly message: string;
}

/** From each original to the commit that a pick made of it, reverted ones left out. Newest first, as given. */
function picksIn(nodes: readonly Told[]): Map<string, string> {
  const reverted = revertedIn(nodes);
  const picks = new Map<string, string>();
  for (const { oid, message } of nodes) {
    if (reverted.has(oid)) continue;
    for (const [, original = ""] of message.matchAll(/\(cherry picked from commit ([0-9a-f]{40})\)/g)) {
      if (!picks.has(original)) picks.set(original, oid);
    }
  }
  return picks;
}

function revertedIn(nodes: readonly Told[]): Set<string> {
  const found = nodes.flatMap(({ message }) => [
    ...message.matchAll(/^This reverts commit ([0-9a-f]{40})\b/gm),
  ]);
  return new Set(found.map(([, sha = ""]) => sha));
}
