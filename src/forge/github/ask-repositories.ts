import { z } from "zod";
import type { Refusal } from "../../flow/refusal.ts";
import { type ForgeRepository, ForgeUnavailable, type RepositoryRef } from "../forge.ts";
import { type Answer, type Caller, shaped, unexpected } from "./client.ts";
import { type GraphqlError, graphqlOutcome, refusalOfError } from "./graphql-answer.ts";
import { repositoryById } from "./repositories.ts";
import type { CallParameters } from "./send-call.ts";

/** Something asked about one repository, beside questions about others. */
export interface Question {
  readonly repository: RepositoryRef;
}

/** A kind of question: how several become one document, and what the answer to each looks like. */
export interface QuestionKind<Q extends Question, A extends RepositoryPart> {
  /** The n-th question is asked under the alias `r<n>`. */
  readonly documentOf: (questions: readonly Q[]) => Document;
  readonly shape: z.ZodType<A>;
}

export interface Document {
  readonly document: string;
  readonly variables: CallParameters;
}

/** What tells whether the repository of that name is the one that was meant. */
export interface RepositoryPart {
  readonly databaseId: number;
}

/** What one question brought: the repository that was meant, why the forge does not tell, or what went wrong with the answer. */
export type Found<A> =
  | { readonly repository: A }
  | { readonly repository?: undefined; readonly refusal: Refusal }
  | { readonly repository?: undefined; readonly refusal?: undefined; readonly failure: ForgeUnavailable };

/** The same before it is known whether the name still is the repository's. */
type Named<A> = Found<A> & { readonly isMissing?: boolean };

const dataShape = z.record(z.string(), z.unknown()).nullish();

/**
 * Asks about several repositories in one GraphQL call, and once more for those that have another name by now. A repository that cannot
 * be asked does not keep the others from answering.
 */
export async function askRepositories<Q extends Question, A extends RepositoryPart>(
  caller: Caller,
  kind: QuestionKind<Q, A>,
  questions: readonly Q[],
): Promise<Found<A>[]> {
  const found = await askByName(caller, kind, questions);
  await askAgainByNewNames(caller, kind, questions, found);
  return questions.map((question, index) => {
    const answer = found[index]!;
    return answer.repository === undefined || isOurs(question, answer)
      ? answer
      : { refusal: goneRefusal(question) };
  });
}

/** Asks each installation about its own, all at once, and gives the answers in the order of the questions. */
export async function byInstallation<Q extends Question, R>(
  questions: readonly Q[],
  ask: (installationId: number, questions: readonly Q[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const answers = new Map<Q, R>();
  const installations = new Set(questions.map((question) => question.repository.installationId));
  const asked = [...installations].map(async (installationId) => {
    const group = questions.filter((question) => question.repository.installationId === installationId);
    const found = await ask(installationId, group);
    group.forEach((question, index) => answers.set(question, found[index]!));
  });
  await Promise.all(asked);
  return questions.map((question) => answers.get(question)!);
}

async function askByName<Q extends Question, A extends RepositoryPart>(
  caller: Caller,
  { documentOf, shape }: QuestionKind<Q, A>,
  questions: readonly Q[],
): Promise<Named<A>[]> {
  const { document, variables } = documentOf(questions);
  const answer = await caller.query(document, variables);
  const outcome = graphqlOutcome(answer);
  if (outcome.refusal !== undefined) return questions.map(() => ({ refusal: outcome.refusal }));
  const troubled = troubledAliases(outcome.errors, answer);
  const data = shaped(dataShape, { ...answer, body: outcome.data }) ?? {};
  return questions.map((_, index) => {
    const alias = `r${index}`;
    return troubled.get(alias) ?? readAlias(shape, answer, data[alias], alias);
  });
}

function readAlias<A>(shape: z.ZodType<A>, answer: Answer, body: unknown, alias: string): Found<A> {
  try {
    if (body === null || body === undefined) throw unexpected(answer, alias);
    return { repository: shaped(shape, { ...answer, body }) };
  } catch (error) {
    return { failure: asFailure(error) };
  }
}

/** A part of a repository that is not found, such as a comparison with a missing branch, is only null. */
function troubledAliases(errors: readonly GraphqlError[], answer: Answer): Map<string, Named<never>> {
  const troubled = new Map<string, Named<never>>();
  for (const error of errors) {
    const [alias, ...inside] = error.path ?? [];
    const trouble = troubleOf(error, answer);
    if (alias === undefined) throw trouble.failure ?? unexpected(answer, "errors");
    if (!trouble.isMissing || inside.length === 0) troubled.set(String(alias), trouble);
  }
  return troubled;
}

type Trouble = Named<never> & { readonly failure?: ForgeUnavailable };

function troubleOf(error: GraphqlError, answer: Answer): Trouble {
  try {
    return { refusal: refusalOfError(error, answer), isMissing: error.type === "NOT_FOUND" };
  } catch (failure) {
    return { failure: asFailure(failure) };
  }
}

function asFailure(error: unknown): ForgeUnavailable {
  if (error instanceof ForgeUnavailable) return error;
  throw error;
}

/** A name that is another repository's now, or nobody's, may only be out of date: the id says what it is called today. */
async function askAgainByNewNames<Q extends Question, A extends RepositoryPart>(
  caller: Caller,
  kind: QuestionKind<Q, A>,
  questions: readonly Q[],
  found: Named<A>[],
): Promise<void> {
  const names = new Map<number, ForgeRepository | null>();
  const again: { index: number; question: Q }[] = [];
  for (const [index, question] of questions.entries()) {
    const { repository } = question;
    const answer = found[index]!;
    if (isOurs(question, answer) || (answer.repository === undefined && !answer.isMissing)) continue;
    const now = names.get(repository.forgeId) ?? (await repositoryById(caller, repository.forgeId));
    names.set(repository.forgeId, now);
    if (now === null || now.fullName === repository.fullName) continue;
    again.push({ index, question: { ...question, repository: { ...repository, fullName: now.fullName } } });
  }
  if (again.length === 0) return;
  const answers = await askByName(
    caller,
    kind,
    again.map(({ question }) => question),
  );
  again.forEach(({ index }, at) => found.splice(index, 1, answers[at]!));
}

function isOurs(question: Question, answer: Found<RepositoryPart>): boolean {
  return answer.repository?.databaseId === question.repository.forgeId;
}

function goneRefusal({ repository }: Question): Refusal {
  return { reason: "not_permitted", message: `${repository.fullName} is no longer the repository it was` };
}
