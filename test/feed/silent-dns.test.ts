/** Receivers whose DNS server is silent do not delay other lookups of the process. */
import { lookup } from "node:dns/promises";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { createHostResolver } from "../../src/actions/webhooks/resolve-host.ts";
import { eventually } from "../support/api.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

const SILENT = 12;
const TIMEOUT_MS = 1_500;
const HEADER_BYTES = 12;
const [NAME_ERROR, ADDRESS] = [3, 1];

let server: Socket;
let world: TestWorld;
let board: TestBoard;
let queries: string[] = [];

beforeAll(async () => {
  server = createSocket("udp4", (query, { port, address }) => {
    const response = responseTo(query);
    if (response) server.send(response, port, address);
  });
  server.bind(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  const resolveHost = createHostResolver({ hasLocalNames: true, servers: [`127.0.0.1:${port}`] });
  world = await startWorld({ webhooks: { resolveHost, timeoutMs: TIMEOUT_MS } });
  board = await world.board();
});
beforeEach(() => {
  queries = [];
});
afterAll(async () => {
  await world.stop();
  server.close();
});

/** `private.` has the address 127.0.0.1, `silent.` no response, other names do not exist. */
function responseTo(query: Buffer): Buffer | null {
  const end = query.indexOf(0, HEADER_BYTES) + 5;
  const name = query
    .subarray(HEADER_BYTES + 1, end - 5)
    .toString("latin1")
    .replaceAll(/[^\w-]/g, ".");
  queries.push(name);
  if (name.startsWith("silent")) return null;
  const isFound = name.startsWith("private") && query.readUInt16BE(end - 4) === ADDRESS;
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180 | (name.startsWith("private") ? 0 : NAME_ERROR), 2);
  header.writeUInt16BE(isFound ? 1 : 0, 6);
  header.fill(0, 8);
  const answer = Buffer.from("c00c000100010000000000047f000001", "hex");
  return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...(isFound ? [answer] : [])]);
}

const pingAt = async (host: string) => {
  const { body } = await board.api.post<{ id: string }>("/v1/webhooks", { url: `https://${host}/` });
  return board.api.post<{ error: string }>(`/v1/webhooks/${body.id}/ping`, {});
};

it("the DNS server of the system is asked, and its address is checked", async () => {
  expect((await pingAt("private.example.com")).body.error).toBe(
    "The host does not lead to a public address.",
  );
  expect(new Set(queries)).toEqual(new Set(["private.example.com"]));
});

it("a name that neither DNS nor this machine knows fails", async () => {
  expect((await pingAt("unknown.example.com")).body.error).toMatch(/ENOTFOUND|EAI_AGAIN/);
});

it("silent DNS servers delay no other lookup, and are not asked after the requests have ended", async () => {
  const pings = Promise.all(Array.from({ length: SILENT }, (_, nth) => pingAt(`silent-${nth}.example.com`)));
  await eventually(
    () => Promise.resolve(new Set(queries.filter((name) => name.startsWith("silent"))).size),
    (names) => names === SILENT,
  );
  const began = performance.now();
  await lookup("localhost");
  expect(performance.now() - began).toBeLessThan(TIMEOUT_MS);
  const errors = (await pings).map(({ body }) => body.error);
  expect(new Set(errors)).toEqual(new Set([`No response within ${TIMEOUT_MS / 1_000} seconds.`]));
  queries = [];
  await pingAt("private.example.com");
  expect(new Set(queries)).toEqual(new Set(["private.example.com"]));
});
