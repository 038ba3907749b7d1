/** The checks or reviews of several pull requests, asked live and read to their end. */
import { z } from "zod";
import { type PullRequestQuestion } from "../../pull-requests.ts";
import { type Asked, ForgeUnavailable } from "../../values.ts";
import { type Caller, type GitHubClient } from "../calls/client.ts";
import { isUnanswered } from "../calls/failures.ts";
import { graphqlData, nodesOf, pageInfoShape } from "../calls/graphql-answer.ts";
import {
  askRepositories,
  byInstallation,
  type Found,
  inBatches,
  type QuestionKind,
  type RepositoryPart,
} from "../repository-questions.ts";

/** A caller waits for these answers, and one slow installation must not hold up the others. */
const WITHIN_MS = 5_000;
/** Questions in one call, as in `inspect`. */
const PER_CALL = 25;

/** A list of a pull request: how to ask for it, and how to turn its items into the answer. */
export interface PullRequestList<Item, Told> {
  /** Names the operations: `Checks` and `MoreChecks`. */
  readonly name: string;
  /** The part of a pull request that holds the list; `page` are the connection's arguments. */
  readonly select: (page: string) => string;
  /** What `select` refers to. */
  readonly fragments: string;
  readonly shape: z.ZodType<ListPart<Item>>;
  readonly tell: (items: readonly Item[]) => readonly Told[];
}

/** What is read of a pull request: its GraphQL id and a page of its list. */
interface ListPart<Item> {
  readonly id: string;
  readonly page: Page<Item>;
}

interface Page<Item> {
  readonly items: readonly Item[];
  /** Where the next page begins; null after the last. */
  readonly next: string | null;
}

export const NO_ITEMS: Page<never> = { items: [], next: null };

/** A connection as a page. */
export const pageOf = <Item>(item: z.ZodType<Item>): z.ZodType<Page<Item>> =>
  z
    .looseObject({ pageInfo: pageInfoShape, nodes: nodesOf(item) })
    .refine(({ pageInfo }) => !pageInfo.hasNextPage || pageInfo.endCursor, "a next page, but not where")
    .transform(({ pageInfo, nodes }) => ({
      items: nodes,
      next: pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null,
    }));

/**
 * A list of several pull requests, whole and in the order asked: one call for each installation,
 * and one more for every further hundred of a long list. What goes wrong with one is told in its
 * place.
 */
export async function readLists<Item, Told>(
  client: GitHubClient,
  list: PullRequestList<Item, Told>,
  questions: readonly PullRequestQuestion[],
): Promise<Asked<readonly Told[]>[]> {
  return await byInstallation(questions, async (installationId, group) => {
    const caller = client.as(installationId, WITHIN_MS);
    return await inBatches(group, PER_CALL, (some) => readSome(caller, list, some));
  });
}

type ListAnswer<Item> = RepositoryPart & { readonly pullRequest?: ListPart<Item> | null | undefined };

/** Asks for the first page of the list. */
export const firstPages = <Item, Told>({
  name,
  select,
  fragments,
  shape,
}: PullRequestList<Item, Told>): QuestionKind<PullRequestQuestion, ListAnswer<Item>> => ({
  operation: name,
  fields: ({ number }, declare) =>
    `pullRequest(number: ${declare("p", "Int!", number)}) { id ${select("first: 100")} }`,
  fragments: () => fragments,
  shape: z.looseObject({ databaseId: z.number(), pullRequest: shape.nullish() }),
});

/** The document that asks for a further page. */
export const furtherPage = <Item, Told>({ name, select, fragments }: PullRequestList<Item, Told>): string => `
  query More${name}($id: ID!, $after: String!) {
    node(id: $id) { ... on PullRequest { id ${select("first: 100, after: $after")} } }
  }
  ${fragments}`;

async function readSome<Item, Told>(
  caller: Caller,
  list: PullRequestList<Item, Told>,
  questions: readonly PullRequestQuestion[],
): Promise<Asked<readonly Told[]>[]> {
  try {
    const found = await askRepositories(caller, firstPages(list), questions);
    return await Promise.all(
      questions.map((question, index) => readOne(caller, list, question, found[index]!)),
    );
  } catch (error) {
    return questions.map(() => unanswered(error));
  }
}

async function readOne<Item, Told>(
  caller: Caller,
  list: PullRequestList<Item, Told>,
  { repository, number }: PullRequestQuestion,
  found: Found<ListAnswer<Item>>,
): Promise<Asked<readonly Told[]>> {
  if (!found.ok) return { ok: false, error: (found.refusal ?? found.failure).message };
  const { pullRequest } = found.value;
  if (!pullRequest) return { ok: false, error: `${repository.fullName} has no pull request ${number}` };
  try {
    return { ok: true, value: list.tell(await readToEnd(caller, list, pullRequest)) };
  } catch (error) {
    return unanswered(error);
  }
}

async function readToEnd<Item, Told>(
  caller: Caller,
  list: PullRequestList<Item, Told>,
  { id, page }: ListPart<Item>,
): Promise<Item[]> {
  const items = [...page.items];
  for (let { next } = page; next !== null;) {
    const answer = await caller.query(furtherPage(list), { id, after: next });
    const further = graphqlData(z.looseObject({ node: list.shape }), answer);
    if (!further.ok) throw new ForgeUnavailable(further.refusal.message);
    items.push(...further.value.node.page.items);
    next = further.value.node.page.next;
  }
  return items;
}

function unanswered(error: unknown): { ok: false; error: string } {
  if (isUnanswered(error)) return { ok: false, error: error.message };
  throw error;
}
