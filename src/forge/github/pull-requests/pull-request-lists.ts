/** Reads complete lists, such as the checks or reviews, of several pull requests. */
import { z } from "zod";
import type { PullRequestQuestion } from "../../pull-requests.ts";
import { type QuestionResult, ForgeUnavailable } from "../../values.ts";
import type { GitHubCaller, GitHubClient } from "../calls/client.ts";
import { isWithoutResponse } from "../calls/failures.ts";
import { type ForbiddableFields, graphqlData, nodesOf, pageInfoShape } from "../calls/graphql-response.ts";
import {
  askRepositories,
  byInstallation,
  type FoundResponse,
  inBatches,
  inHalves,
  type QuestionKind,
  type RepositoryPart,
} from "../repository-questions.ts";

/** An API request waits for these responses, and a slow installation must not delay the others. */
const WITHIN_MS = 5_000;
/** Questions in one call. */
const PER_CALL = 25;

export interface PullRequestList<Item, Value> {
  /** Part of the operations' names: `Checks` and `MoreChecks`. */
  readonly name: string;
  /** The GraphQL field with the list; `page` are the connection's arguments. */
  readonly select: (page: string) => string;
  readonly fragments: string;
  readonly forbiddable?: ForbiddableFields;
  readonly shape: z.ZodType<ListPart<Item>>;
  readonly toValues: (items: readonly Item[]) => readonly Value[];
}

/** A pull request's GraphQL id and a page of its list. */
interface ListPart<Item> {
  readonly id: string;
  readonly page: Page<Item>;
}

interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; null after the last. */
  readonly next: string | null;
}

export const NO_ITEMS: Page<never> = { items: [], next: null };

/** Parses a connection. */
export const pageOf = <Item>(item: z.ZodType<Item>): z.ZodType<Page<Item>> =>
  z
    .looseObject({ pageInfo: pageInfoShape, nodes: nodesOf(item) })
    .refine(({ pageInfo }) => !pageInfo.hasNextPage || pageInfo.endCursor, "a next page without a cursor")
    .transform(({ pageInfo, nodes }) => ({
      items: nodes,
      next: pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null,
    }));

export async function readLists<Item, Value>(
  client: GitHubClient,
  list: PullRequestList<Item, Value>,
  questions: readonly PullRequestQuestion[],
): Promise<QuestionResult<readonly Value[]>[]> {
  return await byInstallation(questions, async (installationId, group) => {
    const caller = client.as(installationId, WITHIN_MS);
    return await inBatches(group, PER_CALL, (some) => readSome(caller, list, some));
  });
}

type ListResponse<Item> = RepositoryPart & { readonly pullRequest?: ListPart<Item> | null | undefined };

export const firstPages = <Item, Value>({
  name,
  select,
  fragments,
  forbiddable = {},
  shape,
}: PullRequestList<Item, Value>): QuestionKind<PullRequestQuestion, ListResponse<Item>> => ({
  operation: name,
  fields: ({ number }, declare) =>
    `pullRequest(number: ${declare("p", "Int!", number)}) { id ${select("first: 100")} }`,
  fragments: () => fragments,
  forbiddable,
  shape: z.looseObject({ databaseId: z.number(), pullRequest: shape.nullish() }),
});

export const furtherPage = <Item, Value>({
  name,
  select,
  fragments,
}: PullRequestList<Item, Value>): string => `
  query More${name}($id: ID!, $after: String!) {
    node(id: $id) { ... on PullRequest { id ${select("first: 100, after: $after")} } }
  }
  ${fragments}`;

async function readSome<Item, Value>(
  caller: GitHubCaller,
  list: PullRequestList<Item, Value>,
  questions: readonly PullRequestQuestion[],
): Promise<QuestionResult<readonly Value[]>[]> {
  const read = async (some: readonly PullRequestQuestion[]) => {
    const found = await askRepositories(caller, firstPages(list), some);
    return await Promise.all(some.map((question, index) => readOne(caller, list, question, found[index]!)));
  };
  try {
    return [
      ...(await inHalves<PullRequestQuestion, QuestionResult<readonly Value[]>>(
        questions,
        read,
        withoutResponse,
      )),
    ];
  } catch (error) {
    return questions.map(() => withoutResponse(error));
  }
}

async function readOne<Item, Value>(
  caller: GitHubCaller,
  list: PullRequestList<Item, Value>,
  { repository, number }: PullRequestQuestion,
  found: FoundResponse<ListResponse<Item>>,
): Promise<QuestionResult<readonly Value[]>> {
  if (!found.ok) return { ok: false, error: (found.refusal ?? found.failure).message };
  const { pullRequest } = found.value;
  if (!pullRequest) return { ok: false, error: `${repository.fullName} has no pull request ${number}` };
  try {
    return { ok: true, value: list.toValues(await readToEnd(caller, list, pullRequest)) };
  } catch (error) {
    return withoutResponse(error);
  }
}

async function readToEnd<Item, Value>(
  caller: GitHubCaller,
  list: PullRequestList<Item, Value>,
  { id, page }: ListPart<Item>,
): Promise<Item[]> {
  const items = [...page.items];
  for (let { next } = page; next !== null;) {
    const response = await caller.query(furtherPage(list), { id, after: next });
    const further = graphqlData(z.looseObject({ node: list.shape }), response, list.forbiddable);
    if (!further.ok) throw new ForgeUnavailable(further.refusal.message);
    items.push(...further.value.node.page.items);
    next = further.value.node.page.next;
  }
  return items;
}

function withoutResponse(error: unknown): { ok: false; error: string } {
  if (isWithoutResponse(error)) return { ok: false, error: error.message };
  throw error;
}
