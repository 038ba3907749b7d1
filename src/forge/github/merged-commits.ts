import { z } from "zod";

/** GitHub's page; a rebase of more commits than that is not told from a squash. */
const COMMITS = 100;

const oidShape = z.looseObject({ oid: z.string() });
const commitShape = oidShape.extend({
  message: z.string(),
  authoredDate: z.string(),
  author: z
    .looseObject({ name: z.string().nullish(), email: z.string().nullish(), date: z.string().nullish() })
    .nullish(),
  parents: z.looseObject({ nodes: z.array(oidShape) }),
});
/** A commit that a merge left on its target. */
export type MergedCommit = z.infer<typeof commitShape>;

const pullShape = z.looseObject({
  merged: z.boolean(),
  mergeCommit: commitShape.extend({ history: z.looseObject({ nodes: z.array(commitShape) }) }).nullish(),
  commits: z.looseObject({ nodes: z.array(z.looseObject({ commit: commitShape })) }),
});

/** What has to be asked about a pull request, besides the fragment. */
export const MERGED_FIELDS = `
  merged
  mergeCommit { ...Told history(first: ${COMMITS}) { nodes { ...Told } } }
  commits(last: ${COMMITS}) { nodes { commit { ...Told } } }`;

export const TOLD = /* GraphQL */ `
  fragment Told on Commit {
    oid
    message
    authoredDate
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

/**
 * The commits that a pull request brought to its target as they landed, oldest first; null where the answer tells of no merge. Picking them in
 * this order brings the same change elsewhere. They tell how it was merged, whatever the flow asked for.
 */
export function mergedCommitsOf(answer: unknown): MergedCommit[] | null {
  const read = pullShape.safeParse(answer);
  const merge = read.data?.mergeCommit;
  if (!read.data?.merged || !merge) return null;
  if (merge.parents.nodes.length > 1) return [merge];
  const proposed = read.data.commits.nodes.map(({ commit }) => commit);
  return linear(merge, merge.history.nodes, proposed);
}

/**
 * A rebase keeps each commit's message, author and time of writing; a squash makes one commit of its own. So the line that ends in the
 * merge is walked back for as long as it repeats what the pull request has; what the target had already was left out by the rebase.
 */
function linear(
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
  return line.at(-1)?.oid === tip.oid ? line : [tip];
}
