/** GraphQL questions about repositories: several in one document, the n-th as the alias `r<n>`. */
import { z } from "zod";
import { type Refusal, connectionRefusal } from "../../flow/refusal.ts";
import { type ForgeRepository, ForgeUnavailable, type ForgeResult, type RepositoryRef } from "../values.ts";
import {
  type GitHubResponse,
  type GitHubCaller,
  type GitHubClient,
  parseResponse,
  unexpectedResponse,
} from "./calls/client.ts";
import { InstallationRefused, QuestionTooLarge } from "./calls/failures.ts";
import {
  type ForbiddableFields,
  type GraphqlError,
  graphqlOutcome,
  refusalOfError,
  withoutForbidden,
} from "./calls/graphql-response.ts";
import { repositoryOf } from "./repositories.ts";
import type { CallParameters } from "./calls/send-call.ts";

export interface Question {
  readonly repository: RepositoryRef;
}

/** Declares a variable of one question and returns its name in the document, such as `$branch3`. */
export type Declare = (name: string, type: string, value: unknown) => string;

export interface QuestionKind<Q extends Question, A extends RepositoryPart> {
  /** The operation's name in metrics and logs. */
  readonly operation: string;
  /** Fields of the repository besides `databaseId`. Users' input must go into variables. */
  readonly fields: (question: Q, declare: Declare) => string;
  readonly forbiddable?: ForbiddableFields;
  /** The fragments that the fields of these questions use. */
  readonly fragments?: (questions: readonly Q[]) => string;
  readonly shape: z.ZodType<A>;
}

export interface RepositoryPart {
  /** Shows whether another repository has the name now. */
  readonly databaseId: number;
  readonly isArchived?: boolean | null | undefined;
}

/** The response to one question, GitHub's refusal, or the failure to read the response. */
export type FoundResponse<A> =
  | ForgeResult<A>
  | { readonly ok: false; readonly refusal?: undefined; readonly failure: ForgeUnavailable };

/** A response by name, before the repository's id is compared. */
type Named<A> = FoundResponse<A> & { readonly isMissing?: boolean };

const dataShape = z.record(z.string(), z.unknown()).nullish();

export function documentOf<Q extends Question, A extends RepositoryPart>(
  { operation, fields, fragments }: QuestionKind<Q, A>,
  questions: readonly Q[],
): { readonly document: string; readonly variables: CallParameters } {
  const variables: Record<string, unknown> = {};
  const types: string[] = [];
  const parts = questions.map((question, index) => {
    const declare: Declare = (name, type, value) => {
      variables[`${name}${index}`] = value;
      types.push(`$${name}${index}: ${type}`);
      return `$${name}${index}`;
    };
    const [ownerName, repositoryName] = question.repository.fullName.split("/");
    const owner = declare("o", "String!", ownerName ?? "");
    const name = declare("n", "String!", repositoryName ?? "");
    return `r${index}: repository(owner: ${owner}, name: ${name}) {
      databaseId
      ${fields(question, declare)}
    }`;
  });
  const head = `query ${operation}(${types.join(", ")}) {\n${parts.join("\n")}\n}`;
  return { document: `${head}\n${fragments?.(questions) ?? ""}`, variables };
}

/**
 * Reads several repositories in one call, and renamed ones in a second call. Each response is
 * independent of the others.
 */
export async function askRepositories<Q extends Question, A extends RepositoryPart>(
  caller: GitHubCaller,
  kind: QuestionKind<Q, A>,
  questions: readonly Q[],
): Promise<FoundResponse<A>[]> {
  const found = await askByName(caller, kind, questions);
  await askAgainByNewNames(caller, kind, questions, found);
  return questions.map((question, index) => {
    const result = found[index]!;
    if (!result.ok || isMeant(question, result)) return result;
    const message = `The name ${question.repository.fullName} belongs to another repository now. Grant the App access to the original one, or link the new one.`;
    return { ok: false, refusal: { reason: "not_permitted", message } };
  });
}

export async function askRepository<Q extends Question, A extends RepositoryPart>(
  caller: GitHubCaller,
  kind: QuestionKind<Q, A>,
  question: Q,
): Promise<ForgeResult<A>> {
  const [found] = await askRepositories(caller, kind, [question]);
  return orThrow(found!);
}

interface Batching<Q, R> {
  readonly questions: readonly Q[];
  readonly perCall: number;
  /** The response to one question that is too large alone. */
  readonly tooLarge: (error: QuestionTooLarge, question: Q) => R;
}

/**
 * Reads the repositories of each installation, `perCall` at a time. The response for an archived
 * repository, or for one of a refused installation, is a refusal.
 */
export async function askInstallations<Q extends Question, A extends RepositoryPart, R>(
  client: GitHubClient,
  kind: QuestionKind<Q, A>,
  { questions, perCall, tooLarge }: Batching<Q, R>,
  toResponse: (result: A, question: Q, caller: GitHubCaller) => R | Promise<R>,
): Promise<(R | { readonly refusal: Refusal })[]> {
  const ask = async (installationId: number, some: readonly Q[]) => {
    const caller = client.as(installationId);
    const found = await askRepositories(caller, kind, some);
    return await Promise.all(
      some.map(async (question, index) => {
        const result = orThrow(found[index]!);
        if (!result.ok) return { refusal: result.refusal };
        if (result.value.isArchived) return { refusal: connectionRefusal("archived") };
        return await toResponse(result.value, question, caller);
      }),
    );
  };
  return await byInstallation(questions, async (installationId, group) => {
    try {
      return await inBatches(group, perCall, (batch) =>
        inHalves<Q, R | { readonly refusal: Refusal }>(batch, (some) => ask(installationId, some), tooLarge),
      );
    } catch (error) {
      if (!(error instanceof InstallationRefused)) throw error;
      return group.map(() => ({ refusal: error.refusal }));
    }
  });
}

/** Asks all installations concurrently, and returns the responses in the order of the questions. */
export async function byInstallation<Q extends Question, R>(
  questions: readonly Q[],
  ask: (installationId: number, questions: readonly Q[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results = new Map<Q, R>();
  const installations = new Set(questions.map(({ repository }) => repository.installationId));
  const asked = [...installations].map(async (installationId) => {
    const group = questions.filter(({ repository }) => repository.installationId === installationId);
    const found = await ask(installationId, group);
    group.forEach((question, index) => results.set(question, found[index]!));
  });
  await Promise.all(asked);
  return questions.map((question) => results.get(question)!);
}

/** Asks `size` questions at a time, sequentially. */
export async function inBatches<Q, R>(
  questions: readonly Q[],
  size: number,
  ask: (some: readonly Q[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < questions.length; start += size) {
    results.push(...(await ask(questions.slice(start, start + size))));
  }
  return results;
}

/** Asks again in halves what is too large, down to one question. */
export async function inHalves<Q, R>(
  questions: readonly Q[],
  ask: (some: readonly Q[]) => Promise<readonly R[]>,
  tooLarge: (error: QuestionTooLarge, question: Q) => R,
): Promise<readonly R[]> {
  try {
    return await ask(questions);
  } catch (error) {
    if (!(error instanceof QuestionTooLarge)) throw error;
    if (questions.length === 1) return questions.map((each) => tooLarge(error, each));
    const middle = Math.ceil(questions.length / 2);
    const first = await inHalves(questions.slice(0, middle), ask, tooLarge);
    return [...first, ...(await inHalves(questions.slice(middle), ask, tooLarge))];
  }
}

/** For callers that need every response. */
export function failTooLarge(error: QuestionTooLarge, { repository }: Question): never {
  throw new QuestionTooLarge(`${error.message}: ${repository.fullName}`, {
    reason: error.reason,
    cause: error.cause,
  });
}

function orThrow<A>(found: FoundResponse<A>): ForgeResult<A> {
  if (found.ok || found.refusal !== undefined) return found;
  throw found.failure;
}

async function askByName<Q extends Question, A extends RepositoryPart>(
  caller: GitHubCaller,
  kind: QuestionKind<Q, A>,
  questions: readonly Q[],
): Promise<Named<A>[]> {
  const { document, variables } = documentOf(kind, questions);
  const response = await caller.query(document, variables);
  const outcome = graphqlOutcome(response);
  if (!outcome.ok) return questions.map(() => outcome);
  const errors = withoutForbidden(outcome.value.errors, outcome.value.data, kind.forbiddable ?? {});
  const ofAll = errors.find(({ path }) => !path?.length);
  if (ofAll) return questions.map(() => orRefusal(ofAll, response));
  const failed = failedAliases(errors, response);
  const data = parseResponse(dataShape, { ...response, body: outcome.value.data }) ?? {};
  return questions.map((_, index) => {
    const alias = `r${index}`;
    const read = (): Named<A> => {
      const body = data[alias] ?? null;
      if (body === null) throw unexpectedResponse(response, alias);
      return { ok: true, value: parseResponse(kind.shape, { ...response, body }) };
    };
    return failed.get(alias) ?? orFailure(read);
  });
}

/** NOT_FOUND inside a repository is no failure: a comparison with a missing branch is null. */
function failedAliases(errors: readonly GraphqlError[], response: GitHubResponse): Map<string, Named<never>> {
  const failed = new Map<string, Named<never>>();
  for (const error of errors) {
    const [alias, ...inside] = error.path ?? [];
    const isMissing = error.type === "NOT_FOUND";
    if (isMissing && inside.length > 0) continue;
    failed.set(String(alias), { ...orRefusal(error, response), isMissing });
  }
  return failed;
}

const orRefusal = (error: GraphqlError, response: GitHubResponse): Named<never> =>
  orFailure(() => ({ ok: false, refusal: refusalOfError(error, response) }));

function orFailure<A>(read: () => Named<A>): Named<A> {
  try {
    return read();
  } catch (error) {
    if (error instanceof ForgeUnavailable) return { ok: false, failure: error };
    throw error;
  }
}

/** If a name is missing or belongs to another repository, reads the present name by id. */
async function askAgainByNewNames<Q extends Question, A extends RepositoryPart>(
  caller: GitHubCaller,
  kind: QuestionKind<Q, A>,
  questions: readonly Q[],
  found: Named<A>[],
): Promise<void> {
  const names = new Map<number, ForgeRepository | null>();
  const again: { index: number; question: Q }[] = [];
  for (const [index, question] of questions.entries()) {
    const { repository } = question;
    const result = found[index]!;
    if (result.ok ? isMeant(question, result) : !result.isMissing) continue;
    const now = names.get(repository.forgeId) ?? (await repositoryOf(caller, repository));
    names.set(repository.forgeId, now);
    if (now === null || now.fullName === repository.fullName) continue;
    again.push({ index, question: { ...question, repository: { ...repository, fullName: now.fullName } } });
  }
  if (again.length === 0) return;
  const renamed = again.map(({ question }) => question);
  const results = await askByName(caller, kind, renamed);
  again.forEach(({ index }, at) => found.splice(index, 1, results[at]!));
}

const isMeant = ({ repository }: Question, result: { readonly value: RepositoryPart }): boolean =>
  result.value.databaseId === repository.forgeId;
