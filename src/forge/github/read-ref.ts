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
const target = oid.extend({ target: oid.extend({ target: oid.optional() }).optional() });
const answerShape = z.looseObject({
  id: z.string(),
  databaseId: z.number(),
  ref: z.looseObject({ target: target.nullish() }).nullish(),
});

export const REF: QuestionKind<RefQuestion, z.infer<typeof answerShape>> = {
  // A tag of a tag is as far as people have been seen to go.
  documentOf: (questions) => {
    const question = onlyOf(questions);
    const fields =
      "ref(qualifiedName: $ref) { target { oid ... on Tag { target { oid ... on Tag { target { oid } } } } } }";
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
  const first = asked.value.ref?.target;
  const last = first?.target?.target ?? first?.target ?? first;
  return { ok: true, value: { repositoryId: asked.value.id, sha: last?.oid ?? null } };
}
