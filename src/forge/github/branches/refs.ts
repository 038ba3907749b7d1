import { z } from "zod";
import type { Refusal } from "../../../flow/refusal.ts";
import type { CreatedRef, ForgeResult } from "../../values.ts";
import { type GitHubCaller, parseResponse } from "../calls/client.ts";
import { UnknownOutcome } from "../calls/failures.ts";
import { type GitHubRepository, refusedBy } from "../github-repository.ts";
import { graphqlData, nodesOf } from "../calls/graphql-response.ts";
import { askRepository, type Declare, type Question, type QuestionKind } from "../repository-questions.ts";
import { allMessages } from "../calls/refusals.ts";

const oid = z.looseObject({ oid: z.string() });
/** The object of a ref, up to two annotated tags deep. */
export const tagTarget = oid.extend({ target: oid.extend({ target: oid.optional() }).optional() });
export const TAG_TARGET = "target { oid ... on Tag { target { oid ... on Tag { target { oid } } } } }";

/** The commit that a ref or an annotated tag points at. */
export function commitOf(first: z.infer<typeof tagTarget> | null | undefined): string | null {
  return (first?.target?.target ?? first?.target ?? first)?.oid ?? null;
}

interface RefQuestion extends Question {
  /** Such as `refs/tags/v1`. */
  readonly ref: string;
}

const stateShape = z.looseObject({
  id: z.string(),
  databaseId: z.number(),
  ref: z.looseObject({ target: tagTarget.nullish() }).nullish(),
});

const partShape = z.looseObject({ databaseId: z.number() });

export const REF: QuestionKind<RefQuestion, z.infer<typeof stateShape>> = {
  operation: "Ref",
  fields: ({ ref }, declare) => `id ref(qualifiedName: ${declare("ref", "String!", ref)}) { ${TAG_TARGET} }`,
  shape: stateShape,
};

export async function readRef(
  { caller, ref: repository }: GitHubRepository,
  ref: string,
): Promise<ForgeResult<{ readonly repositoryId: string; readonly sha: string | null }>> {
  const asked = await askRepository(caller, REF, { repository, ref });
  if (!asked.ok) return asked;
  return { ok: true, value: { repositoryId: asked.value.id, sha: commitOf(asked.value.ref?.target) } };
}

/** What GitHub says if another ref is in the way, which it does not name (https://github.com/microsoft/vscode-remote-repositories-github/issues/122). */
const REFUSED_REF = /reference update failed|ref cannot be created/i;

/** Git stores refs as files, so `release` and `release/1-4` cannot exist at the same time. */
const parentsOf = (ref: string): string[] => {
  const parts = ref.split("/");
  return parts.slice(3).map((_, at) => parts.slice(0, at + 3).join("/"));
};

const namedRef = z.looseObject({ prefix: z.string(), name: z.string() });

/** The fields that find the refs in the way of a new one. */
export const inTheWayFields = (ref: string, declare: Declare): string =>
  [
    ...parentsOf(ref).map(
      (parent, at) =>
        `parent${at}: ref(qualifiedName: ${declare(`parent${at}_`, "String!", parent)}) { prefix name }`,
    ),
    `below: refs(refPrefix: ${declare("below", "String!", `${ref}/`)}, first: 1) { nodes { prefix name } }`,
  ].join("\n");

/** A ref that is in the way of a new one; null if there is none. */
export function refInTheWay(ref: string, response: Readonly<Record<string, unknown>>): Refusal | null {
  const below = z
    .looseObject({ nodes: nodesOf(namedRef) })
    .nullish()
    .catch(null)
    .parse(response["below"]);
  const parents = parentsOf(ref).map((_, at) =>
    namedRef.nullish().catch(null).parse(response[`parent${at}`]),
  );
  const [found] = [...parents, ...(below?.nodes ?? [])].filter((each) => !!each);
  if (!found) return null;
  const [taken, wanted] = [shownRef(found.prefix + found.name), shownRef(ref)];
  return {
    reason: "branch_missing",
    message: `The ${taken} is in the way of a ${wanted}: Git cannot have both. Rename or delete one of them, or choose another name, then try again.`,
    details: { taken: [taken] },
  };
}

const shownRef = (ref: string): string =>
  ref.replace(/^refs\/heads\//, "branch ").replace(/^refs\/tags\//, "tag ");

interface NewRefQuestion extends Question {
  readonly ref: string;
}

export const IN_THE_WAY: QuestionKind<NewRefQuestion, z.infer<typeof partShape>> = {
  operation: "RefInTheWay",
  fields: ({ ref }, declare) => inTheWayFields(ref, declare),
  shape: partShape,
};

/** The refusal of a new ref, with the ref that is in its way if GitHub's message does not say why. */
export async function explainedRefusal(
  { caller, ref: repository }: GitHubRepository,
  ref: string,
  refusal: Refusal,
): Promise<Refusal> {
  if (!REFUSED_REF.test(refusal.message)) return refusal;
  const asked = await askRepository(caller, IN_THE_WAY, { repository, ref });
  return (asked.ok && refInTheWay(ref, asked.value)) || refusal;
}

export const refShape = z.looseObject({ ref: z.string(), object: z.looseObject({ sha: z.string() }) });

export async function createRef(
  repository: GitHubRepository,
  { kind, name, sha }: { readonly kind: "branch" | "tag"; readonly name: string; readonly sha: string },
  readHead: () => Promise<string | null>,
): Promise<CreatedRef> {
  const { runWrite, write } = repository;
  const find = async (): Promise<CreatedRef | null> => {
    const head = await readHead();
    if (head === null) return null;
    return { ok: true, value: head === sha ? { created: false } : { taken: head } };
  };
  const ref = `refs/${kind === "branch" ? "heads" : "tags"}/${name}`;
  return await runWrite(async () => {
    const response = await write("POST /git/refs", { ref, sha });
    if (response.status === 422 && /reference already exists/i.test(allMessages(response.body))) {
      const found = await find();
      // Reads may be stale after a write.
      if (found === null) throw new UnknownOutcome(`GitHub has the ${kind}, but does not show it yet`);
      return found;
    }
    if (response.status >= 300) {
      const { refusal } = refusedBy(response);
      return { ok: false, refusal: await explainedRefusal(repository, ref, refusal) };
    }
    const created = parseResponse(refShape, response).object.sha;
    return { ok: true, value: created === sha ? { created: true } : { taken: created } };
  }, find);
}

/** In an update, stands for no ref. */
export const NO_COMMIT = "0".repeat(40);

interface RefUpdate {
  readonly name: string;
  /** The commit that the ref must be at; any if left out. */
  readonly beforeOid?: string;
  readonly afterOid: string;
  readonly force?: boolean;
}

export const UPDATE_REFS = /* GraphQL */ `
  mutation UpdateRefs($repositoryId: ID!, $refUpdates: [RefUpdate!]!) {
    updateRefs(input: { repositoryId: $repositoryId, refUpdates: $refUpdates }) {
      clientMutationId
    }
  }
`;

/** Updates all refs or none, and returns null on success. REST has no such call. */
export async function updateRefs(
  caller: GitHubCaller,
  repositoryId: string,
  refUpdates: readonly RefUpdate[],
): Promise<Refusal | null> {
  const response = await caller.mutate(UPDATE_REFS, { repositoryId, refUpdates });
  const updated = graphqlData(z.unknown(), response);
  return updated.ok ? null : updated.refusal;
}
