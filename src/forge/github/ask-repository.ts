import type { Ordered } from "../forge.ts";
import {
  askRepositories,
  type Question,
  type QuestionKind,
  type RepositoryPart,
} from "./ask-repositories.ts";
import type { Caller } from "./client.ts";

/** Asks about one repository in one GraphQL call, whatever it is called by now. */
export async function askRepository<Q extends Question, A extends RepositoryPart>(
  caller: Caller,
  kind: QuestionKind<Q, A>,
  question: Q,
): Promise<Ordered<A>> {
  const [found] = await askRepositories(caller, kind, [question]);
  if (found === undefined) throw new Error("no answer to the one question asked");
  if (found.repository !== undefined) return { ok: true, value: found.repository };
  if ("refusal" in found && found.refusal !== undefined) return { ok: false, refusal: found.refusal };
  throw "failure" in found ? found.failure : new Error("an answer that is neither good nor bad");
}

/** A document about one repository, under the alias that `askRepositories` looks for. `operation` names it to whoever counts calls. */
export function repositoryDocument(
  { repository }: Question,
  fields: string,
  variables: Readonly<Record<string, readonly [type: string, value: unknown]>>,
  fragments = "",
  operation = "Repository",
) {
  const [owner = "", name = ""] = repository.fullName.split("/");
  const all = { owner: ["String!", owner], name: ["String!", name], ...variables } as const;
  const types = Object.entries(all).map(([key, [type]]) => `$${key}: ${type}`);
  return {
    document: `query ${operation}(${types.join(", ")}) {
      r0: repository(owner: $owner, name: $name) { id databaseId ${fields} }
    }
    ${fragments}`,
    variables: Object.fromEntries(Object.entries(all).map(([key, [, value]]) => [key, value])),
  };
}

/** For the one question of a kind that asks about one repository at a time. */
export function onlyOf<Q>(questions: readonly Q[]): Q {
  const [question] = questions;
  if (question === undefined || questions.length > 1) throw new Error("asked one at a time");
  return question;
}
