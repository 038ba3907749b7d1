import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

let keys = 0;
/** Sends these bytes as the body of a new card. */
const send = async (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
) => {
  const response = await fetch(`${board.api.baseUrl}/v1/cards`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${board.api.apiKey}`,
      "content-type": "application/json",
      "idempotency-key": `errors-test-key-${++keys}`,
      ...headers,
    },
    body,
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    body: JSON.parse(text) as Record<string, unknown>,
    headers: response.headers,
  };
};

/** A body with exactly this many bytes, whose description is too long. */
const bodyOf = (bytes: number): string => {
  const empty = '{"title":"x","description":""}';
  return empty.replace('""', `"${"x".repeat(bytes - empty.length)}"`);
};

const expectShape = (body: Record<string, unknown>, statusCode: number, error: string) => {
  const { issues, ...rest } = body;
  expect(rest).toEqual({ message: expect.any(String), error, statusCode });
  expect(issues === undefined || Array.isArray(issues)).toBe(true);
};

describe("an error response", () => {
  // Contract: Errors and versions: An error has `message`, `error` and `statusCode`
  it.each<[string, string, number, string]>([
    ["GET", "/v1/nothing", 404, "Not Found"],
    ["GET", "/index.html", 404, "Not Found"],
    ["PUT", "/v1/cards/1", 405, "Method Not Allowed"],
    ["POST", "/v1/board", 405, "Method Not Allowed"],
    ["GET", "/v2/me", 404, "Not Found"],
    ["GET", "/v1/cards/%E0%A4%A", 400, "Bad Request"],
    ["GET", "/v1/cards/4711", 404, "Not Found"],
    ["GET", "/v1/cards/x", 400, "Bad Request"],
    ["POST", "/v1/cards", 400, "Bad Request"],
  ])("to %s %s has message, error and statusCode", async (method, path, status, error) => {
    const response = await fetch(`${board.api.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${board.api.apiKey}` },
    });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expectShape((await response.json()) as Record<string, unknown>, status, error);
  });

  it("is not the response to `/`, which has links to the documentation", async () => {
    const response = await fetch(`${board.api.baseUrl}/`);
    expect(response.status).toBe(200);
    const links = (await response.json()) as { docs: string; openapi: string };
    expect(links).toMatchObject({ docs: "/docs", openapi: "/v1/openapi.json" });
    for (const path of [links.docs, links.openapi]) {
      expect((await fetch(`${board.api.baseUrl}${path}`)).status).toBe(200);
    }
  });

  it("names the unknown route and links to the list of routes", async () => {
    const unknown = await board.api.get("/v1/carts");
    expect(unknown.body["message"]).toBe("There is no GET /v1/carts. See /v1/openapi.json.");
  });
});

describe("a request body", () => {
  it.each<[string, string | Uint8Array<ArrayBuffer>]>([
    ["no JSON", "title=x"],
    ["JSON cut short", '{"title":"x"'],
    ["two JSON values", '{"title":"x"}{}'],
    ["JSON with comments", '{"title":"x"/* */}'],
    ["invalid UTF-8", new Uint8Array([...Buffer.from('{"title":"'), 0xff, 0xfe, ...Buffer.from('"}')])],
    ["UTF-16", new Uint8Array(Buffer.from('{"title":"x"}', "utf16le"))],
    ["a NUL byte as it is", '{"title":"a\0b"}'],
    ["NaN", '{"title":NaN}'],
  ])("of %s is 400", async (_, body) => {
    const refused = await send(body);
    expect(refused.status).toBe(400);
    expectShape(refused.body, 400, "Bad Request");
  });

  it.each([
    ["a list", "[", "]"],
    ["an object", '{"a":', "}"],
  ])("deeply nested as %s is 400, and the service keeps running", async (_, open, close) => {
    const depth = Math.floor((1024 * 1024 - 100) / (open.length + close.length));
    const deep = `{"title":${open.repeat(depth)}1${close.repeat(depth)}}`;
    const refused = await send(deep);
    expect(refused).toMatchObject({ status: 400, body: { error: "Bad Request" } });
    expect(refused.text.length).toBeLessThan(1_000);
    expect((await send('{"title":"x"}')).status).toBe(201);
  });

  // Contract: Conventions: Bodies are JSON; any other content type is 415
  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "",
  ])("of content type `%s` is 415", async (type) => {
    const refused = await send('{"title":"x"}', { "content-type": type });
    expect(refused.status).toBe(415);
    expectShape(refused.body, 415, "Unsupported Media Type");
  });

  it.each(["application/json; charset=utf-8", "Application/JSON"])(
    "of content type `%s` is accepted",
    async (type) => {
      expect((await send('{"title":"x"}', { "content-type": type })).status).toBe(201);
    },
  );

  it("of 1 MiB is accepted; one more byte is 413", async () => {
    const allowed = await send(bodyOf(1024 * 1024));
    expect(allowed).toMatchObject({ status: 400, body: { issues: [{ path: "body.description" }] } });
    const refused = await send(bodyOf(1024 * 1024 + 1));
    expect(refused.status).toBe(413);
    expectShape(refused.body, 413, "Payload Too Large");
    expect(refused.body["message"]).toContain("1 MiB");
  });

  it("that is compressed is 415", async () => {
    const packed = new Uint8Array(gzipSync('{"title":"x"}'));
    for (const encoding of ["gzip", "br", "deflate", "zip"]) {
      const refused = await send(packed, { "content-encoding": encoding });
      expectShape(refused.body, 415, "Unsupported Media Type");
    }
    expect((await send('{"title":"x"}', { "content-encoding": "identity" })).status).toBe(201);
  });

  it.each([
    ["10,000 values", 10_000, "body.repositoryIds: must have at most 100 entries"],
    ["10,001 values", 10_001, "The body has more than 10,000 values."],
  ])("with %s is 400", async (_, values, message) => {
    // The object, the title and the list are values, too.
    const list = Array.from({ length: values - 3 }, () => 0).join(",");
    const refused = await send(`{"title":"x","repositoryIds":[${list}]}`);
    expectShape(refused.body, 400, "Bad Request");
    expect(refused.body["message"]).toContain(message);
  });
});

describe("an internal error", () => {
  const COLUMN = "a_column_nobody_outside_knows";
  const broken = async <T>(ask: () => Promise<T>): Promise<T> => {
    const { db } = world.service.deps;
    await db.raw(`alter table cards rename column title to ${COLUMN}`);
    try {
      return await ask();
    } finally {
      await db.raw(`alter table cards rename column ${COLUMN} to title`);
    }
  };

  it("has no details, but the request id, which is in the header and the log too", async () => {
    const failed = await broken(() => board.api.get("/v1/board"));
    expect(failed.status).toBe(500);
    expectShape(failed.body, 500, "Internal Server Error");
    expect(failed.text).not.toMatch(/title|cards|select|column|at .*\.ts|node_modules|\/src\//i);
    const requestId = failed.headers.get("x-request-id") ?? "none";
    expect(failed.body["message"]).toContain(requestId);
    const lines = world.logged().split("\n");
    const logged = lines.find((line) => line.includes(requestId) && line.includes('"level":50')) ?? "";
    expect(logged).toContain("column c.title does not exist");
  });

  it("does not log the request body, and releases the idempotency key", async () => {
    const key = "a-failure-gives-the-key-back";
    const secretPlan = "the wording of a description";
    const create = () => board.api.post("/v1/cards", { title: "x", description: secretPlan }, { key });
    expect((await broken(create)).status).toBe(500);
    expect(world.logged()).not.toContain(secretPlan);
    const retried = await create();
    expect([retried.status, retried.headers.get("idempotent-replay")]).toEqual([201, null]);
  });

  it("is 503 with Retry-After if the forge is unreachable, without the forge's address", async () => {
    const { number } = await board.api.card();
    const fault = world.forge.control.faults.add({ fault: { kind: "reset" } });
    const failed = await board.api.move(number, board.stages["In progress"]);
    world.forge.control.faults.remove(fault);
    expect(failed.status).toBe(503);
    const { reason, ...body } = failed.body as unknown as Record<string, unknown>;
    expect(reason).toBe("outage");
    expectShape(body, 503, "Service Unavailable");
    expect(Number(failed.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(failed.body.message).toContain(failed.headers.get("x-request-id"));
    expect(failed.text).not.toContain("127.0.0.1");
  });
});

describe("the request id", () => {
  it("is in every response and differs each time", async () => {
    const ids = new Set<string | null>();
    for (const path of ["/v1/me", "/v1/nothing", "/healthz", "/v1/cards/x"]) {
      ids.add((await board.api.get(path)).headers.get("x-request-id"));
    }
    expect(ids.size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is never the caller's, which only the log shows", async () => {
    const given = "019a0000-0000-7000-8000-0000000000aa";
    const answered = new Set<string | null>();
    for (const id of [given, given, "mine", "x".repeat(5_000)]) {
      const { headers } = await board.api.get("/v1/me", { headers: { "x-request-id": id } });
      answered.add(headers.get("x-request-id"));
    }
    expect(answered.size).toBe(4);
    for (const id of answered) {
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(id).not.toBe(given);
    }
    const ours = `"requestId":"${[...answered][0]}"`;
    await eventually(
      () => Promise.resolve(world.logged()),
      (log) => log.includes(`${ours},"callerRequestId":"${given}"`),
    );
    expect(world.logged()).not.toContain('"callerRequestId":"mine"');
  });
});

describe("a response", () => {
  it("does not name the server software", async () => {
    for (const path of ["/v1/me", "/v1/nothing", "/healthz"]) {
      const { headers } = await board.api.get(path);
      expect(headers.get("x-powered-by")).toBeNull();
      expect(headers.get("server")).toBeNull();
    }
  });
});

describe("the log", () => {
  it("has no key, token or secret, even at the most detailed level", async () => {
    const { number } = await board.api.card({ title: "Log this" });
    await board.api.move(number, board.stages["In progress"]);
    await board.api.get(`/v1/me?access_token=${board.api.apiKey}`);
    await board.api.get(`/v1/${board.api.apiKey}`);
    await board.api.get("/v1/me", { headers: { authorization: "Bearer tlk_wrong" } });
    await world.forge.waitUntilIdle();
    const text = world.logged();
    expect(text).toContain('"path":"/v1/cards"');
    const secret = board.api.apiKey.split("_")[2] ?? "";
    for (const canary of [
      secret,
      world.forge.app.webhookSecret,
      "PRIVATE KEY",
      "ghs_",
      "ghp_",
      "authorization",
    ]) {
      expect(text).not.toContain(canary);
    }
  });
});
