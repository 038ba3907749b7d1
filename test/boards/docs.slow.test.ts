import { beforeAll, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import type { Api, ApiResponse } from "../support/api.ts";
import { create, UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
/** Pages need no repository, and a board without one is created faster. */
const newBoard = (): Promise<TestBoard> => world.board({ repositories: [] });
beforeAll(async () => {
  board = await newBoard();
});

interface Summary {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly parentId: string | null;
  readonly position: number;
}

interface Page extends Summary {
  readonly body: string;
  readonly createdBy: string;
  readonly updatedBy: string;
  readonly backlinks: readonly { readonly id: string; readonly title: string; readonly slug: string }[];
  readonly dangling: readonly string[];
  readonly tasks: readonly { readonly number: number }[];
}

const write = (fields: Readonly<Record<string, unknown>>, api: Api = board.api) =>
  create<Page>(api, "/v1/docs", fields);

const list = async (api: Api): Promise<Summary[]> => (await api.get<Summary[]>("/v1/docs")).body;
const read = async (id: string, api: Api = board.api): Promise<Page> =>
  (await api.get<Page>(`/v1/docs/${id}`)).body;
const change = (id: string, fields: unknown, api: Api = board.api): Promise<ApiResponse<Page>> =>
  api.patch<Page>(`/v1/docs/${id}`, fields);
const outline = (pages: readonly Summary[]): string[] =>
  pages.map(({ title, position }) => `${position} ${title}`);
const shortly = ({ id, title, slug }: Summary) => ({ id, title, slug });
const messageOf = (response: ApiResponse): unknown => (response.body as { message: unknown }).message;

const tasksOf = async (id: string, api: Api): Promise<number[]> =>
  (await read(id, api)).tasks.map(({ number }) => number);

/** The top level has A and B, A has A1 and A2, and A1 has A1a. */
async function tree(): Promise<{ api: Api; ids: Record<"A" | "A1" | "A1a" | "A2" | "B", string> }> {
  const { api } = await newBoard();
  const { id: A } = await write({ title: "A" }, api);
  const { id: B } = await write({ title: "B" }, api);
  const { id: A1 } = await write({ title: "A1", parentId: A }, api);
  const { id: A2 } = await write({ title: "A2", parentId: A }, api);
  const { id: A1a } = await write({ title: "A1a", parentId: A1 }, api);
  return { api, ids: { A, A1, A1a, A2, B } };
}

describe("a page", () => {
  it("is created by a member and returned with all fields", async () => {
    const api = await board.as({ role: "member" });
    const created = await api.post("/v1/docs", { title: "  How we ship ", body: "Carefully." });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      title: "How we ship",
      slug: "how-we-ship",
      parentId: null,
      position: expect.any(Number),
      body: "Carefully.",
      createdBy: "member agent",
      updatedBy: "member agent",
      backlinks: [],
      dangling: [],
      tasks: [],
    });
    expect(await read(String(created.body["id"]))).toEqual(created.body);
  });

  it("is returned in full by every call", async () => {
    const { api } = await newBoard();
    const parent = await write({ title: "Target" }, api);
    const fields = { title: "Full", body: "[[Target]] [[Missing]]", parentId: parent.id };
    const created = await api.post<Page>("/v1/docs", fields);
    await write({ title: "Linking", body: "[[Full]]" }, api);
    await api.card({ docIds: [created.body.id] });
    const address = `/v1/docs/${created.body.id}`;
    const responses: ApiResponse[] = [
      created,
      await api.get("/v1/docs"),
      await api.get(address),
      await api.patch(address, { position: 0 }),
      await api.patch(address, { position: -1 }),
      await api.delete(address),
      await api.get(address),
    ];
    expect(responses.map(({ status }) => status)).toEqual([201, 200, 200, 200, 400, 204, 404]);
    expect(responses[2]?.body).toMatchObject({
      backlinks: [{ title: "Linking" }],
      dangling: ["missing"],
      tasks: [{ number: 1 }],
    });
  });

  it("may have no body", async () => {
    expect((await write({ title: "Empty" })).body).toBe("");
  });

  // Contract: Pages: `createdBy` and `updatedBy` are names
  it("names who created it and who last changed it", async () => {
    const { id } = await write({ title: "Handed on" });
    const member = await board.as({ role: "member" });
    expect((await change(id, { body: "More." }, member)).body).toMatchObject({
      createdBy: "maintainer agent",
      updatedBy: "member agent",
      body: "More.",
    });
  });

  it("is found by its id in upper and lower case", async () => {
    const { id } = await write({ title: "Loud" });
    expect((await read(id.toUpperCase())).title).toBe("Loud");
  });

  // Contract: Pages: An unknown page id is 404; a slug in its place is 400
  it("is not found by an id that does not exist", async () => {
    const responses = [
      await board.api.get(`/v1/docs/${UNKNOWN_ID}`),
      await change(UNKNOWN_ID, { titel: "not even looked at" }),
      await board.api.delete(`/v1/docs/${UNKNOWN_ID}`),
    ];
    expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
  });

  it("is not found on another board, with the same message as for an unknown id", async () => {
    const other = await newBoard();
    const { id } = await write({ title: "Theirs" }, other.api);
    const unknown = await board.api.get(`/v1/docs/${UNKNOWN_ID}`);
    for (const response of [
      await board.api.get(`/v1/docs/${id}`),
      await change(id, { title: "Mine" }),
      await board.api.delete(`/v1/docs/${id}`),
    ]) {
      expect(response).toMatchObject({ status: 404, body: unknown.body });
    }
    expect((await read(id, other.api)).title).toBe("Theirs");
  });

  // Contract: Pages: An unknown page id is 404; a slug in its place is 400
  it("has no URL with its slug, and the message says to use the id", async () => {
    const { slug } = await write({ title: "By its name" });
    for (const response of [
      await board.api.get(`/v1/docs/${slug}`),
      await change(slug, { title: "New" }),
      await board.api.delete(`/v1/docs/${slug}`),
    ]) {
      expect(response.status).toBe(400);
      expect(messageOf(response)).toMatch(/docId: must be an id \(a UUID\), not a name or slug/);
    }
  });

  it.each([
    ["no title", {}, "body.title"],
    ["an empty title", { title: "" }, "body.title"],
    ["a title of spaces", { title: "   " }, "body.title"],
    ["a title of 201 characters", { title: "x".repeat(201) }, "body.title"],
    ["a body of 200,001 characters", { title: "Long", body: "x".repeat(200_001) }, "body.body"],
    ["a body that is not text", { title: "Odd", body: ["x"] }, "body.body"],
    ["NUL in its body", { title: "Odd", body: "a\0b" }, "body.body"],
    ["a parent by its slug", { title: "Odd", parentId: "how-we-ship" }, "body.parentId"],
    ["a parent that does not exist", { title: "Odd", parentId: UNKNOWN_ID }, "body.parentId"],
    ["a misspelt field", { title: "Odd", parentID: null }, "body.parentID"],
    ["a slug", { title: "Odd", slug: "mine" }, "body.slug"],
  ])("is refused with %s", async (_what, fields, path) => {
    const response = await board.api.post("/v1/docs", fields);
    expect(response).toMatchObject({ status: 400, body: { issues: [{ path }] } });
    expect((await list(board.api)).filter(({ title }) => title === "Odd")).toEqual([]);
  });

  it("has a title of up to 200 and a body of up to 200,000 characters in any script", async () => {
    const title = "日".repeat(200);
    const body = "🚀".repeat(200_000);
    const page = await write({ title, body });
    expect(page.slug).toBe(title);
    expect((await read(page.id)).body).toBe(body);
  });

  it.each([
    ["an empty title", { title: " " }],
    ["no title", { title: null }],
    ["a body of 200,001 characters", { body: "x".repeat(200_001) }],
    ["a negative position", { position: -1 }],
    ["half a position", { position: 0.5 }],
    ["an unknown field", { slug: "mine" }],
  ])("is not changed by %s", async (_what, fields) => {
    const { id } = await write({ title: `Stays ${randomUUID()}`, body: "as it was" });
    const before = await read(id);
    expect((await change(id, { ...fields })).status).toBe(400);
    expect(await read(id)).toEqual(before);
  });

  it("does not change without fields", async () => {
    const page = await write({ title: "Untouched", body: "text" });
    const member = await board.as({ role: "member" });
    expect(await change(page.id, {}, member)).toMatchObject({ status: 200, body: page });
  });

  it("is deleted by a member, once", async () => {
    const { id } = await write({ title: "Short-lived" });
    const member = await board.as({ role: "member" });
    expect(await member.delete(`/v1/docs/${id}`)).toMatchObject({ status: 204, text: "" });
    expect((await board.api.get(`/v1/docs/${id}`)).status).toBe(404);
    expect((await board.api.delete(`/v1/docs/${id}`)).status).toBe(404);
    expect((await list(board.api)).some((page) => page.id === id)).toBe(false);
  });

  it("is read, but not created, changed or deleted, by a viewer", async () => {
    const { id } = await write({ title: "For all to read" });
    const viewer = await board.as({ role: "viewer" });
    expect((await read(id, viewer)).title).toBe("For all to read");
    for (const response of [
      await viewer.post("/v1/docs", { title: "Mine" }),
      await change(id, { title: "Mine" }, viewer),
      await viewer.delete(`/v1/docs/${id}`),
    ]) {
      expect(response.status).toBe(403);
      expect(messageOf(response)).toMatch(/role member.*viewer/);
    }
  });

  it("is created once, however often the request is repeated", async () => {
    const key = `test-${randomUUID()}`;
    const first = await board.api.post("/v1/docs", { title: "Only once" }, { key });
    const again = await board.api.post("/v1/docs", { title: "Only once" }, { key });
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect((await list(board.api)).filter(({ title }) => title === "Only once")).toHaveLength(1);
  });
});

describe("a slug", () => {
  it("gets a number if another page has it", async () => {
    const { api } = await newBoard();
    const slugs = [];
    for (const title of ["Setup", "setup!", "Sétup"]) slugs.push((await write({ title }, api)).slug);
    expect(slugs).toEqual(["setup", "setup-2", "setup-3"]);
  });

  it("is unique on its board only", async () => {
    const [one, two] = [await newBoard(), await newBoard()];
    expect((await write({ title: "Setup" }, one.api)).slug).toBe("setup");
    expect((await write({ title: "Setup" }, two.api)).slug).toBe("setup");
  });

  it("differs if long titles differ only at their ends", async () => {
    const { api } = await newBoard();
    const long = "word ".repeat(39);
    const first = await write({ title: `${long}one` }, api);
    const second = await write({ title: `${long}two` }, api);
    expect(first.slug.endsWith("-one")).toBe(true);
    expect(second.slug.endsWith("-two")).toBe(true);
    const same = "x".repeat(200);
    await write({ title: same }, api);
    expect((await write({ title: same }, api)).slug).toBe(`${"x".repeat(198)}-2`);
  });

  // Contract: Pages: A page's slug is derived from its title and follows it
  it("follows the title, and does not change while the title stays the same", async () => {
    const { api } = await newBoard();
    const { id } = await write({ title: "Setup" }, api);
    expect((await change(id, { title: "Setup" }, api)).body.slug).toBe("setup");
    expect((await change(id, { title: "Installing" }, api)).body).toMatchObject({
      title: "Installing",
      slug: "installing",
    });
    expect((await change(id, { title: "Setup" }, api)).body.slug).toBe("setup");
  });

  it("is free for another page after its page has another title", async () => {
    const { api } = await newBoard();
    const old = await write({ title: "Setup" }, api);
    await change(old.id, { title: "Installing" }, api);
    expect((await write({ title: "Setup" }, api)).slug).toBe("setup");
    expect((await change(old.id, { title: "Setup" }, api)).body.slug).toBe("setup-2");
  });

  it("is free after its page is deleted", async () => {
    const { api } = await newBoard();
    const { id } = await write({ title: "Setup" }, api);
    await api.delete(`/v1/docs/${id}`);
    expect((await write({ title: "Setup" }, api)).slug).toBe("setup");
  });

  it("is unique among pages that are created concurrently", async () => {
    const { api } = await newBoard();
    const pages = await Promise.all(Array.from({ length: 8 }, () => write({ title: "Notes" }, api)));
    expect(pages.map(({ slug }) => slug).toSorted()).toEqual([
      "notes",
      ...Array.from({ length: 7 }, (_, at) => `notes-${at + 2}`),
    ]);
    expect((await list(api)).map(({ position }) => position)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

describe("the pages of a board", () => {
  // Contract: Pages: Pages are listed without bodies
  it("are listed in their tree, without bodies", async () => {
    const { api, ids } = await tree();
    expect(await list(api)).toEqual([
      { id: ids.A, title: "A", slug: "a", parentId: null, position: 0 },
      { id: ids.A1, title: "A1", slug: "a1", parentId: ids.A, position: 0 },
      { id: ids.A1a, title: "A1a", slug: "a1a", parentId: ids.A1, position: 0 },
      { id: ids.A2, title: "A2", slug: "a2", parentId: ids.A, position: 1 },
      { id: ids.B, title: "B", slug: "b", parentId: null, position: 1 },
    ]);
  });

  it("belong to one board", async () => {
    const { api } = await newBoard();
    expect(await list(api)).toEqual([]);
  });

  it.each([
    ["to the front", { position: 0 }, ["0 three", "1 one", "2 two"]],
    ["between two others", { position: 1 }, ["0 one", "1 three", "2 two"]],
    ["past the end", { position: 99 }, ["0 one", "1 two", "2 three"]],
    ["to their own position", { position: 2 }, ["0 one", "1 two", "2 three"]],
  ])("are put %s", async (_where, fields, order) => {
    const { api } = await newBoard();
    const ids = [];
    for (const title of ["one", "two", "three"]) ids.push((await write({ title }, api)).id);
    const moved = await change(String(ids[2]), fields, api);
    expect(moved.body.position).toBe(order.findIndex((line) => line.endsWith("three")));
    expect(outline(await list(api))).toEqual(order);
  });

  it("keep their order after a hundred moves to the same position", async () => {
    const { api } = await newBoard();
    const ids = [];
    for (const title of ["one", "two", "three"]) ids.push((await write({ title }, api)).id);
    for (let turn = 0; turn < 100; turn += 1) await change(String(ids[turn % 2]), { position: 1 }, api);
    expect((await list(api)).map(({ position }) => position)).toEqual([0, 1, 2]);
    expect(outline(await list(api))[1]).toBe("1 two");
  });

  it("are placed after their new siblings or at the given position", async () => {
    const { api, ids } = await tree();
    expect((await change(ids.B, { parentId: ids.A }, api)).body).toMatchObject({
      position: 2,
      parentId: ids.A,
    });
    expect((await change(ids.B, { parentId: ids.A1, position: 0 }, api)).body).toMatchObject({
      position: 0,
      parentId: ids.A1,
    });
    expect(outline(await list(api))).toEqual(["0 A", "0 A1", "0 B", "1 A1a", "1 A2"]);
  });

  it("return to the top level with a parent of null", async () => {
    const { api, ids } = await tree();
    expect((await change(ids.A1, { parentId: null }, api)).body).toMatchObject({
      parentId: null,
      position: 2,
    });
    expect(outline(await list(api))).toEqual(["0 A", "0 A2", "1 B", "2 A1", "0 A1a"]);
  });

  it("keep their position if they get the parent that they have", async () => {
    const { api, ids } = await tree();
    expect((await change(ids.A1, { parentId: ids.A }, api)).body.position).toBe(0);
  });

  it("cannot be moved below themselves or their descendants", async () => {
    const { api, ids } = await tree();
    const before = await list(api);
    for (const parentId of [ids.A, ids.A1, ids.A1a]) {
      const response = await change(ids.A, { parentId }, api);
      expect(response).toMatchObject({ status: 400, body: { issues: [{ path: "body.parentId" }] } });
    }
    expect(await list(api)).toEqual(before);
  });

  it("form no cycle if two are moved below each other concurrently", async () => {
    const { api } = await newBoard();
    for (let round = 0; round < 5; round += 1) {
      const { id: one } = await write({ title: "one" }, api);
      const { id: two } = await write({ title: "two" }, api);
      const responses = await Promise.all([
        change(one, { parentId: two }, api),
        change(two, { parentId: one }, api),
      ]);
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 400]));
    }
  });

  it("cannot be moved below a page of another board, which is unknown", async () => {
    const other = await newBoard();
    const { id: foreign } = await write({ title: "Theirs" }, other.api);
    const { id } = await write({ title: "Ours" });
    const unknown = await change(id, { parentId: UNKNOWN_ID });
    const refused = await change(id, { parentId: foreign });
    expect(refused.status).toBe(400);
    expect(refused.text.replaceAll(foreign, UNKNOWN_ID)).toBe(unknown.text);
    expect((await board.api.post("/v1/docs", { title: "New", parentId: foreign })).status).toBe(400);
  });

  it("move to the position of their deleted parent, in their order", async () => {
    const { api, ids } = await tree();
    expect((await api.delete(`/v1/docs/${ids.A}`)).status).toBe(204);
    expect(outline(await list(api))).toEqual(["0 A1", "0 A1a", "1 A2", "2 B"]);
    expect((await api.delete(`/v1/docs/${ids.A1}`)).status).toBe(204);
    expect(outline(await list(api))).toEqual(["0 A1a", "1 A2", "2 B"]);
    expect((await read(ids.A1a, api)).parentId).toBeNull();
  });

  it("move to their grandparent if their parent is deleted", async () => {
    const { api, ids } = await tree();
    await write({ title: "A1b", parentId: ids.A1 }, api);
    await api.delete(`/v1/docs/${ids.A1}`);
    expect((await list(api)).filter(({ parentId }) => parentId === ids.A).map(({ title }) => title)).toEqual([
      "A1a",
      "A1b",
      "A2",
    ]);
  });
});

describe("a wiki link", () => {
  // Contract: Pages: A wiki link adds a backlink to its page
  it("is a backlink of the page that it names by title or slug, with or without a text", async () => {
    const { api } = await newBoard();
    const target = await write({ title: "How we ship" }, api);
    const linking = [
      await write({ title: "a", body: "[[How we ship]]" }, api),
      await write({ title: "B", body: "[[how-we-ship]] and [[how-we-ship]]" }, api),
      await write({ title: "c", body: "[[how-we-ship|our way]]" }, api),
    ];
    await write({ title: "d", body: "`[[How we ship]]`\n\n    [[How we ship]]" }, api);
    expect((await read(target.id, api)).backlinks).toEqual(linking.map(shortly));
    expect((await read(linking[0]?.id ?? "", api)).dangling).toEqual([]);
  });

  // Contract: Pages: `dangling` lists linked slugs that no page has
  it("is dangling until a page has the slug, and again after that page is deleted", async () => {
    const { api } = await newBoard();
    const page = await write({ title: "Start", body: "[[Second]] [[First|one]] [[second]]" }, api);
    expect(page.dangling).toEqual(["second", "first"]);
    const second = await write({ title: "Second" }, api);
    expect((await read(page.id, api)).dangling).toEqual(["first"]);
    expect(second.backlinks).toEqual([shortly(page)]);
    await api.delete(`/v1/docs/${second.id}`);
    expect((await read(page.id, api)).dangling).toEqual(["second", "first"]);
  });

  it("to a heading is a link to the page, unless a page has the whole title", async () => {
    const { api } = await newBoard();
    const body = "[[Deploy guide#Rollback]] [[#Rollback]] [[C# guide]] [[Missing#One]] [[Missing#Two]]";
    const linking = await write({ title: "Start", body }, api);
    expect(linking.dangling).toEqual(["deploy-guide", "c-guide", "missing"]);
    const guide = await write({ title: "Deploy guide" }, api);
    const sharp = await write({ title: "C# guide" }, api);
    expect([guide.backlinks, sharp.backlinks]).toEqual([[shortly(linking)], [shortly(linking)]]);
    expect(await read(linking.id, api)).toMatchObject({ dangling: ["missing"], backlinks: [] });
    // Its slug is that of the whole title, but its title is another one.
    const similar = await write({ title: "Deploy guide rollback" }, api);
    expect(similar.backlinks).toEqual([]);
    const whole = await write({ title: "Deploy guide#Rollback!" }, api);
    expect(whole.backlinks).toEqual([]);
    await api.delete(`/v1/docs/${similar.id}`);
    await change(whole.id, { title: "Deploy guide#Rollback" }, api);
    expect((await read(whole.id, api)).backlinks).toEqual([shortly(linking)]);
    expect((await read(guide.id, api)).backlinks).toEqual([]);
  });

  it("in a card may name a heading, too", async () => {
    const { api } = await newBoard();
    const guide = await write({ title: "Deploy guide" }, api);
    const { number } = await api.card({ description: "As in [[Deploy guide#Rollback]] and [[#x]]" });
    expect((await read(guide.id, api)).tasks).toMatchObject([{ number }]);
  });

  it("follows its page through new titles until another page has the slug", async () => {
    const { api } = await newBoard();
    const page = await write({ title: "Setup" }, api);
    const linking = await write({ title: "Start", body: "[[Setup]]" }, api);
    await change(page.id, { title: "Installing" }, api);
    await change(page.id, { title: "Getting started" }, api);
    expect(await read(page.id, api)).toMatchObject({ backlinks: [shortly(linking)] });
    expect((await read(linking.id, api)).dangling).toEqual([]);

    const taking = await write({ title: "Setup" }, api);
    expect(taking.backlinks).toEqual([shortly(linking)]);
    expect((await read(page.id, api)).backlinks).toEqual([]);
  });

  it("follows the last 20 new titles of its page, so that old slugs do not fill the database", async () => {
    const { api } = await newBoard();
    const page = await write({ title: "Title 0" }, api);
    const linking = await write({ title: "Start", body: "[[Title 0]] [[Title 1]] [[Title 21]]" }, api);
    for (let next = 1; next <= 20; next++) await change(page.id, { title: `Title ${next}` }, api);
    expect((await read(linking.id, api)).dangling).toEqual(["title-21"]);

    // An earlier title that the page has again is its newest.
    await change(page.id, { title: "Title 1" }, api);
    expect((await read(linking.id, api)).dangling).toEqual(["title-21"]);
    await change(page.id, { title: "Title 21" }, api);
    expect((await read(linking.id, api)).dangling).toEqual(["title-0"]);
    await change(page.id, { title: "Title 0" }, api);
    expect((await read(linking.id, api)).dangling).toEqual([]);
  });

  it("finds its page by the new title and by the old one", async () => {
    const { api } = await newBoard();
    const page = await write({ title: "Setup" }, api);
    const linking = await write({ title: "Start", body: "[[Setup]] [[Installing]]" }, api);
    expect(linking.dangling).toEqual(["installing"]);
    await change(page.id, { title: "Installing" }, api);
    expect((await read(linking.id, api)).dangling).toEqual([]);
    expect((await read(page.id, api)).backlinks).toEqual([shortly(linking)]);
  });

  it("disappears with its text and with its page", async () => {
    const { api } = await newBoard();
    const target = await write({ title: "Target" }, api);
    const one = await write({ title: "One", body: "[[Target]]" }, api);
    const two = await write({ title: "Two", body: "[[Target]]" }, api);
    await change(one.id, { title: "Still one" }, api);
    expect((await read(target.id, api)).backlinks.map(({ title }) => title)).toEqual(["Still one", "Two"]);
    await change(one.id, { body: "nothing" }, api);
    await api.delete(`/v1/docs/${two.id}`);
    expect((await read(target.id, api)).backlinks).toEqual([]);
  });

  it("finds pages of its own board only", async () => {
    const [ours, theirs] = [await newBoard(), await newBoard()];
    const target = await write({ title: "Target" }, theirs.api);
    const page = await write({ title: "Page", body: "[[Target]]" }, ours.api);
    expect(page.dangling).toEqual(["target"]);
    expect((await read(target.id, theirs.api)).backlinks).toEqual([]);
  });

  it("from a page to itself is neither dangling nor a backlink", async () => {
    const { api } = await newBoard();
    const page = await write({ title: "Loop", body: "[[Loop]]" }, api);
    expect(page).toMatchObject({ dangling: [], backlinks: [] });
  });

  it("is one of the first 500 of its page, or is ignored", async () => {
    const { api } = await newBoard();
    const links = Array.from({ length: 501 }, (_, at) => `[[page ${at}]]`).join("\n");
    const page = await write({ title: "Many", body: links }, api);
    expect(page.dangling).toHaveLength(500);
    expect(page.dangling.at(-1)).toBe("page-499");
  });
});

describe("a card", () => {
  // Contract: Pages: `tasks` lists the cards that are linked to the page
  it("has the pages that it was given and those that its description links to", async () => {
    const { api, projectId, stages } = await newBoard();
    const page = await write({ title: "How we ship" }, api);
    const given = await api.card({ title: "Given", docIds: [page.id, page.id] });
    const linking = await api.card({ title: "Linking", description: "See [[How we ship]]." });
    await api.card({ title: "Both not", description: "`[[How we ship]]`" });
    expect((await read(page.id, api)).tasks).toEqual(
      [given, linking].map(({ id, number, title }) => ({
        id,
        number,
        title,
        projectId,
        statusId: stages.Backlog,
      })),
    );
  });

  it("is listed once if it was given the page and links to it too", async () => {
    const { api } = await newBoard();
    const page = await write({ title: "Twice" }, api);
    const { number } = await api.card({ description: "[[Twice]]", docIds: [page.id] });
    expect(await tasksOf(page.id, api)).toEqual([number]);
  });

  it("replaces all its pages, and keeps them if none are sent", async () => {
    const { api } = await newBoard();
    const [one, two] = [await write({ title: "One" }, api), await write({ title: "Two" }, api)];
    const { number } = await api.card({ docIds: [one.id] });
    expect((await api.patch(`/v1/cards/${number}`, { docIds: [two.id] })).status).toBe(200);
    expect([await tasksOf(one.id, api), await tasksOf(two.id, api)]).toEqual([[], [number]]);
    await api.patch(`/v1/cards/${number}`, { title: "Another" });
    expect(await tasksOf(two.id, api)).toEqual([number]);
    await api.patch(`/v1/cards/${number}`, { docIds: [] });
    expect(await tasksOf(two.id, api)).toEqual([]);
  });

  it("follows its changed description and keeps the pages that it was given", async () => {
    const { api } = await newBoard();
    const [one, two] = [await write({ title: "One" }, api), await write({ title: "Two" }, api)];
    const { number } = await api.card({ description: "[[One]]", docIds: [two.id] });
    await api.patch(`/v1/cards/${number}`, { description: "no more" });
    expect([await tasksOf(one.id, api), await tasksOf(two.id, api)]).toEqual([[], [number]]);
  });

  it("has a page that was created after the link to it", async () => {
    const { api } = await newBoard();
    const { number } = await api.card({ description: "[[Later]]" });
    expect((await write({ title: "Later" }, api)).tasks).toMatchObject([{ number }]);
  });

  it("has an event on its timeline when its pages change", async () => {
    const { api } = await newBoard();
    const page = await write({ title: "Page" }, api);
    const { number } = await api.card();
    await api.patch(`/v1/cards/${number}`, { docIds: [page.id] });
    expect((await api.timeline(number)).at(-1)).toMatchObject({
      kind: "updated",
      data: { fields: ["docIds"] },
      actor: { user: { name: "maintainer agent" } },
    });
  });

  it("is refused with the names of pages that are unknown or of another board", async () => {
    const [ours, theirs] = [await newBoard(), await newBoard()];
    const own = await write({ title: "Ours" }, ours.api);
    const foreign = await write({ title: "Theirs" }, theirs.api);
    const { number } = await ours.api.card({ title: "Before" });
    for (const wrong of [UNKNOWN_ID, foreign.id]) {
      for (const response of [
        await ours.api.post("/v1/cards", { title: "New", docIds: [own.id, wrong] }),
        await ours.api.patch(`/v1/cards/${number}`, { title: "After", docIds: [own.id, wrong] }),
      ]) {
        expect(response).toMatchObject({ status: 400, body: { issues: [{ path: "body.docIds" }] } });
        expect(messageOf(response)).toContain(wrong);
        expect(messageOf(response)).not.toContain(own.id);
      }
    }
    expect(await ours.api.readCard(number)).toMatchObject({ title: "Before" });
    expect(await tasksOf(own.id, ours.api)).toEqual([]);
  });

  it("has at most 100 pages, counted by id", async () => {
    const { api } = await newBoard();
    const { id } = await write({ title: "Page" }, api);
    const { number } = await api.card();
    const withPages = (count: number) =>
      api.patch(`/v1/cards/${number}`, { docIds: Array.from({ length: count }, () => id) });
    expect((await withPages(100)).status).toBe(200);
    expect((await withPages(101)).status).toBe(400);
    expect((await api.patch(`/v1/cards/${number}`, { docIds: ["page"] })).status).toBe(400);
    expect((await api.patch(`/v1/cards/${number}`, { docIds: null })).status).toBe(400);
  });

  it("is not listed as a task after it or its page is deleted", async () => {
    const { api } = await newBoard();
    const page = await write({ title: "Page" }, api);
    const one = await api.card({ docIds: [page.id], description: "[[Page]]" });
    const two = await api.card({ docIds: [page.id], description: "[[Page]]" });
    await api.delete(`/v1/cards/${one.number}`);
    expect(await tasksOf(page.id, api)).toEqual([two.number]);
    expect((await api.delete(`/v1/docs/${page.id}`)).status).toBe(204);
    expect((await api.readCard(two.number)).title).toBe("A card");
    expect((await write({ title: "Page" }, api)).tasks).toMatchObject([{ number: two.number }]);
  });

  it("and its page can be changed, linked and deleted concurrently without an internal error", async () => {
    const { api } = await newBoard();
    for (let round = 0; round < 5; round += 1) {
      const page = await write({ title: "Page" }, api);
      const { number } = await api.card({ docIds: [page.id] });
      const responses = await Promise.all([
        api.patch(`/v1/cards/${number}`, { docIds: [page.id] }),
        api.patch(`/v1/cards/${number}`, { docIds: [] }),
        change(page.id, { title: "Other" }, api),
        api.delete(`/v1/docs/${page.id}`),
        api.post("/v1/cards", { title: "New", docIds: [page.id] }),
      ]);
      for (const { status } of responses) expect(status).toBeLessThan(500);
    }
  });
});
