import { z } from "zod";
import type { Ordered, RepositoryRef } from "../forge.ts";
import { askRepository, onlyOf, repositoryDocument } from "./ask-repository.ts";
import type { Question, QuestionKind } from "./ask-repositories.ts";
import type { Caller } from "./client.ts";

/** A ref and the object it leads to: for an annotated tag, what that names. */
export interface RefState {
  /** The repository's GraphQL id. */
  readonly repositoryId: string;
  readonly sha: string | null;
}

interface RefQuestion extends Question {
  /** Whole: `refs/tags/v1`. */
  readonly ref: string;
}

const oid = z.looseObject({ oid: z.string() });
/** What a ref points at: of an annotated tag, what that names. A tag of a tag is as far as people have been seen to go. */
export const tagTarget = oid.extend({ target: oid.extend({ target: oid.optional() }).optional() });
export const TAG_TARGET = "target { oid ... on Tag { target { oid ... on Tag { target { oid } } } } }";

/** The object a ref leads to in the end; null where there is none. */
export function leadsTo(first: z.infer<typeof tagTarget> | null | undefined): string | null {
  return (first?.target?.target ?? first?.target ?? first)?.oid ?? null;
}
const answerShape = z.looseObject({
  id: z.string(),
  databaseId: z.number(),
  ref: z.looseObject({ target: tagTarget.nullish() }).nullish(),
});

export const REF: QuestionKind<RefQuestion, z.infer<typeof answerShape>> = {
  documentOf: (questions) => {
    const question = onlyOf(questions);
    const fields = `ref(qualifiedName: $ref) { ${TAG_TARGET} }`;
    return repositoryDocument(question, fields, { ref: ["String!", question.ref] });
  },
  shape: answerShape,
};

export async function readRefState(
  caller: Caller,
  repository: RepositoryRef,
  ref: string,
): Promise<Ordered<RefState>> {
  const asked = await askRepository(caller, REF, { repository, ref });
  if (!asked.ok) return asked;
  return { ok: true, value: { repositoryId: asked.value.id, sha: leadsTo(asked.value.ref?.target) } };
}
