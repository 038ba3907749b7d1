import { expect, it } from "@jest/globals";
import { recordEvents } from "../../src/store/events/timeline.ts";
import { transaction } from "../../src/store/db/transaction.ts";
import { routes } from "../../src/http/v1/routes.ts";
import type { Api } from "../support/api.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const PAGE_ITEMS = 1_000;
const PAGE_BYTES = 256 * 1024;
/** The longest text of an item: 20,000 characters of four bytes. */
const LONGEST = "😀".repeat(20_000);
const LONG_ITEMS = 18;

const world = useWorld();

interface Item {
  readonly id: string;
}

/** All pages of a list, by following its links. */
async function pagesOf(api: Api, path: string) {
  const pages: { items: readonly Item[]; bytes: number }[] = [];
  for (let next = path; next !== "";) {
    const { status, body, text, headers } = await api.get<Item[]>(next);
    expect(status).toBe(200);
    pages.push({ items: body, bytes: Buffer.byteLength(text) });
    next = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1] ?? "";
  }
  return pages;
}

interface LongList {
  readonly path: string;
  readonly fill: (board: TestBoard) => Promise<unknown>;
  /** The items of the list in its order, as the database has them. */
  readonly ids: (board: TestBoard) => Promise<readonly string[]>;
}

const many = <T>(make: (nth: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: LONG_ITEMS }, (_, nth) => make(nth)));

const LONG_LISTS: readonly LongList[] = [
  {
    path: "/v1/backlog",
    fill: ({ api }) => many(() => api.card({ description: LONGEST })),
    ids: ({ workspaceId, db }) =>
      db("cards").where({ workspace_id: workspaceId }).orderBy("rank").pluck("id"),
  },
  {
    path: "/v1/cards",
    fill: ({ api }) => many(() => api.card({ description: LONGEST })),
    ids: ({ workspaceId, db }) =>
      db("cards").where({ workspace_id: workspaceId }).orderBy("number").pluck("id"),
  },
  {
    path: "/v1/cards/1/timeline",
    fill: async ({ api }) => {
      await api.card();
      await many(() => api.post("/v1/cards/1/comments", { body: LONGEST.slice(0, 20_000) }));
      await many(() => api.post("/v1/cards/1/comments", { body: LONGEST.slice(0, 20_000) }));
    },
    ids: ({ workspaceId, db }) =>
      db("timeline_items as t")
        .join("cards as c", "c.id", "t.card_id")
        .where({ "c.workspace_id": workspaceId })
        .orderBy("t.seq")
        .pluck("t.id"),
  },
  {
    path: "/v1/features",
    fill: ({ api }) => many((nth) => api.post("/v1/features", { name: `F ${nth}`, description: LONGEST })),
    ids: ({ workspaceId, db }) =>
      db("features").where({ workspace_id: workspaceId }).orderBy("position").pluck("id"),
  },
  {
    path: "/v1/projects",
    fill: ({ api }) => many((nth) => api.post("/v1/projects", { name: `P ${nth}`, description: LONGEST })),
    ids: ({ workspaceId, db }) =>
      db("projects")
        .where({ workspace_id: workspaceId })
        .orderByRaw("date_trunc('milliseconds', created_at), id")
        .pluck("id"),
  },
];

it.each(LONG_LISTS)("$path ends a page at 256 KiB, and its links lead to every item once", async (list) => {
  const board = await world.board();
  await list.fill(board);
  for (const limit of ["", "?limit=200"]) {
    const pages = await pagesOf(board.api, list.path + limit);
    expect(pages.length).toBeGreaterThan(1);
    const largest = Math.max(...pages.map(({ bytes }) => bytes));
    // The last item of a page may exceed the limit.
    expect(largest).toBeLessThan(1.3 * PAGE_BYTES);
    expect(largest).toBeGreaterThan(0.8 * PAGE_BYTES);
    expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(await list.ids(board));
  }
});

it("a page has at most 1,000 items, and its links lead to every item once", async () => {
  const board = await world.board();
  const card = await board.api.card();
  const { createdBy } = card as unknown as { createdBy: { id: string } };
  const events = Array.from({ length: 2 * PAGE_ITEMS }, (_, at) => ({
    cardId: card.id,
    kind: "updated" as const,
    actor: { userId: createdBy.id, login: null },
    data: { fields: [String(at)] },
  }));
  await transaction(board.db, (trx) => recordEvents(trx, events));
  const names = Array.from({ length: PAGE_ITEMS + 1 }, (_, at) => String(at).padStart(5, "0"));
  await board.db.raw(
    `insert into labels (id, workspace_id, name, folded_name, color)
     select gen_random_uuid(), ?, name, name, 'red' from unnest(?::text[]) name`,
    [board.workspaceId, names],
  );
  const timeline = await pagesOf(board.api, "/v1/cards/1/timeline");
  expect(timeline.map(({ items }) => items.length)).toEqual([PAGE_ITEMS, PAGE_ITEMS, 1]);
  expect(new Set(timeline.flatMap(({ items }) => items.map(({ id }) => id))).size).toBe(2 * PAGE_ITEMS + 1);
  const labels = await pagesOf(board.api, "/v1/labels");
  expect(
    labels.flatMap(({ items }) => items.map((item) => (item as unknown as { name: string }).name)),
  ).toEqual(names);
  expect(labels.map(({ items }) => items.length)).toEqual([PAGE_ITEMS, 1]);
});

it("every list has pages", () => {
  /** One item for each repository of a card. */
  const ofOneCard = ["/v1/cards/{number}/checks", "/v1/cards/{number}/reviews"];
  const unlimited = routes
    .map(({ definition }) => definition)
    .filter(({ method, responses }) => method === "get" && responses[200]?.schema?.type === "array")
    .filter(({ query }) => !query || !("cursor" in query.shape));
  expect(unlimited.map(({ path }) => path).toSorted()).toEqual(ofOneCard);
});
