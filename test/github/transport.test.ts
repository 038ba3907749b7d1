import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it } from "@jest/globals";
import {
  createTransport,
  monotonicClock,
  TransportFailure,
  type CompleteResponse,
} from "../../src/forge/github/calls/transport.ts";

const TIMEOUT_MS = 2_000;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Starts a server for one test and returns its URL. */
async function serve(result: RequestListener): Promise<string> {
  const server = createServer(result).listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(baseUrl: string, init: RequestInit = {}): Promise<CompleteResponse> {
  const transport = createTransport({ baseUrl, requestTimeoutMs: TIMEOUT_MS, clock: monotonicClock });
  const about = { account: "app", route: "GET /path" };
  return transport.send(`${baseUrl}/path`, init, {
    isRepeatable: false,
    deadline: monotonicClock.now() + 10_000,
    about,
  });
}

it("returns status, headers and decompressed text", async () => {
  const baseUrl = await serve((request, response) => {
    response.writeHead(201, { "content-encoding": "gzip", "x-path": request.url });
    response.end(gzipSync('{"ü":1}'));
  });
  const result = await send(baseUrl);
  expect([result.status, result.headers.get("x-path"), await result.text()]).toEqual([
    201,
    "/path",
    '{"ü":1}',
  ]);
});

it("does not repeat a write after a redirect that could change its method", async () => {
  const urls: unknown[] = [];
  const baseUrl = await serve((request, response) => {
    urls.push(request.url);
    response.writeHead(302, { location: "/elsewhere" }).end();
  });
  expect((await send(baseUrl, { method: "POST", body: "{}" })).status).toBe(302);
  expect(urls).toEqual(["/path"]);
});

it.each(["plain", "gzip"])("fails if the response (%s) is truncated", async (encoding) => {
  const baseUrl = await serve((_, response) => {
    response.writeHead(200, { "content-length": "1000", "content-encoding": encoding });
    response.write(gzipSync("some").subarray(0, 12), () => response.destroy());
  });
  await expect(send(baseUrl)).rejects.toThrow(TransportFailure);
});

it("fails with the reason if nothing listens or the connection is closed", async () => {
  const baseUrl = await serve((request) => request.socket.destroy());
  await expect(send(baseUrl)).rejects.toThrow("UND_ERR_SOCKET");
  const closed = await serve(() => undefined);
  await ends.pop()?.();
  await expect(send(closed)).rejects.toThrow("ECONNREFUSED");
});

it.each(["before it", "in its middle"])("fails on timeout if the response stops %s", async (when) => {
  const baseUrl = await serve((_, response) => {
    if (when === "in its middle") response.write("some");
  });
  await expect(send(baseUrl)).rejects.toThrow(`no response within ${TIMEOUT_MS} ms`);
});
