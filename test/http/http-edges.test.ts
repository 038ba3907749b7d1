import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import { eventually } from "../support/api.ts";
import { boardCalls, sampleCalls } from "../support/routes.ts";
import { sendRaw } from "../support/raw-http.ts";
import { openStream } from "../support/stories/event-stream.ts";
import { METRICS_TOKEN, startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld({ limits: { ...DEFAULT_LIMITS, failedKeysPerMinute: 10_000 } });
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
/** Creates a card with these additional headers. */
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

describe("a request header", () => {
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
  ])("is refused if it is sent twice: %s", async (name, more) => {
    const title = `Twice ${name}`;
    const refused = await create(more(), title);
    expect(refused).toMatchObject(shape(400, "Bad Request"));
    expect(refused.body).toMatchObject({ message: `The header ${name} was sent 2 times. Send it once.` });
    const backlog = await board.api.get<{ title: string }[]>("/v1/backlog");
    expect(backlog.body.map((card) => card.title)).not.toContain(title);
  });

  it("is accepted if it is sent once", async () => {
    expect((await create([newKey()])).status).toBe(201);
  });
});

describe("an idempotency key", () => {
  it.each<[string, string[], RegExp]>([
    ["missing", [], /^The Idempotency-Key header is missing\. Every write needs one\. A key has 16/],
    [
      "too short",
      ["Idempotency-Key: short"],
      /^The Idempotency-Key header is invalid: it has 5 characters\./,
    ],
    ["of two words", ["Idempotency-Key: this is no good key"], /it contains a space/],
    ["in quotes", [`Idempotency-Key: "${"a".repeat(20)}"`], /it contains `"`/],
  ])("that is %s is refused with the reason", async (_, more, message) => {
    const refused = await create(more);
    expect(refused).toMatchObject(shape(400, "Bad Request"));
    expect(refused.body).toMatchObject({ message: expect.stringMatching(message) });
  });
});

describe("a GET request", () => {
  it.each(boardCalls.filter(({ method }) => method === "GET").map(({ name, path }) => [name, path] as const))(
    "is refused with a body: %s",
    async (_, path) => {
      const refused = await ask(`GET ${path}`, ["Content-Type: application/json", "Content-Length: 2"], "{}");
      expect(refused).toMatchObject(shape(400, "Bad Request"));
      expect(refused.body).toMatchObject({ message: expect.stringContaining("takes no body") });
    },
  );

  it("is refused with a chunked body and accepted with an empty one", async () => {
    const chunked = await ask("GET /v1/me", ["Transfer-Encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n");
    expect(chunked).toMatchObject(shape(400, "Bad Request"));
    expect((await ask("GET /v1/me", ["Content-Length: 0"])).status).toBe(200);
  });
});

describe("a request body", () => {
  const post = (body: string) => board.api.post("/v1/cards", body);

  it.each([
    ["next to each other", '{"title":"Twice","title":"other"}', "title"],
    ["written differently", String.raw`{"title":"Twice","t\u0069tle":"other"}`, "title"],
    ["in a nested object", '{"title":"Twice","x":[1,{"a":{"b":1},"c":"\\"","a":2}]}', "a"],
    ["with a meaning in JavaScript", '{"title":"Twice","__proto__":1,"__proto__":2}', "__proto__"],
  ])("with a field twice is refused with the name of the field: %s", async (_, body, name) => {
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
    ["in strings with backslashes", { title: '\\\\"title\\', description: '"title":"title"' }],
  ])("may have the same name %s", async (_, fields) => {
    const made = await board.api.post("/v1/cards", fields);
    expect([made.status, made.body["title"], made.body["description"]]).toEqual([
      201,
      fields.title,
      fields.description,
    ]);
  });

  it("with 1,000 fields in one object is accepted, and with more is 400 with a message", async () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 1]));
    expect((await post(JSON.stringify(fields(1_000)))).text).toContain("unknown field");
    expect((await post(JSON.stringify(fields(1_001)))).body).toMatchObject({
      message: "The body has an object with more than 1000 fields.",
    });
  });
});

describe("a URL", () => {
  it("of 8 kB is accepted, and a longer one is 414", async () => {
    const path = "/v1/board?unknown=";
    expect((await ask(`GET ${path}${"x".repeat(8192 - path.length)}`)).status).toBe(400);
    expect(await ask(`GET ${path}${"x".repeat(8193 - path.length)}`)).toMatchObject(
      shape(414, "URI Too Long"),
    );
  });
});

/** Without the headers that may differ between two identical requests. */
const withoutIds = ({ head, ...rest }: Awaited<ReturnType<typeof ask>>) => ({
  ...rest,
  head: head.replaceAll(/^(X-Request-Id|X-Feed-Seq|Date): .*$/gm, "$1"),
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
    "gets the same response and headers with a slash at its end or with `/V1`: %s",
    async (_, method, path) => {
      expect(await call(method, `${path}/`)).toEqual(await call(method, path));
      expect(await call(method, path.replace("/v1", "/V1"), "none")).toEqual(
        await call(method, path, "none"),
      );
    },
  );

  it("is counted by its route and logged as sent, whether percent-encoded or not", async () => {
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

describe("an invalid HTTP request", () => {
  it.each<[string, number, string, () => Promise<unknown>]>([
    [
      "headers larger than 16 kB",
      431,
      "Request Header Fields Too Large",
      () => ask("GET /v1/me", [`X-Long: ${"x".repeat(17_000)}`]),
    ],
    ["two Content-Length headers", 400, "Bad Request", () => create([newKey(), "Content-Length: 3"])],
    ["Content-Length and chunks", 400, "Bad Request", () => create([newKey(), "Transfer-Encoding: chunked"])],
    [
      "a Content-Length that is not a number",
      400,
      "Bad Request",
      () => ask("POST /v1/cards", ["Content-Length: many"]),
    ],
    ["a header with a NUL", 400, "Bad Request", () => ask("GET /v1/me", ["X-Nul: a\0b"])],
    ["text that is not HTTP", 400, "Bad Request", () => sendRaw(board.api.baseUrl, ["hello"])],
  ])("gets an error with message, error and statusCode: %s", async (_, status, error, send) => {
    expect(await send()).toMatchObject(shape(status, error));
    expect((await board.api.get("/v1/me")).status).toBe(200);
  });
});

const idleConnection = ({ service }: TestWorld): Socket => {
  const { hostname, port } = new URL(service.baseUrl);
  return connect(Number(port), hostname).on("error", () => undefined);
};

/** The status of a call through a connection. */
async function statusThrough(
  socket: Socket,
  call = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
): Promise<number> {
  socket.write(call);
  const [response] = (await once(socket, "data")) as [Buffer];
  return Number(response.toString().split(" ")[1]);
}

describe("a connection", () => {
  it("may be idle longer than the 60 seconds after which load balancers close it", async () => {
    const response = await fetch(`${world.service.baseUrl}/healthz`);
    const [, seconds] = /timeout=(\d+)/.exec(response.headers.get("keep-alive") ?? "") ?? [];
    expect(Number(seconds)).toBeGreaterThan(60);
  });

  it("without a request is closed, the oldest first, for a new one if the process has its maximum", async () => {
    const limited = await startWorld({ connections: { maxConnections: 3 } });
    const { api } = await limited.board();
    await limited.forge.waitUntilIdle();
    const stream = await openStream(api, "");
    const [first, second] = [idleConnection(limited), idleConnection(limited)];
    await Promise.all([once(first, "connect"), once(second, "connect")]);
    // Its headers never end.
    second.write("GET /healthz HTTP/1.1\r\nX-More: ");
    const closed = once(first, "close");
    expect(await statusThrough(idleConnection(limited))).toBe(200);
    await closed;
    expect([second.closed, stream.isEnded()]).toEqual([false, false]);
    await Promise.all([once(second, "close"), statusThrough(idleConnection(limited))]);
    expect(stream.isEnded()).toBe(false);
    stream.close();
    await limited.stop();
  });

  it("of an authenticated caller is closed last", async () => {
    const limited = await startWorld({ connections: { maxConnections: 2 } });
    const { api } = await limited.board();
    await limited.forge.waitUntilIdle();
    const known = idleConnection(limited);
    const call = `GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.apiKey}\r\n\r\n`;
    expect(await statusThrough(known, call)).toBe(200);
    const unknown = idleConnection(limited);
    const closed = once(unknown, "close");
    await once(unknown, "connect");
    expect(await statusThrough(idleConnection(limited))).toBe(200);
    await closed;
    expect(await statusThrough(known, call)).toBe(200);
    await limited.stop();
  });

  it("is closed at once if all others serve a caller, and is counted", async () => {
    const limited = await startWorld({ connections: { maxConnections: 2 } });
    const { api } = await limited.board();
    await limited.forge.waitUntilIdle();
    const streams = [await openStream(api, ""), await openStream(api, "")];
    await once(idleConnection(limited), "close");
    expect(streams.map((stream) => stream.isEnded())).toEqual([false, false]);
    for (const stream of streams) stream.close();
    const scrape = () =>
      fetch(`${limited.service.baseUrl}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
        .then((response) => response.text())
        .catch(() => "");
    const counted = /^trunkline_limits_reached_total\{limit="connections"\} [1-9]/m;
    await eventually(scrape, (text) => counted.test(text));
    await limited.stop();
  });
});
