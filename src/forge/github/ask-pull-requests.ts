import { z } from "zod";
import { type Asked, ForgeUnavailable, type PullRequestQuestion } from "../forge.ts";
import {
  askRepositories,
  byInstallation,
  type Document,
  type Found,
  type QuestionKind,
  type RepositoryPart,
} from "./ask-repositories.ts";
import { pageInfoShape } from "./checks-summary.ts";
import { type Caller, type GitHubClient, shaped } from "./client.ts";
import { InstallationRefused } from "./failures.ts";
import { graphqlOutcome, refusalOfError } from "./graphql-answer.ts";

/** Somebody waits for these answers, and one slow installation must not hold up the others. */
const WITHIN_MS = 5_000;
/** Questions in one call, as in `inspect`. */
const PER_CALL = 25;

/** A list that a pull request has, and how it is asked for. */
export interface PullRequestList<Item> {
  /** Names the documents: `Checks` and `MoreChecks`. */
  readonly name: string;
  /** The part of a pull request that holds the list; `page` are the connection's arguments. */
  readonly select: (page: string) => string;
  /** What `select` refers to. */
  readonly fragments: string;
  readonly shape: z.ZodType<ListPart<Item>>;
}

/** What is read of a pull request: its handle and a page of its list. */
export interface ListPart<Item> {
  readonly id: string;
  readonly page: Page<Item>;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; null after the last. */
  readonly next: string | null;
}

export const NO_ITEMS: Page<never> = { items: [], next: null };

/** A connection as a page. */
export const pageOf = <Item>(item: z.ZodType<Item>): z.ZodType<Page<Item>> =>
  z
    .looseObject({ pageInfo: pageInfoShape, nodes: z.array(item.nullable()).nullable() })
    .refine(({ pageInfo }) => !pageInfo.hasNextPage || pageInfo.endCursor, "a next page, but not where")
    .transform(({ pageInfo, nodes }) => ({
      items: (nodes ?? []).filter((node) => node !== null),
      next: pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null,
    }));

/**
 * A list of several pull requests, whole and in the order asked: one call for each installation, and one more for every further hundred
 * of a long list. What goes wrong with one is told in its place.
 */
export async function askPullRequests<Item>(
  client: GitHubClient,
  list: PullRequestList<Item>,
  questions: readonly PullRequestQuestion[],
): Promise<Asked<readonly Item[]>[]> {
  return await byInstallation(questions, async (installationId, group) => {
    const caller = client.as(installationId, WITHIN_MS);
    const answers: Asked<readonly Item[]>[] = [];
    for (let start = 0; start < group.length; start += PER_CALL) {
      answers.push(...(await askSome(caller, list, group.slice(start, start + PER_CALL))));
    }
    return answers;
  });
}

/** The document that asks for the first page of each; exported to be held against GitHub's schema. */
export function firstPages<Item>(
  { name, select, fragments }: PullRequestList<Item>,
  questions: readonly PullRequestQuestion[],
): Document {
  const variables: Record<string, unknown> = {};
  const parts = questions.map(({ repository, number }, index) => {
    const [owner = "", repositoryName = ""] = repository.fullName.split("/");
    Object.assign(variables, { [`o${index}`]: owner, [`n${index}`]: repositoryName, [`p${index}`]: number });
    return `r${index}: repository(owner: $o${index}, name: $n${index}) {
    databaseId
    pullRequest(number: $p${index}) { id ${select("first: 100")} }
  }`;
  });
  const types = questions.map((_, index) => `$o${index}: String!, $n${index}: String!, $p${index}: Int!`);
  const head = `query ${name}(${types.join(", ")}) {\n${parts.join("\n")}\n}`;
  return { document: `${head}\n${fragments}`, variables };
}

/** The document that asks for a further page. */
export const furtherPage = <Item>({ name, select, fragments }: PullRequestList<Item>): string => `
  query More${name}($id: ID!, $after: String!) {
    node(id: $id) { ... on PullRequest { id ${select("first: 100, after: $after")} } }
  }
  ${fragments}`;

type ListAnswer<Item> = RepositoryPart & { readonly pullRequest?: ListPart<Item> | null | undefined };

async function askSome<Item>(
  caller: Caller,
  list: PullRequestList<Item>,
  questions: readonly PullRequestQuestion[],
): Promise<Asked<readonly Item[]>[]> {
  const kind: QuestionKind<PullRequestQuestion, ListAnswer<Item>> = {
    documentOf: (asked) => firstPages(list, asked),
    shape: z.looseObject({ databaseId: z.number(), pullRequest: list.shape.nullish() }),
  };
  try {
    const found = await askRepositories(caller, kind, questions);
    const answers = questions.map((question, index) => wholeList(caller, list, question, found[index]!));
    return await Promise.all(answers);
  } catch (error) {
    return questions.map(() => inWords(error));
  }
}

async function wholeList<Item>(
  caller: Caller,
  list: PullRequestList<Item>,
  { repository, number }: PullRequestQuestion,
  found: Found<ListAnswer<Item>>,
): Promise<Asked<readonly Item[]>> {
  if (found.repository === undefined) {
    return { ok: false, error: (found.refusal ?? found.failure).message };
  }
  const { pullRequest } = found.repository;
  if (!pullRequest) return { ok: false, error: `${repository.fullName} has no pull request ${number}` };
  try {
    return { ok: true, value: await readToEnd(caller, list, pullRequest) };
  } catch (error) {
    return inWords(error);
  }
}

async function readToEnd<Item>(
  caller: Caller,
  list: PullRequestList<Item>,
  { id, page }: ListPart<Item>,
): Promise<Item[]> {
  const items = [...page.items];
  for (let { next } = page; next !== null;) {
    const answer = await caller.query(furtherPage(list), { id, after: next });
    const outcome = graphqlOutcome(answer);
    if (outcome.refusal !== undefined) throw new ForgeUnavailable(outcome.refusal.message);
    const [error] = outcome.errors;
    if (error !== undefined) throw new ForgeUnavailable(refusalOfError(error, answer).message);
    const { node } = shaped(z.looseObject({ node: list.shape }), { ...answer, body: outcome.data });
    items.push(...node.page.items);
    next = node.page.next;
  }
  return items;
}

function inWords(error: unknown): { ok: false; error: string } {
  if (error instanceof ForgeUnavailable || error instanceof InstallationRefused) {
    return { ok: false, error: error.message };
  }
  throw error;
}
