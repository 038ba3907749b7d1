import { z } from "zod";
import type { Refusal } from "../../../flow/refusal.ts";
import { type GitHubCaller, parseResponse } from "../calls/client.ts";
import { graphqlOutcome, refusalOfError } from "../calls/graphql-response.ts";
import type { MergedCommit } from "./pick-state.ts";

/** Merges in one call, since GitHub ends a GraphQL call after 10 seconds. */
const PER_CALL = 10;
/** Keeps CI and required checks from running on temporary commits. */
const MESSAGE = "Work out a cherry-pick [skip ci]\n\n\nskip-checks: true";

export type MergedTrees =
  /** The branch's tree after each commit. */
  { readonly trees: readonly string[] } | { readonly refusal: Refusal; readonly at: MergedCommit };

const responseShape = z.record(
  z.string(),
  z
    .looseObject({
      mergeCommit: z.looseObject({ tree: z.looseObject({ oid: z.string() }) }).nullish(),
    })
    .nullish(),
);

/** The first document resets the temporary branch before the merges. */
export function mergesDocument(count: number, isFirst: boolean): string {
  const heads = Array.from({ length: count }, (_, index) => index);
  const prepare = isFirst
    ? "prepare: updateRefs(input: { repositoryId: $repositoryId, refUpdates: $refUpdates }) { clientMutationId }"
    : "";
  const merges = heads.map(
    (index) =>
      `m${index}: mergeBranch(input: { repositoryId: $repositoryId, base: $base, head: $h${index}, commitMessage: $message }) {
        mergeCommit { tree { oid } }
      }`,
  );
  const variables = heads.map((index) => `$h${index}: String!`).join(", ");
  return `mutation PickMerges($repositoryId: ID!, $base: String!, $message: String!, ${variables}${
    isFirst ? ", $refUpdates: [RefUpdate!]!" : ""
  }) {
    ${prepare}
    ${merges.join("\n")}
  }`;
}

interface Chain {
  readonly repositoryId: string;
  readonly tempBranch: string;
  /** A commit with the target's tree and the first commit's parent: the base of the merges. */
  readonly sibling: string;
  /** Each the child of the one before. */
  readonly commits: readonly MergedCommit[];
}

/** Merges the commits into the target's tree on a temporary branch. */
export async function mergeChain(caller: GitHubCaller, chain: Chain): Promise<MergedTrees> {
  const { repositoryId, tempBranch: base, sibling } = chain;
  const refUpdates = [{ name: `refs/heads/${base}`, afterOid: sibling, force: true }];
  const trees: string[] = [];
  for (let start = 0; start < chain.commits.length; start += PER_CALL) {
    const commits = chain.commits.slice(start, start + PER_CALL);
    const heads = Object.fromEntries(commits.map(({ oid }, index) => [`h${index}`, oid]));
    const response = await caller.mutate(mergesDocument(commits.length, start === 0), {
      repositoryId,
      base,
      message: MESSAGE,
      ...heads,
      ...(start === 0 ? { refUpdates } : {}),
    });
    const outcome = graphqlOutcome(response);
    if (!outcome.ok) return { refusal: outcome.refusal, at: commits[0]! };
    const [error] = outcome.value.errors;
    if (error !== undefined) {
      const index = Number(String(error.path?.[0] ?? "").slice(1));
      return { refusal: refusalOfError(error, response), at: commits[index] ?? commits[0]! };
    }
    const data = parseResponse(responseShape, { ...response, body: outcome.value.data });
    const merged = commits.map((_, index) => data[`m${index}`]?.mergeCommit?.tree.oid);
    const found = merged.filter((tree) => tree !== undefined);
    if (found.length < commits.length) {
      const message = "GitHub found nothing to merge for a commit that has to be picked. Pick it manually.";
      return { refusal: { reason: "unknown", message }, at: commits[0]! };
    }
    trees.push(...found);
  }
  return { trees };
}
