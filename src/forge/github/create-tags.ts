import { z } from "zod";
import type { NewTag } from "../releasing.ts";
import { type Caller, shaped } from "./client.ts";
import { InstallationRefused, UnknownOutcome } from "./failures.ts";
import { graphqlOutcome } from "./graphql-answer.ts";

const answerShape = z.record(
  z.string(),
  z
    .looseObject({
      ref: z.looseObject({ target: z.looseObject({ oid: z.string() }).nullish() }).nullish(),
    })
    .nullish()
    .catch(null),
);

/** GitHub carries the fields of a mutation out one after the other; one that is refused is null, and the next are carried out all the same. */
export function createTagsDocument(count: number): string {
  const numbers = Array.from({ length: count }, (_, index) => index);
  const variables = numbers.map((at) => `$r${at}: ID!, $n${at}: String!, $s${at}: GitObjectID!`);
  const fields = numbers.map(
    (at) =>
      `t${at}: createRef(input: { repositoryId: $r${at}, name: $n${at}, oid: $s${at} }) { ref { target { oid } } }`,
  );
  return `mutation CreateTags(${variables.join(", ")}) {\n${fields.join("\n")}\n}`;
}

/** Creates tags in several repositories by one call, and says of each whether GitHub said that it is made. Of the others nothing is known. */
export async function createTags(caller: Caller, tags: readonly NewTag[]): Promise<boolean[]> {
  const known = tags.flatMap(({ repository, tagName, sha }) =>
    repository.nodeId ? [{ forgeId: repository.forgeId, nodeId: repository.nodeId, tagName, sha }] : [],
  );
  const variables = Object.fromEntries(
    known.flatMap(({ nodeId, tagName, sha }, at) => [
      [`r${at}`, nodeId],
      [`n${at}`, `refs/tags/${tagName}`],
      [`s${at}`, sha],
    ]),
  );
  const data =
    known.length === 0 ? {} : await carriedOut(caller, createTagsDocument(known.length), variables);
  const made = known.filter(({ sha }, at) => data[`t${at}`]?.ref?.target?.oid === sha);
  return tags.map(({ repository }) => made.some(({ forgeId }) => forgeId === repository.forgeId));
}

async function carriedOut(
  caller: Caller,
  document: string,
  variables: Readonly<Record<string, string>>,
): Promise<z.infer<typeof answerShape>> {
  try {
    const answer = await caller.mutate(document, variables);
    const outcome = graphqlOutcome(answer);
    if (outcome.refusal !== undefined) return {};
    return shaped(answerShape.nullish(), { ...answer, body: outcome.data }) ?? {};
  } catch (error) {
    if (error instanceof UnknownOutcome || error instanceof InstallationRefused) return {};
    throw error;
  }
}
