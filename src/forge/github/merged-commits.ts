import { z } from "zod";
import type { Ordered, RepositoryRef } from "../forge.ts";
import type { MergedCommits } from "../releasing.ts";
import { askRepository, onlyOf, repositoryDocument } from "./ask-repository.ts";
import type { Question, QuestionKind } from "./ask-repositories.ts";
import type { Caller } from "./client.ts";

/** GitHub's page; a rebase of more commits than that is not told from a squash. */
const COMMITS = 100;

interface MergedQuestion extends Question {
  readonly prNumber: number;
}

const oidShape = z.looseObject({ oid: z.string() });
const commitShape = oidShape.extend({
  message: z.string(),
  authoredDate: z.string(),
  parents: z.looseObject({ nodes: z.array(oidShape) }),
});
type Commit = z.infer<typeof commitShape>;

const mergedShape = z.looseObject({
  id: z.string(),
  databaseId: z.number(),
  pullRequest: z
    .looseObject({
      merged: z.boolean(),
      mergeCommit: oidShape
        .extend({
          parents: z.looseObject({ nodes: z.array(oidShape) }),
          history: z.looseObject({ nodes: z.array(commitShape) }),
        })
        .nullish(),
      commits: z.looseObject({ nodes: z.array(z.looseObject({ commit: commitShape })) }),
    })
    .nullish(),
});

const COMMIT = /* GraphQL */ `
  fragment Told on Commit {
    oid
    message
    authoredDate
    parents(first: 2) {
      nodes {
        oid
      }
    }
  }
`;

export const MERGED: QuestionKind<MergedQuestion, z.infer<typeof mergedShape>> = {
  documentOf: (questions) => {
    const question = onlyOf(questions);
    const fields = `pullRequest(number: $number) {
      merged
      mergeCommit { oid parents(first: 2) { nodes { oid } } history(first: ${COMMITS}) { nodes { ...Told } } }
      commits(last: ${COMMITS}) { nodes { commit { ...Told } } }
    }`;
    return repositoryDocument(question, fields, { number: ["Int!", question.prNumber] }, COMMIT);
  },
  shape: mergedShape,
};

/** What a merge left on its target. The commits tell how it was done, whatever the flow asked for. */
export async function readMergedCommits(
  caller: Caller,
  repository: RepositoryRef,
  prNumber: number,
): Promise<Ordered<MergedCommits>> {
  const asked = await askRepository(caller, MERGED, { repository, prNumber });
  if (!asked.ok) return asked;
  const pull = asked.value.pullRequest;
  const merge = pull?.mergeCommit;
  if (!pull?.merged || !merge) {
    const message = `GitHub knows of no merge of pull request #${prNumber}`;
    return { ok: false, refusal: { reason: "unknown", message } };
  }
  const value: MergedCommits =
    merge.parents.nodes.length > 1
      ? { method: "merge", shas: [merge.oid] }
      : linear(
          merge.oid,
          merge.history.nodes,
          pull.commits.nodes.map(({ commit }) => commit),
        );
  return { ok: true, value };
}

/**
 * A rebase keeps each commit's message, author and time of writing; a squash makes one commit of its own. So the line that ends in the
 * merge is walked back for as long as it repeats what the pull request has; what the target had already was left out by the rebase.
 */
function linear(tip: string, history: readonly Commit[], proposed: readonly Commit[]): MergedCommits {
  const known = new Map(history.map((commit) => [commit.oid, commit]));
  const shas: string[] = [];
  let at = known.get(tip);
  for (const commit of proposed.toReversed()) {
    if (at === undefined || at.parents.nodes.length > 1) break;
    if (commit.message !== at.message || commit.authoredDate !== at.authoredDate) continue;
    shas.unshift(at.oid);
    at = known.get(at.parents.nodes[0]?.oid ?? "");
  }
  return shas[shas.length - 1] === tip ? { method: "rebase", shas } : { method: "squash", shas: [tip] };
}
