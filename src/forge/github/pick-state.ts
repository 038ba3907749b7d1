import { z } from "zod";
import type { PickOrder, PickResult } from "../releasing.ts";
import { onlyOf, repositoryDocument } from "./ask-repository.ts";
import type { Question, QuestionKind } from "./ask-repositories.ts";

/** How far back a commit's own picks are looked for by name; beyond that a pick that changes nothing tells. */
const HISTORY = 100;

export interface PickQuestion extends Question {
  readonly order: PickOrder;
}

const oidShape = z.looseObject({ oid: z.string() });
const pickedShape = z.looseObject({
  oid: z.string(),
  message: z.string(),
  author: z
    .looseObject({ name: z.string().nullish(), email: z.string().nullish(), date: z.string().nullish() })
    .nullish(),
  parents: z.looseObject({ nodes: z.array(oidShape) }),
});
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

/** A commit to be picked. */
export type PickedCommit = z.infer<typeof pickedShape>;
/** Everything a pick has to know, from one question. */
export type PickState = z.infer<typeof stateShape>;

const COMMIT = /* GraphQL */ `
  fragment Picked on Commit {
    oid
    message
    author {
      name
      email
      date
    }
    parents(first: 1) {
      nodes {
        oid
      }
    }
  }
`;

export const PICK: QuestionKind<PickQuestion, PickState> = {
  documentOf: (questions) => {
    const question = onlyOf(questions);
    const { branchName, tempBranch, commits } = question.order;
    const fields = `
      branch: ref(qualifiedName: $branch) {
        target { ... on Commit { oid tree { oid } history(first: ${HISTORY}) { nodes { oid message } } } }
      }
      temp: ref(qualifiedName: $temp) { name }
      ${commits.map((_, index) => `c${index}: object(oid: $c${index}) { ...Picked }`).join("\n")}`;
    const variables = Object.fromEntries(
      commits.map((sha, index) => [`c${index}`, ["GitObjectID!", sha]] as const),
    );
    const branch = ["String!", `refs/heads/${branchName}`] as const;
    const temp = ["String!", `refs/heads/${tempBranch}`] as const;
    return repositoryDocument(question, fields, { branch, temp, ...variables }, COMMIT);
  },
  shape: stateShape,
};

/** The commits to pick, in order; null where the forge does not have them all. */
export function commitsIn(state: PickState, order: PickOrder): PickedCommit[] | null {
  const read = order.commits.map((_, index) => pickedShape.safeParse(state[`c${index}`]));
  const found = read.flatMap((each) => (each.success ? [each.data] : []));
  return found.length === order.commits.length ? found : null;
}

/** What the branch alone says about the order; null when there is something to pick. */
export function settledPick(state: PickState, order: PickOrder): PickResult | null {
  const target = state.branch?.target;
  if (!target) return { state: "moved", sha: null };
  const { nodes } = target.history;
  if (target.oid === order.expectedTip) {
    return missingFrom(state, order).length === 0 ? { state: "contained" } : null;
  }
  const expected = nodes.findIndex(({ oid }) => oid === order.expectedTip);
  const picks = picksIn(nodes.slice(0, Math.max(0, expected)));
  const isOurs = order.commits.every((sha) => picks.has(sha));
  const last = picks.get(order.commits.at(-1) ?? "");
  return isOurs && last !== undefined ? { state: "picked", sha: last } : { state: "moved", sha: target.oid };
}

/** The commits that the branch shows neither itself nor as a pick. */
export function missingFrom(state: PickState, order: PickOrder): readonly string[] {
  const nodes = state.branch?.target?.history.nodes ?? [];
  const picks = picksIn(nodes);
  const reverted = revertedIn(nodes);
  const present = new Set(nodes.map(({ oid }) => oid).filter((oid) => !reverted.has(oid)));
  return order.commits.filter((sha) => !present.has(sha) && !picks.has(sha));
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
