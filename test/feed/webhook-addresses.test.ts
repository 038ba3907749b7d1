/** Requests of webhooks reach public addresses only, whatever the URL and the DNS say. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { createWebhookClient, type WebhookClientOptions } from "../../src/actions/webhooks/webhook-client.ts";
import { eventually } from "../support/api.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

/** Records the address of each connection. */
let listener: Server;
let port: number;
let connections: (string | undefined)[] = [];
/** What the names resolve to, one after the other. */
let responses: string[] = [];
const asked: string[] = [];
let world: TestWorld;
let board: TestBoard;

const resolveHost: NonNullable<WebhookClientOptions["resolveHost"]> = (host) => {
  asked.push(host);
  const address = (responses.length > 1 ? responses.shift() : responses[0]) ?? "192.0.2.1";
  return Promise.resolve([{ address, family: address.includes(":") ? 6 : 4 }]);
};

beforeAll(async () => {
  listener = createServer((socket) => {
    connections.push(socket.localAddress);
    socket.destroy();
  });
  // All addresses of this machine, IPv6 too.
  listener.listen(0, "::");
  await once(listener, "listening");
  port = (listener.address() as AddressInfo).port;
  world = await startWorld({ webhooks: { resolveHost, timeoutMs: 400 } });
  board = await world.board();
});
beforeEach(() => {
  connections = [];
  asked.splice(0);
});
afterEach(() => {
  if (connections.length > 0) throw new Error(`a packet reached ${connections.join()}`);
});
afterAll(async () => {
  await world.stop();
  listener.close();
});

const REQUEST = { headers: {}, body: "{}" };

const create = (url: string) => board.api.post<{ id: string; message: string }>("/v1/webhooks", { url });

const PRIVATE = [
  "127.0.0.1",
  "127.1.2.3",
  "0.0.0.0",
  "10.0.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "192.168.1.1",
  "192.0.2.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "fe80::1",
  "fc00::1",
  "ff02::1",
  "192.0.0.8",
  "192.88.99.1",
  "198.18.0.1",
  "203.0.113.1",
  "240.0.0.1",
  "::127.0.0.1",
  "::10.0.0.1",
  "::ffff:0:127.0.0.1",
  "64:ff9b:1::7f00:1",
  "100::1",
  "2001::7f00:1",
  "2001:db8::1",
  "3fff::1",
  "5f00::1",
  "fec0::1",
];

describe("a URL with a public address", () => {
  it.each([
    "https://8.8.8.8/",
    "https://192.0.1.1/",
    "https://[2606:4700::1111]/",
    "https://[2001:4860:4860::8888]/",
  ])("%s is accepted", async (url) => {
    const { status, body } = await create(url);
    expect(status).toBe(201);
    await board.api.delete(`/v1/webhooks/${body.id}`);
  });
});

describe("a URL that can only be wrong", () => {
  it.each([
    ["nonsense", "must be a URL that starts with https://"],
    ["ftp://hooks.example.com/", "must be a URL that starts with https://"],
    ["https://", "must be a URL that starts with https://"],
    ["http://hooks.example.com/", "must start with https://"],
    ["https://ada@hooks.example.com/", "must not contain a user name or a password"],
    ["https://:secret@hooks.example.com/", "must not contain a user name or a password"],
    ["https://localhost/", "must lead to a public address"],
    ["https://hooks.localhost./", "must lead to a public address"],
    ["https://127.0.0.1/", "must lead to a public address"],
    ["https://0x7f.1/", "must lead to a public address"],
    ["https://2130706433/", "must lead to a public address"],
    ["https://[::1]/", "must lead to a public address"],
    ["https://[::ffff:127.0.0.1]/", "must lead to a public address"],
    ["https://[::127.0.0.1]/", "must lead to a public address"],
    ["https://[64:ff9b::7f00:1]/", "must lead to a public address"],
    ["https://[2002:7f00:1::]/", "must lead to a public address"],
    ["https://[2001::7f00:1]/", "must lead to a public address"],
    ["https://192.0.0.8/", "must lead to a public address"],
    ["https://169.254.169.254/latest/meta-data", "must lead to a public address"],
    ["https://intranet/", "must lead to a public address"],
  ])("%s is refused", async (url, message) => {
    const refused = await create(url);
    expect([refused.status, refused.body.message]).toEqual([400, `body.url: ${message}`]);
  });

  it("is refused in a change as well", async () => {
    const { body } = await create("https://hooks.example.com/");
    const refused = await board.api.patch(`/v1/webhooks/${body.id}`, { url: "https://10.0.0.1/" });
    expect(refused.status).toBe(400);
    await board.api.delete(`/v1/webhooks/${body.id}`);
  });
});

describe("a URL that shows another host than it leads to", () => {
  it.each([
    [
      String.raw`https://hooks.example.com\@trusted.example.com/`,
      "https://hooks.example.com/@trusted.example.com/",
    ],
    ["https://hooks.exa\tmple.com/a\r\nb", "https://hooks.example.com/ab"],
    ["https://hooks.example.com/\u202emoc.elpmaxe", "https://hooks.example.com/%E2%80%AEmoc.elpmaxe"],
    ["https://hooks.ex\u0430mple.com/", "https://hooks.xn--exmple-4nf.com/"],
  ])("is stored in its normal form: %j", async (given, url) => {
    const created = await board.api.post<{ id: string }>("/v1/webhooks", { url: given });
    expect([created.status, created.body]).toMatchObject([201, { url }]);
    const path = `/v1/webhooks/${created.body.id}`;
    await board.api.patch(path, { url: "https://hooks.example.com/" });
    expect((await board.api.patch(path, { url: given })).body).toMatchObject({ url });
    await board.api.delete(path);
  });
});

describe("no packet reaches a private address", () => {
  it.each(PRIVATE)("when a name leads to %s", async (address) => {
    responses = [address];
    const client = createWebhookClient({ resolveHost, timeoutMs: 400 });
    const { status, error } = await client.post(`https://hooks.example.com:${port}/`, REQUEST);
    expect([status, error]).toEqual([null, "The host does not lead to a public address."]);
  });

  it.each(PRIVATE)("when the URL names %s", async (address) => {
    responses = [address];
    const client = createWebhookClient({ resolveHost, timeoutMs: 400 });
    for (const scheme of ["http", "https"]) {
      const url = `${scheme}://${address.includes(":") ? `[${address}]` : address}:${port}/`;
      const { status, error } = await client.post(url, REQUEST);
      expect([status, error]).toEqual([
        null,
        expect.stringMatching(
          /does not lead to a public address|must lead to a public|must start with https/,
        ),
      ]);
    }
  });

  it("when one of several addresses is private", async () => {
    const client = createWebhookClient({
      resolveHost: () =>
        Promise.resolve([
          { address: "127.0.0.1", family: 4 },
          { address: "8.8.8.8", family: 4 },
        ]),
      timeoutMs: 400,
    });
    const { error } = await client.post(`https://hooks.example.com:${port}/`, REQUEST);
    expect(error).toBe("The host does not lead to a public address.");
  });

  it("when a name in a webhook leads to one", async () => {
    responses = ["127.0.0.1"];
    const { status, body } = await create(`https://hooks.example.com:${port}/`);
    expect(status).toBe(201);
    await board.api.card();
    await eventually(
      () => board.db("webhook_deliveries").where({ webhook_id: body.id }).select("error"),
      ([attempt]) => attempt?.error === "The host does not lead to a public address.",
    );
    await board.api.delete(`/v1/webhooks/${body.id}`);
  });

  it("when a name leads to another address after the check", async () => {
    responses = ["127.0.0.2", "127.0.0.1"];
    const client = createWebhookClient({ resolveHost, allowedAddresses: ["127.0.0.2/32"], timeoutMs: 400 });
    await client.post(`https://rebinding.example.com:${port}/`, REQUEST);
    expect(connections.splice(0)).toEqual(["::ffff:127.0.0.2"]);
  });

  it("with HTTP when only other addresses are allowed", async () => {
    responses = ["127.0.0.1"];
    const client = createWebhookClient({ resolveHost, allowedAddresses: ["10.0.0.0/8"], timeoutMs: 400 });
    for (const scheme of ["http", "https"]) {
      const url = `${scheme}://hooks.example.com:${port}/`;
      const { status } = await client.post(url, REQUEST);
      expect(status).toBeNull();
    }
  });
});

it("looks up no name for a request that is aborted already", async () => {
  let lookups = 0;
  const client = createWebhookClient({
    resolveHost: () => {
      lookups += 1;
      return Promise.reject(new Error("no such host"));
    },
  });
  const signal = AbortSignal.abort(new Error("the service stops"));
  await expect(client.post("https://hooks.example.com/", REQUEST, signal)).rejects.toThrow(
    "the service stops",
  );
  expect(lookups).toBe(0);
});
