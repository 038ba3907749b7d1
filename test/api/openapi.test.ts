import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openApiDocument } from "../../src/http/openapi.ts";
import { routes } from "../../src/http/v1/routes.ts";
import { makeApi, type Api, type ApiAnswer } from "../support/api.ts";
import { documentedAnswer, expectDocumented } from "../support/documented.ts";
import { sampleCalls } from "../support/routes.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
});
afterAll(() => world.stop());

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const generated = JSON.parse(JSON.stringify(openApiDocument(routes))) as Document;
const operations = Object.entries(generated.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Calls through an API whose every answer is held against the document; gives the operations that answered well. */
function documenting(api: Api): { api: Api; seen: Set<string> } {
  const seen = new Set<string>();
  const held = <Body>(method: string, path: string, answer: ApiAnswer<Body>): ApiAnswer<Body> => {
    const operation = expectDocumented(method, path, answer.status, answer.body);
    if (answer.status < 300) seen.add(operation);
    return answer;
  };
  return {
    seen,
    api: {
      ...api,
      get: async (path, options) => held("GET", path, await api.get(path, options)),
      post: async (path, body, options) => held("POST", path, await api.post(path, body, options)),
      patch: async (path, body, options) => held("PATCH", path, await api.patch(path, body, options)),
      delete: async (path, options) => held("DELETE", path, await api.delete(path, options)),
    },
  };
}

describe("the document", () => {
  it("that is committed is the one of what is served", () => {
    const committed: unknown = JSON.parse(
      readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"),
    );
    // Where this fails, `npm run openapi` writes it anew.
    expect(committed).toEqual(generated);
  });

  it("is served to everybody", async () => {
    const response = await fetch(`${board.api.baseUrl}/v1/openapi.json`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(generated);
  });

  it("holds every route, and nothing else", () => {
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).toSorted()).toEqual(
      sampleCalls.map(({ name }) => name).toSorted(),
    );
  });

  it.each(
    operations.map(
      ({ path, method, operation }) => [`${method.toUpperCase()} ${path}`, method, path, operation] as const,
    ),
  )("says of %s what it takes and gives", (_, method, path, operation) => {
    const required = (operation.parameters ?? []).filter(({ required: must }) => must === true);
    const named = (place: string) => required.filter((each) => each.in === place).map(({ name }) => name);
    expect(named("path")).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
    expect(named("header")).toEqual(method === "get" ? [] : ["Idempotency-Key"]);
    expect(Object.keys(operation.responses)).toContain("default");
    for (const status of Object.keys(operation.responses)) {
      expect(() => documentedAnswer(method, path, Number(status) || 400)).not.toThrow();
    }
  });

  it("gives every operation a name of its own", () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it("knows what is in an answer and what is not", () => {
    const me = { clientId: "x", name: "x", scopes: ["read"], boards: [], answering: null };
    expect(expectDocumented("GET", "/v1/me", 200, me)).toBe("GET /v1/me");
    expect(() => expectDocumented("GET", "/v1/me", 200, { ...me, scopes: ["admin"] })).toThrow("/scopes/0");
    expect(() => expectDocumented("GET", "/v1/me", 200, { ...me, secretHash: "x" })).toThrow("secretHash");
    expect(() => expectDocumented("GET", "/v1/me", 401, { message: "x" })).toThrow("statusCode");
    expect(() => expectDocumented("GET", "/v1/nothing", 200, {})).toThrow("not in the document");
  });
});

describe("answers", () => {
  it("of a board's life are as documented: good ones and refusals", async () => {
    const { api, seen } = documenting(board.api);
    for (const path of ["/v1/me", "/v1/workspaces", "/v1/organizations", "/v1/board", "/v1/backlog"])
      await api.get(path);
    const user = (await api.post<{ createdBy: { id: string } }>("/v1/cards", { title: "First" })).body
      .createdBy;
    const fields = {
      description: "d",
      priority: "urgent",
      dueDate: "2026-12-31",
      assigneeId: user.id,
      parentNumber: 1,
    };
    await api.post("/v1/cards", { title: "Second", hotfix: true, ...fields });
    await api.patch("/v1/cards/1", { title: "First of all" });
    await api.get("/v1/backlog");
    const moved = await api.post("/v1/cards/1/move", { statusId: board.stages["In progress"], index: 0 });
    expect(moved.status).toBe(200);
    const refused = await api.post("/v1/cards/1/move", { statusId: board.stages.Done, index: 0 });
    expect(refused.status).toBe(409);
    for (const number of [1, 2]) {
      await api.get(`/v1/cards/${number}`);
      await api.get(`/v1/cards/${number}/timeline`);
    }
    await api.get("/v1/board");
    await api.delete("/v1/cards/2");
    expect(seen).toEqual(
      new Set([
        "GET /v1/me",
        "GET /v1/workspaces",
        "GET /v1/organizations",
        "GET /v1/board",
        "GET /v1/backlog",
        "POST /v1/cards",
        "GET /v1/cards/{number}",
        "PATCH /v1/cards/{number}",
        "DELETE /v1/cards/{number}",
        "POST /v1/cards/{number}/move",
        "GET /v1/cards/{number}/timeline",
      ]),
    );
  });

  it.each(sampleCalls.map((sample) => [sample.name, sample] as const))(
    "that refuse %s are as documented",
    async (_, sample) => {
      const { method, path } = sample;
      const apis = [
        makeApi(board.api.baseUrl, "none"),
        await board.as({ role: "viewer", scopes: ["read"] }),
        await board.as({ role: "viewer" }),
        board.api,
      ];
      for (const { apiKey } of apis) {
        const response = await fetch(`${board.api.baseUrl}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${apiKey}`,
            "content-type": "application/json",
            "idempotency-key": "a-key-for-refusals",
          },
          ...(method !== "GET" && { body: '{"nonsense":1}' }),
        });
        const text = await response.text();
        expectDocumented(method, path, response.status, text === "" ? undefined : JSON.parse(text));
      }
    },
  );
});
