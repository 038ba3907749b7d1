import { z } from "zod";
import type { PickOrder, PickResult } from "../../releasing.ts";
import { nodesOf, pageInfoShape } from "../calls/graphql-response.ts";
import type { Question, QuestionKind } from "../repository-questions.ts";

/** How many of the branch's commits are read first. */
const HISTORY = 100;

const oidShape = z.looseObject({ oid: z.string() });
/** GitHub's largest page. A rebase of more commits is not picked. */
const COMMITS = 100;

const commitShape = oidShape.extend({
  message: z.string(),
  authoredDate: z.string(),
  committedDate: z.string(),
  author: z
    .looseObject({ name: z.string().nullish(), email: z.string().nullish(), date: z.string().nullish() })
    .nullish(),
  parents: z.looseObject({ nodes: z.array(oidShape) }),
});
export type MergedCommit = z.infer<typeof commitShape>;

const mergedPullShape = z.looseObject({
  merged: z.boolean(),
  mergeCommit: commitShape.extend({ history: z.looseObject({ nodes: z.array(commitShape) }) }).nullish(),
  commits: z.looseObject({
    totalCount: z.number(),
    nodes: z.array(z.looseObject({ commit: commitShape })),
  }),
});

const MERGED_FIELDS = `
  merged
  mergeCommit { ...CommitFields history(first: ${COMMITS}) { nodes { ...CommitFields } } }
  commits(last: ${COMMITS}) { totalCount nodes { commit { ...CommitFields } } }`;

const COMMIT_FIELDS = /* GraphQL */ `
  fragment CommitFields on Commit {
    oid
    message
    authoredDate
    committedDate
    author {
      name
      email
      date
    }
    parents(first: 2) {
      nodes {
        oid
      }
    }
  }
`;

interface PickQuestion extends Question {
  readonly order: PickOrder;
}

const historyShape = z.looseObject({
  pageInfo: pageInfoShape,
  nodes: z.array(oidShape.extend({ message: z.string(), committedDate: z.string() })),
});
/** A part of a branch's history, newest first. */
export type BranchHistory = z.infer<typeof historyShape>;

const HISTORY_FIELDS = "pageInfo { hasNextPage endCursor } nodes { oid message committedDate }";

const branchShape = z.looseObject({
  oid: z.string(),
  tree: oidShape,
  history: historyShape,
});
const stateShape = z.looseObject({
  id: z.string(),
  databaseId: z.number(),
  branch: z
    .looseObject({
      target: branchShape.nullish(),
      /** Of classic protection. */
      refUpdateRule: z.looseObject({ requiresSignatures: z.boolean() }).nullish(),
      /** Of rulesets. */
      rules: z
        .looseObject({
          pageInfo: z.looseObject({ hasNextPage: z.boolean() }).nullish(),
          nodes: nodesOf(z.looseObject({ type: z.string() })),
        })
        .nullish(),
    })
    .nullish(),
  temp: z.looseObject({ name: z.string() }).nullish(),
});

export type PickState = z.infer<typeof stateShape>;

export const PICK: QuestionKind<PickQuestion, PickState> = {
  operation: "PickState",
  fields: ({ order }, declare) => `id
      branch: ref(qualifiedName: ${declare("branch", "String!", `refs/heads/${order.branchName}`)}) {
        target { ... on Commit { oid tree { oid } history(first: ${HISTORY}) { ${HISTORY_FIELDS} } } }
        refUpdateRule { requiresSignatures }
        rules(first: 100) { pageInfo { hasNextPage } nodes { type } }
      }
      temp: ref(qualifiedName: ${declare("temp", "String!", `refs/heads/${order.tempBranch}`)}) { name }
      ${order.pullRequests
        .map(
          (number, index) =>
            `p${index}: pullRequest(number: ${declare(`p${index}_`, "Int!", number)}) { ${MERGED_FIELDS} }`,
        )
        .join("\n")}`,
  forbiddable: { asMissing: ["refUpdateRule", "rules"] },
  fragments: () => COMMIT_FIELDS,
  shape: stateShape,
};

interface OlderQuestion extends Question {
  readonly tip: string;
  readonly cursor: string;
}

const olderShape = z.looseObject({
  databaseId: z.number(),
  start: z.looseObject({ history: historyShape }).nullish(),
});

/** The further commits of a branch. */
export const OLDER_COMMITS: QuestionKind<OlderQuestion, z.infer<typeof olderShape>> = {
  operation: "OlderCommits",
  fields: ({ tip, cursor }, declare) =>
    `start: object(oid: ${declare("tip", "GitObjectID!", tip)}) { ... on Commit {
      history(first: ${HISTORY}, after: ${declare("cursor", "String", cursor)}) { ${HISTORY_FIELDS} }
    } }`,
  shape: olderShape,
};

/** False also if the App may not read the rules. True if GitHub has listed a part of them. */
export const requiresSignatures = ({ branch }: PickState): boolean =>
  branch?.refUpdateRule?.requiresSignatures === true ||
  branch?.rules?.pageInfo?.hasNextPage === true ||
  branch?.rules?.nodes.some(({ type }) => type === "REQUIRED_SIGNATURES") === true;

/** A merged pull request, with the commits that its merge added to the target, oldest first. */
export interface PickedPull {
  readonly number: number;
  readonly commits: readonly MergedCommit[];
  /** Its merge and at least the 99 commits before that. */
  readonly history: readonly MergedCommit[];
}

/** Why a pull request cannot be picked. */
interface NotPicked {
  readonly number: number;
  readonly why: "unmerged" | "too_many_commits";
}

/** The pull requests to pick, in the order of their numbers; or the first that cannot be picked. */
export function pullsIn(state: PickState, { pullRequests }: PickOrder): readonly PickedPull[] | NotPicked {
  const found: PickedPull[] = [];
  for (const [index, number] of pullRequests.entries()) {
    const { data } = mergedPullShape.safeParse(state[`p${index}`]);
    const merge = data?.mergeCommit;
    if (!data?.merged || !merge) return { number, why: "unmerged" };
    const commits = mergedCommitsOf(merge, data.commits);
    if (commits === null) return { number, why: "too_many_commits" };
    found.push({ number, commits, history: merge.history.nodes });
  }
  return found;
}

type MergedPull = z.infer<typeof mergedPullShape>;

/** Null for a rebase of which GitHub has listed a part. */
function mergedCommitsOf(
  merge: NonNullable<MergedPull["mergeCommit"]>,
  { totalCount, nodes }: MergedPull["commits"],
): MergedCommit[] | null {
  if (merge.parents.nodes.length > 1) return [merge];
  const proposed = nodes.map(({ commit }) => commit);
  const line = rebased(merge, merge.history.nodes, proposed);
  if (line.at(-1)?.oid !== merge.oid) return [merge];
  return totalCount > proposed.length ? null : line;
}

/**
 * The commits of a rebase, oldest first; others of a squash. A rebase keeps the message and author
 * date of each commit, except for commits that the target has already; a squash creates one new
 * commit. Walks back from the merge while the commits match.
 */
function rebased(
  tip: MergedCommit,
  history: readonly MergedCommit[],
  proposed: readonly MergedCommit[],
): MergedCommit[] {
  const known = new Map(history.map((commit) => [commit.oid, commit]));
  const line: MergedCommit[] = [];
  let at = known.get(tip.oid);
  for (const commit of proposed.toReversed()) {
    if (at === undefined || at.parents.nodes.length > 1) break;
    if (commit.message !== at.message || commit.authoredDate !== at.authoredDate) continue;
    line.unshift(at);
    at = known.get(at.parents.nodes[0]?.oid ?? "");
  }
  return line;
}

/** The result if the branch alone decides it: picked, contained or moved. Null if the pick has to be made. */
export function finishedPick(
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

/** The commits that the branch's history contains neither directly nor as a pick. */
export function missingFrom(state: PickState, commits: readonly string[]): ReadonlySet<string> {
  const nodes = state.branch?.target?.history.nodes ?? [];
  const picks = picksIn(nodes);
  const reverted = revertedIn(nodes);
  const present = new Set(nodes.map(({ oid }) => oid).filter((oid) => !reverted.has(oid)));
  return new Set(commits.filter((sha) => !present.has(sha) && !picks.has(sha)));
}

type NamedCommit = Pick<MergedCommit, "oid" | "message">;

/** Maps each original to its newest pick that is not reverted. `nodes` are newest first. */
function picksIn(nodes: readonly NamedCommit[]): Map<string, string> {
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

function revertedIn(nodes: readonly NamedCommit[]): Set<string> {
  const found = nodes.flatMap(({ message }) => [
    ...message.matchAll(/^This reverts commit ([0-9a-f]{40})\b/gm),
  ]);
  return new Set(found.map(([, sha = ""]) => sha));
}
