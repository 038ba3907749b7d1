import { beforeAll, describe, expect, it } from "@jest/globals";
import { openApiDocument } from "../../src/http/openapi.ts";
import { routes } from "../../src/http/v1/routes.ts";
import { recordEvents } from "../../src/store/events/timeline.ts";
import { makeApi, type Api, type ApiResponse } from "../support/api.ts";
import { sendRaw } from "../support/raw-http.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { transaction } from "../../src/store/db/transaction.ts";

const world = useWorld();
/** A board with five items in each list; its credential reaches three boards. */
let board: TestBoard;
let api: Api;
/** Another board, with three projects and three members. */
let apiOfProjects: Api;
beforeAll(async () => {
  board = await world.board();
  const boards = [board, await world.board(), await world.board()];
  const wide = await board.as({ boards });
  api = withWorkspace(wide, board.workspaceId);
  for (let at = 1; at <= 5; at += 1) {
    await api.post("/v1/docs", { title: `Page ${at}` });
    await api.post("/v1/labels", { name: `label ${at}` });
    await api.post("/v1/features", { name: `Feature ${at}` });
    await api.post("/v1/cards", { title: `Card ${at}` });
  }
  for (let at = 1; at <= 4; at += 1) await api.patch("/v1/cards/1", { title: `Card 1, ${at}` });
  const busy = await world.board();
  apiOfProjects = busy.api;
  for (const name of ["Two", "Three"]) {
    await busy.api.post("/v1/projects", { name });
    await busy.as({ role: "member" });
  }
});

interface Item {
  readonly id: string;
  readonly title?: string;
}

function withWorkspace(wide: Api, workspaceId: string): Api {
  const headers = { "x-service-workspace": workspaceId };
  return {
    ...wide,
    get: (path, options) => wide.get(path, { ...options, headers: { ...headers, ...options?.headers } }),
    post: (path, body) => wide.post(path, body, { headers }),
    patch: (path, body) => wide.patch(path, body, { headers }),
    delete: (path) => wide.delete(path, { headers }),
  };
}

/** The address behind `rel="next"`, relative to the service, or null. */
function nextOf(result: ApiResponse): URL | null {
  const link = result.headers.get("link");
  if (link === null) return null;
  const [, address] = /^<([^>]+)>; rel="next"$/.exec(link) ?? [];
  if (address === undefined) throw new Error(`not a link to a next page: ${link}`);
  expect(address).toMatch(/^\/v1\//);
  return new URL(address, api.baseUrl);
}

const pathOf = (url: URL | null): string => (url ? url.pathname + url.search : "");
const get = (path: string): Promise<ApiResponse<Item[]>> =>
  (/^\/v1\/(projects|members)/.test(path) ? apiOfProjects : api).get<Item[]>(path);
const whole = async (path: string): Promise<Item[]> => (await get(path)).body;
const idsOf = (items: readonly Item[]): string[] => items.map(({ id }) => id);

/** All pages of a list, found by its links. */
async function pagesOf(path: string): Promise<Item[][]> {
  const pages: Item[][] = [];
  for (let next = path; next !== "";) {
    const result = await get(next);
    if (result.status !== 200) throw new Error(`no page: ${result.text}`);
    pages.push(result.body);
    if (pages.length > 50) throw new Error("the pages do not end");
    next = pathOf(nextOf(result));
  }
  return pages;
}

/** A cursor that the service did not create. */
const made = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString("base64url");

const LISTS = [
  "/v1/docs",
  "/v1/labels",
  "/v1/features",
  "/v1/backlog",
  "/v1/cards",
  "/v1/cards/1/timeline",
  "/v1/workspaces",
  "/v1/organizations",
  "/v1/projects",
  "/v1/members",
];

describe.each(LISTS)("%s", (path) => {
  it("is complete and without a link by default", async () => {
    const result = await get(path);
    expect(result.headers.get("link")).toBeNull();
    expect(result.body.length).toBeGreaterThanOrEqual(3);
  });

  it("has pages that together are the complete list", async () => {
    const items = await whole(path);
    const pages = await pagesOf(`${path}?limit=2`);
    expect(pages.flat()).toEqual(items);
    expect(pages.map(({ length }) => length)).toEqual(
      items.length % 2 === 0
        ? Array.from({ length: items.length / 2 }, () => 2)
        : [...Array.from({ length: (items.length - 1) / 2 }, () => 2), 1],
    );
  });

  it("has no next page if a page ends with the list", async () => {
    const { length } = await whole(path);
    const exact = await get(`${path}?limit=${length}`);
    expect([exact.body.length, nextOf(exact)]).toEqual([length, null]);
    const short = await get(`${path}?limit=${length - 1}`);
    const rest = await get(pathOf(nextOf(short)));
    expect([rest.body.length, nextOf(rest)]).toEqual([1, null]);
  });

  it.each(["0", "201", "-1", "1.5", "abc", "", "1e2", " 5", "2&limit=3"])(
    "does not accept the limit %j",
    async (limit) => {
      expect(await get(`${path}?limit=${limit}`)).toMatchObject({
        status: 400,
        body: { issues: [{ path: "query.limit" }] },
      });
    },
  );

  it("accepts the limits 1 and 200", async () => {
    expect(await whole(`${path}?limit=1`)).toHaveLength(1);
    expect(await whole(`${path}?limit=200`)).toEqual(await whole(path));
  });

  it("refuses a cursor that it did not create", async () => {
    const given = nextOf(await get(`${path}?limit=1`))?.searchParams.get("cursor") ?? "";
    const foreign = LISTS.find((other) => other !== path) ?? "";
    const elsewhere = nextOf(await get(`${foreign}?limit=1`))?.searchParams.get("cursor") ?? "";
    for (const cursor of [
      "",
      "abc",
      "%00",
      `${given}x`,
      given.slice(1),
      elsewhere,
      made([path]),
      made([path, null]),
      made([path, "'; drop table pages; --"]),
      made([path, "a\0"]),
      made([path, -1]),
      made([path, ["x", -1]]),
      made({}),
    ]) {
      const result = await get(`${path}?limit=1&cursor=${cursor}`);
      expect(result).toMatchObject({ status: 400, body: { issues: [{ path: "query.cursor" }] } });
    }
    expect((await get(`${path}?limit=1&cursor=${given}`)).status).toBe(200);
  });

  it("returns all remaining items for a cursor without a limit", async () => {
    const first = nextOf(await get(`${path}?limit=2`));
    first?.searchParams.delete("limit");
    expect(await whole(pathOf(first))).toEqual((await whole(path)).slice(2));
  });
});

describe("the link to the next page", () => {
  it("has the requested URL with a cursor, and keeps the other parameters", async () => {
    const url = `/v1/features?archived=1&limit=2&cursor=`;
    const cursor = nextOf(await api.get("/v1/features?limit=1"))?.searchParams.get("cursor") ?? "";
    const next = nextOf(await api.get(url + cursor));
    expect(next?.pathname).toBe("/v1/features");
    const { cursor: nextCursor, ...rest } = Object.fromEntries(next?.searchParams ?? []);
    expect(rest).toEqual({ archived: "1", limit: "2" });
    expect(nextCursor).not.toBe(cursor);
  });

  it("continues the list of the requested project", async () => {
    const next = nextOf(await api.get(`/v1/backlog?projectId=${board.projectId}&limit=2`));
    expect(next?.searchParams.get("projectId")).toBe(board.projectId);
    expect(await pagesOf(`/v1/backlog?projectId=${board.projectId}&limit=2`)).toHaveLength(3);
  });

  it("does not depend on the Host header or on those of a proxy", async () => {
    const linkWith = async (...headers: string[]): Promise<string | undefined> => {
      const who = [`Authorization: Bearer ${api.apiKey}`, `X-Service-Workspace: ${board.workspaceId}`];
      const lines = ["GET /v1/docs?limit=1 HTTP/1.1", "Connection: close", ...who, ...headers];
      return /^Link: (.*)$/m.exec((await sendRaw(api.baseUrl, lines)).head)?.[1]?.trim();
    };
    const link = await linkWith("Host: trunkline.example");
    expect(link).toMatch(/^<\/v1\/docs\?limit=1&cursor=[\w-]+>; rel="next"$/);
    const forwarded = ["X-Forwarded-Host: elsewhere.example", "X-Forwarded-Proto: https"];
    expect(await linkWith("Host: elsewhere.example", ...forwarded)).toBe(link);
  });

  it("is in a 304 response too", async () => {
    const first = await api.get("/v1/docs?limit=1");
    const again = await api.get("/v1/docs?limit=1", {
      headers: { "if-none-match": first.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    expect(again.headers.get("link")).toBe(first.headers.get("link"));
  });

  it("works only for the timeline of its card", async () => {
    const own = await world.board();
    for (let at = 0; at < 2; at += 1) {
      const { number } = await own.api.card();
      await own.api.patch(`/v1/cards/${number}`, { title: "Another" });
    }
    const cursor =
      nextOf(await own.api.get("/v1/cards/1/timeline?limit=1"))?.searchParams.get("cursor") ?? "";
    expect((await own.api.get(`/v1/cards/1/timeline?cursor=${cursor}`)).status).toBe(200);
    expect((await own.api.get(`/v1/cards/2/timeline?cursor=${cursor}`)).status).toBe(400);
  });

  it("does not open the timeline of a card of another board", async () => {
    const other = await world.board();
    await other.api.card();
    expect((await other.api.get("/v1/cards/99/timeline?limit=1")).status).toBe(404);
  });
});

describe("a list that changes while it is read", () => {
  it("continues after the last returned item, whatever was inserted before it", async () => {
    const own = await world.board();
    for (const title of ["b", "c", "d"]) await own.api.post("/v1/labels", { name: title });
    const first = await own.api.get<{ name: string }[]>("/v1/labels?limit=1");
    await own.api.post("/v1/labels", { name: "a" });
    const rest = await own.api.get<{ name: string }[]>(pathOf(nextOf(first)));
    expect([...first.body, ...rest.body].map(({ name }) => name)).toEqual(["b", "c"]);
  });

  it("omits nothing if the last returned item was deleted", async () => {
    const own = await world.board();
    for (const title of ["one", "two", "three"]) await own.api.post("/v1/docs", { title });
    const first = await own.api.get<Item[]>("/v1/docs?limit=2");
    await own.api.delete(`/v1/docs/${first.body[1]?.id ?? ""}`);
    const rest = await own.api.get<Item[]>(pathOf(nextOf(first)));
    expect(rest.body.map(({ title }) => title)).toEqual(["three"]);
  });

  it("neither repeats nor omits drafts when an earlier one starts", async () => {
    const own = await world.board();
    for (const title of ["one", "two", "three", "four"]) await own.api.card({ title });
    const first = await own.api.get<Item[]>("/v1/backlog?limit=2");
    await own.api.move(2, own.stages["To do"]);
    await own.api.delete("/v1/cards/1");
    const rest = await own.api.get<Item[]>(pathOf(nextOf(first)));
    expect(rest.body.map(({ title }) => title)).toEqual(["three", "four"]);
  });

  it("includes new events of a card", async () => {
    const own = await world.board();
    const { number } = await own.api.card();
    await own.api.patch(`/v1/cards/${number}`, { title: "Second" });
    const first = await own.api.get(`/v1/cards/${number}/timeline?limit=1`);
    await own.api.patch(`/v1/cards/${number}`, { title: "Third" });
    const rest = await own.api.get<{ kind: string }[]>(pathOf(nextOf(first)).replace("limit=1", "limit=5"));
    expect(rest.body.map(({ kind }) => kind)).toEqual(["updated", "updated"]);
  });
});

describe("a long list", () => {
  it("is complete by default, and its pages are in order", async () => {
    const own = await world.board();
    const card = await own.api.card();
    const { createdBy } = card as unknown as { createdBy: { id: string } };
    const events = Array.from({ length: 410 }, (_, at) => ({
      cardId: card.id,
      kind: "updated" as const,
      actor: { userId: createdBy.id, login: null },
      data: { fields: [String(at)] },
    }));
    await transaction(world.service.deps.db, (trx) => recordEvents(trx, events));
    const reader = makeApi(own.api.baseUrl, own.api.apiKey);
    const all = (await reader.get<Item[]>("/v1/cards/1/timeline")).body;
    expect(all).toHaveLength(411);
    const paged: Item[] = [];
    for (let next = "/v1/cards/1/timeline?limit=200"; next !== "";) {
      const result = await reader.get<Item[]>(next);
      paged.push(...result.body);
      next = pathOf(nextOf(result));
    }
    expect(idsOf(paged)).toEqual(idsOf(all));
  });
});

describe("every list", () => {
  interface Operation {
    readonly parameters?: readonly { readonly name: string; readonly schema: Record<string, unknown> }[];
    readonly responses: Readonly<
      Record<
        string,
        {
          readonly headers?: Readonly<Record<string, unknown>>;
          readonly content?: { readonly "application/json": { readonly schema: { readonly type?: string } } };
        }
      >
    >;
  }
  const { paths } = openApiDocument(routes) as {
    paths: Readonly<Record<string, { readonly get?: Operation }>>;
  };
  /** These have one entry for each repository of a card, read from GitHub, and no pages. */
  const LIVE = ["/v1/cards/{number}/checks", "/v1/cards/{number}/reviews"];
  const arrays = Object.entries(paths).flatMap(([path, { get }]) =>
    get?.responses["200"]?.content?.["application/json"]?.schema.type === "array" && !LIVE.includes(path)
      ? [[path, get] as const]
      : [],
  );

  it("is tested here or has its own test", () => {
    expect(arrays.map(([path]) => path)).toEqual(
      expect.arrayContaining(LISTS.map((path) => path.replace("/1/", "/{number}/"))),
    );
  });

  it.each(arrays)(
    "%s describes in the OpenAPI document how it is paged",
    (_path, { parameters, responses }) => {
      const schemaOf = (name: string): unknown => parameters?.find((each) => each.name === name)?.schema;
      expect(schemaOf("limit")).toMatchObject({ type: "integer", minimum: 1, maximum: 200 });
      expect(schemaOf("limit")).not.toHaveProperty("pattern");
      expect(schemaOf("cursor")).toMatchObject({ type: "string" });
      expect(responses["200"]?.headers).toHaveProperty("Link");
    },
  );
});
