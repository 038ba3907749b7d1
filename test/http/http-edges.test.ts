import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { boardCalls, sampleCalls } from "../support/routes.ts";
import { sendRaw } from "../support/raw-http.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
});
afterAll(() => world.stop());

const headers = (): string[] => [
  "Host: trunkline.example",
  "Connection: close",
  `Authorization: Bearer ${board.api.apiKey}`,
];
const ask = (line: string, more: readonly string[] = [], body = "") =>
  sendRaw(board.api.baseUrl, [`${line} HTTP/1.1`, ...headers(), ...more], body);
/** A card is asked for with these headers besides. */
const create = (more: readonly string[], title = "x") => {
  const body = JSON.stringify({ title });
  return ask(
    "POST /v1/cards",
    ["Content-Type: application/json", `Content-Length: ${body.length}`, ...more],
    body,
  );
};
const newKey = (): string => `Idempotency-Key: ${randomUUID()}`;
const shape = (statusCode: number, error: string) => ({
  status: statusCode,
  body: { message: expect.any(String), error, statusCode },
});

describe("a header that decides something", () => {
  it.each<[string, () => string[]]>([
    ["authorization", () => [newKey(), `Authorization: Bearer ${board.api.apiKey}`]],
    ["idempotency-key", () => [newKey(), newKey()]],
    [
      "x-service-workspace",
      () => [
        newKey(),
        `X-Service-Workspace: ${board.workspaceId}`,
        `X-Service-Workspace: ${board.workspaceId}`,
      ],
    ],
    ["content-type", () => [newKey(), "Content-Type: text/plain"]],
  ])("is refused when it is sent twice: %s", async (name, more) => {
    const title = `Twice ${name}`;
    const refused = await create(more(), title);
    expect(refused).toMatchObject(shape(400, "Bad Request"));
    expect(refused.body).toMatchObject({ message: `The header ${name} was sent 2 times. Send it once.` });
    const backlog = await board.api.get<{ title: string }[]>("/v1/backlog");
    expect(backlog.body.map((card) => card.title)).not.toContain(title);
  });

  it("is read when it is sent once", async () => {
    expect((await create([newKey()])).status).toBe(201);
  });
});

describe("an idempotency key", () => {
  it.each<[string, string[], RegExp]>([
    ["left out", [], /^The Idempotency-Key header is missing\. Every write needs one\. A key has 16/],
    [
      "too short",
      ["Idempotency-Key: short"],
      /^The Idempotency-Key header is invalid: it has 5 characters\./,
    ],
    ["of two words", ["Idempotency-Key: this is no good key"], /it contains a space/],
    ["in quotes", [`Idempotency-Key: "${"a".repeat(20)}"`], /it contains `"`/],
  ])("that is %s is told what is wrong with it", async (_, more, words) => {
    const refused = await create(more);
    expect(refused).toMatchObject(shape(400, "Bad Request"));
    expect(refused.body).toMatchObject({ message: expect.stringMatching(words) });
  });
});

describe("a read", () => {
  it.each(boardCalls.filter(({ method }) => method === "GET").map(({ name, path }) => [name, path] as const))(
    "takes no body: %s",
    async (_, path) => {
      const refused = await ask(`GET ${path}`, ["Content-Type: application/json", "Content-Length: 2"], "{}");
      expect(refused).toMatchObject(shape(400, "Bad Request"));
      expect(refused.body).toMatchObject({ message: expect.stringContaining("takes no body") });
    },
  );

  it("takes none in chunks either, and an empty one is none", async () => {
    const chunked = await ask("GET /v1/me", ["Transfer-Encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n");
    expect(chunked).toMatchObject(shape(400, "Bad Request"));
    expect((await ask("GET /v1/me", ["Content-Length: 0"])).status).toBe(200);
  });
});

describe("a body", () => {
  const post = (body: string) => board.api.post("/v1/cards", body);

  it.each([
    ["beside each other", '{"title":"Twice","title":"other"}', "title"],
    ["written differently", String.raw`{"title":"Twice","t\u0069tle":"other"}`, "title"],
    ["far inside", '{"title":"Twice","x":[1,{"a":{"b":1},"c":"\\"","a":2}]}', "a"],
    ["as JavaScript's own", '{"title":"Twice","__proto__":1,"__proto__":2}', "__proto__"],
  ])("that names a field twice is refused, and the field named: %s", async (_, body, name) => {
    const refused = await post(body);
    expect(refused).toMatchObject(shape(400, "Bad Request"));
    expect(refused.body).toMatchObject({
      message: `The body has the field "${name}" twice. Send it once.`,
    });
    const backlog = await board.api.get<{ title: string }[]>("/v1/backlog");
    expect(backlog.body.map((card) => card.title)).not.toContain("Twice");
  });

  it.each([
    ["in two objects", { labelIds: [], description: '{"title":1,"title":2}', title: 'a ":" b' }],
    ["in texts with backslashes", { title: '\\\\"title\\', description: '"title":"title"' }],
  ])("may have the same word %s", async (_, fields) => {
    const made = await board.api.post("/v1/cards", fields);
    expect([made.status, made.body["title"], made.body["description"]]).toEqual([
      201,
      fields.title,
      fields.description,
    ]);
  });

  it("of a thousand fields in one object is read, and of more is 400 in words", async () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 1]));
    expect((await post(JSON.stringify(fields(1_000)))).text).toContain("unknown field");
    expect((await post(JSON.stringify(fields(1_001)))).body).toMatchObject({
      message: "The body has an object with more than 1000 fields.",
    });
  });
});

describe("an address", () => {
  it("of 8 kB is read, and a longer one is 414", async () => {
    const path = "/v1/board?unknown=";
    expect((await ask(`GET ${path}${"x".repeat(8192 - path.length)}`)).status).toBe(400);
    expect(await ask(`GET ${path}${"x".repeat(8193 - path.length)}`)).toMatchObject(
      shape(414, "URI Too Long"),
    );
  });
});

/** What is another for each answer taken out. */
const withoutIds = ({ head, ...rest }: Awaited<ReturnType<typeof ask>>) => ({
  ...rest,
  head: head.replaceAll(/^(X-Request-Id|Date): .*$/gm, "$1"),
});

describe("a path", () => {
  const call = async (method: string, path: string, authorization = `Bearer ${board.api.apiKey}`) => {
    const more = method === "GET" ? [] : [newKey(), "Content-Type: application/json", "Content-Length: 2"];
    const who = ["Host: trunkline.example", "Connection: close", `Authorization: ${authorization}`];
    const body = method === "GET" ? "" : "{}";
    return withoutIds(
      await sendRaw(board.api.baseUrl, [`${method} ${path} HTTP/1.1`, ...who, ...more], body),
    );
  };

  it.each(sampleCalls.map(({ name, method, path }) => [name, method, path] as const))(
    "is answered alike, headers and all, whether it is written plainly or as express takes it besides: %s",
    async (_, method, path) => {
      expect(await call(method, `${path}/`)).toEqual(await call(method, path));
      expect(await call(method, path.replace("/v1", "/V1"), "none")).toEqual(
        await call(method, path, "none"),
      );
    },
  );

  it("is counted by its route and logged as it came, however it is written", async () => {
    const { requests } = world.service.deps.metrics;
    const counted = async (): Promise<number> =>
      (await requests.get()).values
        .filter(({ labels }) => labels.route === "/v1/cards/{number}/checks")
        .reduce((sum, { value }) => sum + value, 0);
    const before = await counted();
    await call("GET", "/v1/cards/4713/checks?plainly");
    await call("GET", "/v1/cards/471%33/checks/");
    expect((await counted()) - before).toBe(2);
    expect(world.logged()).toContain('"path":"/v1/cards/4713/checks"');
    expect(world.logged()).toContain('"path":"/v1/cards/471%33/checks/"');
  });
});

describe("what is no HTTP", () => {
  it.each<[string, number, string, () => Promise<unknown>]>([
    [
      "headers larger than 16 kB",
      431,
      "Request Header Fields Too Large",
      () => ask("GET /v1/me", [`X-Long: ${"x".repeat(17_000)}`]),
    ],
    ["two lengths", 400, "Bad Request", () => create([newKey(), "Content-Length: 3"])],
    ["a length and chunks", 400, "Bad Request", () => create([newKey(), "Transfer-Encoding: chunked"])],
    ["a length that is none", 400, "Bad Request", () => ask("POST /v1/cards", ["Content-Length: many"])],
    ["a header with a NUL", 400, "Bad Request", () => ask("GET /v1/me", ["X-Nul: a\0b"])],
    ["no HTTP at all", 400, "Bad Request", () => sendRaw(board.api.baseUrl, ["hello"])],
  ])("is refused in the one shape, as %s", async (_, status, error, send) => {
    expect(await send()).toMatchObject(shape(status, error));
    expect((await board.api.get("/v1/me")).status).toBe(200);
  });
});

describe("a connection", () => {
  it("may be idle for longer than the 60 seconds after which load balancers close it", async () => {
    const response = await fetch(`${world.service.baseUrl}/healthz`);
    const [, seconds] = /timeout=(\d+)/.exec(response.headers.get("keep-alive") ?? "") ?? [];
    expect(Number(seconds)).toBeGreaterThan(60);
  });

  it("is closed at once when the process has as many as it may have", async () => {
    const limited = await startWorld({ connections: { maxConnections: 2 } });
    const { hostname, port } = new URL(limited.service.baseUrl);
    const open = () => connect(Number(port), hostname).on("error", () => undefined);
    const [first, second] = [open(), open()];
    await Promise.all([once(first, "connect"), once(second, "connect")]);
    const third = open();
    await once(third, "close");
    first.destroy();
    second.destroy();
    const { status } = await eventually(
      () => fetch(`${limited.service.baseUrl}/healthz`).catch(() => ({ status: 0 })),
      (response) => response.status === 200,
    );
    expect(status).toBe(200);
    await limited.stop();
  });
});
