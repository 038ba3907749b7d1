import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, jest } from "@jest/globals";
import { openApiDocument } from "../../src/http/openapi.ts";
import { REFUSAL_REASONS, type RefusalReason } from "../../src/flow/refusal.ts";
import { routes } from "../../src/http/v1/routes.ts";
import { EVENT_KINDS } from "../../src/store/events/event-kinds.ts";
import { DERIVED_KINDS, STORED_KINDS } from "../../src/store/inbox/list-inbox.ts";
import { makeApi } from "../support/api.ts";
import { documentedResponse, checkDocumented } from "../support/documented.ts";
import { allCalls, sampleCalls } from "../support/routes.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

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
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const generated = JSON.parse(JSON.stringify(openApiDocument(routes))) as Document;
const operations = Object.entries(generated.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe("the document", () => {
  it("matches the committed file", () => {
    const committed: unknown = JSON.parse(
      readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"),
    );
    // If this fails, run `npm run openapi`.
    expect(committed).toEqual(generated);
  });

  it("needs no API key", async () => {
    const response = await fetch(`${board.api.baseUrl}/v1/openapi.json`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(generated);
  });

  it("is serialized once, and is 304 for its strong ETag", async () => {
    const address = `${board.api.baseUrl}/v1/openapi.json`;
    const first = await fetch(address);
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    expect(first.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const stringify = jest.spyOn(JSON, "stringify");
    const again = await fetch(address, { headers: { "if-none-match": etag } });
    const other = await fetch(address, { headers: { "if-none-match": '"other"' } });
    const serialized = stringify.mock.calls.filter(([value]: unknown[]) => Object(value)["openapi"]);
    stringify.mockRestore();
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect([other.status, other.headers.get("etag")]).toEqual([200, etag]);
    expect(await other.json()).toEqual(generated);
    expect(serialized).toEqual([]);
  });

  it("has a server URL relative to its own", () => {
    expect(generated.servers.map(({ url }) => url)).toEqual(["/"]);
  });

  // Contract: Errors and versions: Every path starts with `/v1`
  it("has every route and no other", () => {
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).toSorted()).toEqual(
      allCalls.map(({ name }) => name).toSorted(),
    );
  });

  it.each(
    operations.map(
      ({ path, method, operation }) => [`${method.toUpperCase()} ${path}`, method, path, operation] as const,
    ),
  )("has parameters, bodies and responses of %s", (_, method, path, operation) => {
    const required = (operation.parameters ?? []).filter(({ required: must }) => must === true);
    const named = (place: string) => required.filter((each) => each.in === place).map(({ name }) => name);
    expect(named("path")).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
    expect(named("header")).toEqual(method === "get" ? [] : ["Idempotency-Key"]);
    expect(Object.keys(operation.responses)).toContain("default");
    for (const status of Object.keys(operation.responses)) {
      expect(() => documentedResponse(method, path, Number(status) || 400)).not.toThrow();
    }
  });

  // Contract: Conventions: Field names are camelCase; enumerated values are lowercase
  it("has field names in camelCase and values in lower case", () => {
    const names = new Set<string>();
    const values = new Set<string>();
    const walk = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      const { properties, enum: options } = node as { properties?: object; enum?: unknown[] };
      for (const name of Object.keys(properties ?? {})) names.add(name);
      for (const value of options ?? []) values.add(String(value));
      for (const inner of Object.values(node)) walk(inner);
    };
    walk(generated);
    expect(names.size).toBeGreaterThan(50);
    expect([...names].filter((name) => !/^[a-z][a-zA-Z]*$/.test(name))).toEqual([]);
    expect([...values].filter((value) => !/^(-?[a-z]+(_[a-z]+)*|\d)$/.test(value))).toEqual([]);
  });

  // Contract: Conventions: Timestamps are ISO 8601 in UTC with milliseconds
  it("says that every timestamp has milliseconds", () => {
    const schemas = JSON.stringify(generated).match(/"format":"date-time","pattern":"[^"]*"/g) ?? [];
    expect(schemas.length).toBeGreaterThan(5);
    for (const schema of schemas) {
      const { pattern } = JSON.parse(`{${schema}}`) as { pattern: string };
      expect("2026-01-31T09:30:00.000Z").toMatch(new RegExp(pattern));
      expect("2026-01-31T09:30:00Z").not.toMatch(new RegExp(pattern));
    }
  });

  // Contract: Errors and versions: The OpenAPI document tells clients to skip timeline kinds they do not know
  it("tells clients to skip unknown kinds of events", () => {
    expect(JSON.stringify(generated)).toContain("Skip a kind you do not know");
  });

  it("has a schema for the data of each kind of event and of each refusal", () => {
    const event = (kind: string, data: object) => [
      {
        type: "event",
        id: UNKNOWN_ID,
        kind,
        actor,
        repositoryFullName: null,
        data,
        at: "2026-01-31T09:30:00.000Z",
      },
    ];
    const actor = { user: { id: UNKNOWN_ID, name: "Ada", kind: "human" }, login: "ada" };
    const hold = (body: unknown) => checkDocumented("GET", "/v1/cards/1/timeline", 200, body);
    expect(hold(event("created", { number: 1 }))).toBe("GET /v1/cards/{number}/timeline");
    for (const kind of EVENT_KINDS) {
      expect(() => hold(event(kind, {}))).toThrow("/0/data");
      expect(() => hold(event(kind, { unknown: 1 }))).toThrow("/0/data");
    }
    const refusal = (reason: string, details: object) => {
      const one = { reason, message: "x", repository: "acme/web" };
      const blocked = { ...one, reasons: [{ ...one, details }], statusId: UNKNOWN_ID, headSha: null, at };
      return { message: "x", error: "Conflict", statusCode: 409, blocked, promoted: [] };
    };
    const at = "2026-01-31T09:30:00.000Z";
    const move = (body: unknown) => checkDocumented("POST", "/v1/cards/1/move", 409, body);
    const required: Partial<Record<RefusalReason, object>> = {
      wip_limit: { wipLimit: 1, cards: 1 },
      needs_second_person: { cause: "no_owner" },
    };
    for (const reason of REFUSAL_REASONS) {
      expect(move(refusal(reason, required[reason] ?? {}))).toBe("POST /v1/cards/{number}/move");
      expect(() => move(refusal(reason, { unknown: 1 }))).toThrow("/details");
    }
    expect(() => move(refusal("conflicts", { files: "app.txt" }))).toThrow("/details/files");
  });

  it("has a schema for the data of each kind of inbox item", () => {
    const item = (kind: string, data: object) => [
      {
        id: UNKNOWN_ID,
        kind,
        detail: "x",
        projectId: UNKNOWN_ID,
        card: null,
        repository: null,
        dismissible: false,
        at: "2026-01-31T09:30:00.000Z",
        data,
      },
    ];
    const hold = (body: unknown) => checkDocumented("GET", "/v1/inbox", 200, body);
    const permissions = { broken: "permissions", missing: ["workflows: write"], unavailable: null };
    expect(hold(item("connection_broken", permissions))).toBe("GET /v1/inbox");
    const unavailable = { reason: "rate_limit", until: "2026-01-31T09:30:00.000Z" };
    expect(hold(item("connection_broken", { broken: "suspended", unavailable }))).toBe("GET /v1/inbox");
    for (const kind of [...STORED_KINDS, ...DERIVED_KINDS]) {
      expect(() => hold(item(kind, {}))).toThrow("/0/data");
      expect(() => hold(item(kind, { unknown: 1 }))).toThrow("/0/data");
    }
  });

  it("gives every operation a unique id", () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z][A-Za-z]*$/.test(name))).toEqual([]);
  });

  // Contract: Conventions: Every response matches the OpenAPI document
  it("has schemas that accept real responses and refuse others", () => {
    const me = { clientId: "x", name: "x", scopes: ["read"], boards: [], answering: null };
    expect(checkDocumented("GET", "/v1/me", 200, me)).toBe("GET /v1/me");
    expect(() => checkDocumented("GET", "/v1/me", 200, { ...me, scopes: ["admin"] })).toThrow("/scopes/0");
    expect(() => checkDocumented("GET", "/v1/me", 200, { ...me, secretHash: "x" })).toThrow("secretHash");
    const refusal = { message: "x", error: "Unauthorized", statusCode: 401 };
    expect(checkDocumented("GET", "/v1/me", 401, refusal)).toBe("GET /v1/me");
    expect(() => checkDocumented("GET", "/v1/me", 403, refusal)).toThrow("other than the status");
    expect(() => checkDocumented("GET", "/v1/me", 401, { message: "x" })).toThrow("statusCode");
    expect(() => checkDocumented("DELETE", "/v1/cards/1", 204, {})).toThrow("a body");
    expect(checkDocumented("GET", "/v1/nothing", 200, {})).toBeUndefined();
  });
});

describe("responses", () => {
  // Contract: Conventions: Every response matches the OpenAPI document
  // Contract: Errors and versions: An error has `message`, `error` and `statusCode`
  it.each(sampleCalls.map((sample) => [sample.name, sample] as const))(
    "that refuse %s match the document",
    async (_, sample) => {
      const { method, path, name } = sample;
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
        const body: unknown = text === "" ? undefined : JSON.parse(text);
        expect(checkDocumented(method, path, response.status, body)).toBe(name);
      }
    },
  );
});
