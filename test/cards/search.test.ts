import { beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { Api } from "../support/api.ts";
import { create } from "../support/stories/resources.ts";
import { sendRaw } from "../support/raw-http.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let api: Api;

interface Result {
  readonly kind: string;
  readonly id: string;
  readonly number: number | null;
  readonly slug: string | null;
  readonly title: string;
  readonly snippet: string;
  readonly author: { readonly user: { readonly name: string }; readonly login: string | null };
}

async function search(q: string, options = "", caller: Api = api): Promise<Result[]> {
  const response = await caller.get<{ results: Result[] }>(`/v1/search?q=${encodeURIComponent(q)}${options}`);
  if (response.status !== 200) throw new Error(response.text);
  return response.body.results;
}
const found = async (q: string, options = ""): Promise<string[]> =>
  (await search(q, options)).map(({ kind, number, slug }) => `${kind} ${number ?? slug}`);

const page = (title: string, body = "") => create<{ id: string }>(api, "/v1/docs", { title, body });
const card = (title: string, description = "") => api.card({ title, description, repositoryIds: [] });
const comment = (number: number, body: string) =>
  create<{ id: string }>(api, `/v1/cards/${number}/comments`, { body });

const useNewBoard = async (): Promise<void> => {
  board = await world.board();
  ({ api } = board);
};

describe("GET /v1/search", () => {
  beforeEach(useNewBoard);

  it("finds cards, pages and comments with what is needed to open them", async () => {
    const { id: cardId } = await card("Rotate the keys", "Every quarter.");
    const { id: pageId } = await page("Keys", "How to rotate the signing keys safely.");
    const { id: commentId } = await comment(1, "I rotate them on Friday.");
    const results = await search("rotate");
    expect(results).toHaveLength(3);
    expect(results).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: "card",
          id: cardId,
          number: 1,
          slug: null,
          title: "Rotate the keys",
          snippet: "Every quarter.",
        }),
        expect.objectContaining({
          kind: "page",
          id: pageId,
          number: null,
          slug: "keys",
          title: "Keys",
          snippet: "How to rotate the signing keys safely.",
        }),
        expect.objectContaining({
          kind: "comment",
          id: commentId,
          number: 1,
          slug: null,
          title: "Rotate the keys",
          snippet: "I rotate them on Friday.",
        }),
      ]),
    );
    expect(new Set(results.map(({ author }) => author.user.name)).size).toBe(1);
    expect(results[0]?.author).toMatchObject({ user: { name: expect.any(String) }, login: null });
  });

  it("searches only the requested kinds", async () => {
    await card("Rotate");
    await page("Rotate");
    await comment(1, "rotate");
    expect(await found("rotate", "&kinds=cards")).toEqual(["card 1"]);
    expect(await found("rotate", "&kinds=pages")).toEqual(["page rotate"]);
    expect(await found("rotate", "&kinds=comments")).toEqual(["comment 1"]);
    expect((await found("rotate", "&kinds=comments,pages")).toSorted()).toEqual(["comment 1", "page rotate"]);
  });

  it("returns at most `limit` results, the best ones", async () => {
    for (let at = 0; at < 4; at += 1) await card("A card", "about lanterns");
    await card("Lanterns");
    expect(await found("lanterns", "&limit=1")).toEqual(["card 5"]);
    expect(await found("lanterns", "&limit=3")).toEqual(["card 5", "card 4", "card 3"]);
  });

  it("ranks a word in a title first, and one in a long text last", async () => {
    await card("A card", `${"other words ".repeat(400)} lantern`);
    await card("A card", "Buy a lantern.");
    await card("Lantern");
    expect(await found("lantern")).toEqual(["card 3", "card 2", "card 1"]);
  });

  it("finds a card by its number, before texts with the number", async () => {
    await page("Page 2", "2 and 2");
    await card("One", "see 2");
    await card("Two");
    expect(await found(" #002 ")).toEqual(["card 2"]);
    for (const q of ["2", "#2"]) {
      const results = await found(q);
      expect([results[0], results.toSorted()]).toEqual(["card 2", ["card 1", "card 2", "page page-2"]]);
    }
    expect(await found("2", "&kinds=pages")).toEqual(["page page-2"]);
    expect(await found("#3")).toEqual([]);
    expect(await found("99999999999999999999")).toEqual([]);
  });

  it("finds a change at once, and no longer what was replaced or deleted", async () => {
    await card("Alpha", "beta");
    const { id: pageId } = await page("Gamma", "delta");
    const { id: commentId } = await comment(1, "epsilon");
    await api.patch("/v1/cards/1", { title: "Zeta" });
    await api.patch(`/v1/docs/${pageId}`, { body: "eta" });
    await api.patch(`/v1/cards/1/comments/${commentId}`, { body: "theta" });
    const words = async (): Promise<string[]> => {
      const all = "alpha beta gamma delta epsilon zeta eta theta".split(" ");
      const hits = await Promise.all(all.map((word) => found(`"${word}"`)));
      return all.filter((_, at) => (hits[at]?.length ?? 0) > 0);
    };
    expect(await words()).toEqual(["beta", "gamma", "zeta", "eta", "theta"]);
    await api.move(1, board.stages["To do"]);
    await api.patch("/v1/cards/1", { priority: "high" });
    expect(await words()).toEqual(["beta", "gamma", "zeta", "eta", "theta"]);
    await api.delete(`/v1/docs/${pageId}`);
    expect(await words()).toEqual(["beta", "zeta", "theta"]);
    await api.delete("/v1/cards/1");
    expect(await words()).toEqual([]);
    expect(await found("1")).toEqual([]);
    const { rows } = await board.db.raw<{ rows: unknown[] }>(
      "select 1 from search_texts where workspace_id = ?",
      [board.workspaceId],
    );
    expect(rows).toEqual([]);
  });

  it("never finds a text of a deleted card, also if it was written during the deletion", async () => {
    await card("Alpha");
    const { id } = await comment(1, "beta");
    await api.delete("/v1/cards/1");
    await board.db.raw(
      "select record_text(cast(:id as uuid), cast(:workspaceId as uuid), 'comment', '', 'beta')",
      { id, workspaceId: board.workspaceId },
    );
    expect(await found("beta")).toEqual([]);
  });

  it("never finds another board's texts, even if a text names that board", async () => {
    const other = await world.board();
    await other.api.card({ title: `Secret =${board.workspaceId} =card ${board.workspaceId}` });
    await create(other.api, "/v1/docs", { title: "Secret", body: `=${board.workspaceId}` });
    await card("Public");
    for (const q of [
      "secret",
      "-public",
      "secret or public",
      "1",
      other.workspaceId,
      `=${other.workspaceId}`,
    ]) {
      const results = await found(q);
      expect(results.filter((each) => each !== "card 1")).toEqual([]);
    }
    expect(await search("public", "", other.api)).toEqual([]);
    expect(await found("-missing")).toEqual(["card 1"]);
  });

  it("shows a part of a long text around the first match, as plain text", async () => {
    const filler = "lorem ipsum dolor sit amet ".repeat(60);
    await card("A card", `${filler}the <b onclick="x()">needle</b>\u0007 is\n\n here ${filler}`);
    const [result] = await search("needle");
    expect(result?.snippet).toContain('the <b onclick="x()">needle</b> is here lorem');
    expect(result?.snippet).toMatch(/^… \w+ .* \w+ …$/);
    expect(result?.snippet.length).toBeLessThanOrEqual(204);
    const [inTitle] = await search("card");
    expect(inTitle?.snippet).toMatch(/^lorem ipsum .* …$/);
  });

  it("stores and finds the longest texts, of any characters", async () => {
    const words = (make: (at: number) => string, length: number) => {
      const some = Array.from({ length: 30_000 }, (_, at) => make(at)).join(" ");
      return Array.from(`needle ${some}`).slice(0, length).join("");
    };
    const deseret = (at: number) =>
      String.fromCodePoint(
        0x1_04_28 + (at % 40),
        0x1_04_28 + (Math.floor(at / 40) % 40),
        0x1_04_28 + (Math.floor(at / 1600) % 40),
      );
    for (const make of [
      (at: number) => `${deseret(at)}-${deseret(at + 7)}`,
      (at: number) => at.toString(36),
      (at: number) => `a${at}.b${at}/c${at}`,
      (at: number) => (at < 100 ? "İ".repeat(700) : "ß"),
      (at: number) => (at < 100 ? "x".repeat(3000) : "y"),
    ]) {
      await page("Long", words(make, 200_000));
      await card("Long", words(make, 20_000));
      await comment(1, words(make, 10_000));
    }
    expect((await search("needle", "&limit=50")).length).toBe(15);
  });
});

describe("the query of GET /v1/search", () => {
  beforeAll(useNewBoard);

  it.each<[string, string, boolean]>([
    ["Fix the login form", "login FORM", true],
    ["Fix the login form", "login missing", false],
    ["Fix the login form", '"login form"', true],
    ["Fix the login form", '"form login"', false],
    ["Fix the login form", "missing or login", true],
    ["Fix the login form", "fix -login", false],
    ["Fix the login form", "fix -missing", true],
    ["Fix the deployment", "deploy", true],
    ["Fix the deployment", "deploy the", false],
    ["Fix the deployment", "de", false],
    ["Fix the deployment", '"deploy"', false],
    ["Move src/http/v1/cards.ts to actions", "cards.ts", true],
    ["Move src/http/v1/cards.ts to actions", "http", true],
    ["Set example.com:8080 in Map<String, Key>", "example", true],
    ["Set example.com:8080 in Map<String, Key>", "string", true],
    ["Set max_connections to v1.2.3", "max_connections v1.2.3", true],
    ["Write to ada@example.com", "ada@example.com", true],
    ["Retry well-known errors", "well-known", true],
    ["Größe der Tür", "GRÖSSE", false],
    ["Größe der Tür", "größe TÜR", true],
    ["Cafe\u0301 öffnen", "café", true],
    ["Проверить поиск", "ПОИСК", true],
    ["検索 を 直す", "検索", true],
    ["بحث عن بطاقة", "بطاقة", true],
    ["Ship it 🚀 now", "🚀 ship", true],
  ])("with the title %j, the query %j finds: %s", async (title, q, isFound) => {
    const { number } = await card(title);
    expect(await found(q)).toEqual(isFound ? [`card ${number}`] : []);
    const { body } = await api.get<{ number: number }[]>(`/v1/cards?q=${encodeURIComponent(q)}`);
    expect(body.map((each) => each.number)).toEqual(isFound ? [number] : []);
    await api.delete(`/v1/cards/${number}`);
  });

  it.each([
    "'",
    '"',
    '""',
    "\\",
    "'; drop table cards; --",
    ":*",
    "a:*b",
    "!",
    "!!a",
    "& | !",
    "(",
    "a & (b | c",
    "<->",
    "a <-> b",
    "--",
    "-",
    "- -",
    "or",
    "or or",
    "a or",
    "%",
    "_",
    "$1",
    ":q",
    ":query",
    "?",
    "\u202e",
    "\u200b",
    "\n\t",
    "  ",
    "'=card'",
    "= '",
    "a".repeat(500),
    "a ".repeat(16).trim(),
    "-a ".repeat(16).trim(),
    "🚀".repeat(500),
    "a or ".repeat(7) + "b",
    "\ufffe",
    '-"foo bar',
    'foo -"bar baz',
    "-\uff02foo bar",
  ])("accepts %j without an error", async (q) => {
    const response = await api.get<{ results: unknown }>(`/v1/search?q=${encodeURIComponent(q)}`);
    expect([response.status, Array.isArray(response.body.results)]).toEqual([200, true]);
    expect((await api.get(`/v1/cards?q=${encodeURIComponent(q)}`)).status).toBe(200);
  });

  it.each([
    ["q", ""],
    ["q", "a%00b"],
    ["q", "x".repeat(501)],
    ["q", "a&q=b"],
    ["kinds", ""],
    ["kinds", "card"],
    ["kinds", "cards,"],
    ["kinds", "cards&kinds=pages"],
    ["limit", "0"],
    ["limit", "51"],
    ["limit", "1.5"],
    ["cursor", "x"],
  ])("returns 400 for %s=%s", async (field, value) => {
    const { status, body } = await api.get(`/v1/search?${field === "q" ? "" : "q=a&"}${field}=${value}`);
    const path = expect.stringMatching(`^query\\.${field}(\\.\\d)?$`);
    expect([status, body]).toMatchObject([400, { issues: [{ path }] }]);
  });

  it("accepts bytes that are not UTF-8 and half of a surrogate pair without an error", async () => {
    for (const q of ["%ED%A0%80", "%FF", "%", "%zz", "%C3"]) {
      const who = [`Authorization: Bearer ${api.apiKey}`, "Host: x", "Connection: close"];
      const { head } = await sendRaw(api.baseUrl, [`GET /v1/search?q=${q} HTTP/1.1`, ...who]);
      expect(head).toMatch(/^HTTP\/1\.1 (200|400) /);
    }
  });

  it("returns 414 for 10,000 characters", async () => {
    expect((await api.get(`/v1/search?q=${"x".repeat(10_000)}`)).status).toBe(414);
  });

  it("accepts 16 words and refuses 17, also those of GET /v1/cards", async () => {
    const words = (count: number) =>
      encodeURIComponent(Array.from({ length: count }, (_, at) => `w${at}`).join(","));
    for (const path of ["/v1/search", "/v1/cards"]) {
      expect((await api.get(`${path}?q=${words(16)}`)).status).toBe(200);
      const { status, body } = await api.get(`${path}?q=${words(17)}`);
      expect([status, body]).toMatchObject([400, { message: "query.q: must have at most 16 words" }]);
    }
  });

  it("needs a query", async () => {
    expect(await api.get("/v1/search")).toMatchObject({
      status: 400,
      body: { issues: [{ path: "query.q" }] },
    });
  });
});
