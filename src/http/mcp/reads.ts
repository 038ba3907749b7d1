import { inboxItemWithSource, withSource, type Item } from "./data.ts";
import { dataOf, runList, type Arguments, type Output, type RunRoute } from "./tool.ts";

/** Cards that `get_board` shows of one column. */
const COLUMN_CARDS = 50;
/** Items of the timeline that `get_card` shows. */
const TIMELINE_ITEMS = 30;

/** What `get_board` includes on request. */
export const LISTS = {
  projects: "GET /v1/projects",
  members: "GET /v1/members",
  labels: "GET /v1/labels",
  features: "GET /v1/features",
  repositories: "GET /v1/repositories",
} as const;
export type ListName = keyof typeof LISTS;

interface Column {
  readonly tasks: readonly unknown[];
}

export async function getBoard(run: RunRoute, { include = [], ...input }: Arguments): Promise<Output> {
  const { body } = await run("GET /v1/board", { ...input, include: "details" });
  const columns = (body as { columns: readonly Column[] }).columns.map(({ tasks, ...column }) => ({
    ...column,
    cardCount: tasks.length,
    tasks: tasks.slice(0, COLUMN_CARDS),
  }));
  const lists: Record<string, unknown> = {};
  for (const name of include as readonly ListName[]) lists[name] = (await run(LISTS[name], input)).body;
  return {
    text: `The columns of the board in flow order, each with its first ${COLUMN_CARDS} cards. A move takes the statusId of a column.`,
    data: { columns, ...lists },
  };
}

export async function getCard(run: RunRoute, { live = false, ...input }: Arguments): Promise<Output> {
  const { body: card } = await run("GET /v1/cards/{number}", input);
  const timeline = await newestItems(run, input);
  const github = live === true ? await readLive(run, input) : {};
  return {
    text: `The card with the newest ${TIMELINE_ITEMS} items of its timeline. Push commits to its branchName.`,
    data: { card: { ...(card as object), source: "trunkline" }, timeline, ...github },
  };
}

async function newestItems(run: RunRoute, input: Arguments): Promise<unknown[]> {
  let newest: Item[] = [];
  let cursor: string | null = null;
  do {
    const page = await run("GET /v1/cards/{number}/timeline", {
      ...input,
      limit: 200,
      ...(cursor !== null && { cursor }),
    });
    newest = [...newest, ...(page.body as Item[])].slice(-TIMELINE_ITEMS);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return newest.map(withSource);
}

async function readLive(run: RunRoute, input: Arguments): Promise<Output["data"]> {
  const fromGitHub = async (route: string) =>
    ((await run(route, input)).body as object[]).map((entry) => ({ ...entry, source: "github" }));
  return {
    checks: await fromGitHub("GET /v1/cards/{number}/checks"),
    reviews: await fromGitHub("GET /v1/cards/{number}/reviews"),
  };
}

export async function readPage(run: RunRoute, input: Arguments): Promise<Output> {
  if (input["docId"] !== undefined) {
    const { body } = await run("GET /v1/docs/{docId}", input);
    return {
      text: "The page. `createdBy` and `updatedBy` are its authors.",
      data: { ...(body as object), source: "trunkline" },
    };
  }
  return { text: "The pages of the board.", data: dataOf(await runList(run, "GET /v1/docs", input)) };
}

export const ANYONE = "anyone";
export const CALLER = "@me";

export async function listWork(run: RunRoute, input: Arguments): Promise<Output> {
  const { assignee = input["claimed"] === undefined ? CALLER : ANYONE, blocked, ...rest } = input;
  const { items, nextCursor } = dataOf(
    await runList(run, "GET /v1/cards", {
      ...rest,
      ...(assignee !== ANYONE && { assignee }),
      ...(blocked !== undefined && { blocked: Number(blocked) }),
    }),
  );
  return {
    text: "The cards. `createdBy` wrote a card, `assignee` works on it.",
    data: { items: (items as Item[]).map((card) => ({ ...card, source: "trunkline" })), nextCursor },
  };
}

export async function searchBoard(run: RunRoute, input: Arguments): Promise<Output> {
  const { body } = await run("GET /v1/search", input);
  const results = (body as { results: Item[] }).results.map(withSource);
  return { text: "What matches, the best first. Read it with get_card or read_page.", data: { results } };
}

export async function readInbox(run: RunRoute, input: Arguments): Promise<Output> {
  const { items, nextCursor } = dataOf(await runList(run, "GET /v1/inbox", input));
  return {
    text: "The items of the inbox, newest first.",
    data: { items: (items as Item[]).map(inboxItemWithSource), nextCursor },
  };
}
