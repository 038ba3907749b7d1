import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it } from "@jest/globals";
import { httpFetch, type HttpAnswer } from "../../src/forge/github/http-fetch.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Serves so until the test ends. Gives its address, and the connections it was asked over. */
async function serve(answer: RequestListener) {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    sockets.add(request.socket);
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`, sockets };
}

const textOf = async ({ body }: HttpAnswer): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const echo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, headers } = request;
  response.end(
    JSON.stringify({
      method,
      kind: headers["x-kind"],
      length: headers["content-length"],
      body: Buffer.concat(chunks).toString(),
    }),
  );
};

it("sends a method, headers and a text, and tells status and headers", async () => {
  const { url } = await serve((request, response) => {
    response.writeHead(201, { "X-Request": "é", "set-cookie": ["a=1", "b=2"] });
    void echo(request, response);
  });
  const answer = await httpFetch(url, { method: "POST", headers: { "x-kind": "k" }, body: '{"ü":1}' });
  expect([answer.status, answer.headers.get("x-request")]).toEqual([201, "é"]);
  expect(JSON.parse(await textOf(answer))).toEqual({
    method: "POST",
    kind: "k",
    length: "8",
    body: '{"ü":1}',
  });
});

it("asks again over the connection it has", async () => {
  const { url, sockets } = await serve((_, response) => response.end("ok"));
  for (let turn = 0; turn < 3; turn++) expect(await textOf(await httpFetch(url, {}))).toBe("ok");
  expect(sockets.size).toBe(1);
});

it("unpacks what is sent packed, and follows nobody elsewhere", async () => {
  const { url } = await serve((request, response) => {
    response.writeHead(302, { "content-encoding": "gzip", location: "/elsewhere" });
    response.end(gzipSync(`packed for ${request.headers["accept-encoding"]}, at ${request.url}`));
  });
  const answer = await httpFetch(url, {});
  expect([answer.status, await textOf(answer)]).toEqual([302, "packed for gzip, at /path"]);
});

it.each(["plain", "gzip"])("fails where an answer (%s) is cut in its middle", async (encoding) => {
  const { url } = await serve((_, response) => {
    response.writeHead(200, { "content-length": "1000", "content-encoding": encoding });
    response.write(gzipSync("some").subarray(0, 12), () => response.destroy());
  });
  await expect(httpFetch(url, {}).then(textOf)).rejects.toMatchObject({ message: "aborted" });
});

it("fails with the reason where nobody answers, or the connection is cut before", async () => {
  const { url } = await serve((request) => request.socket.destroy());
  await expect(httpFetch(url, {})).rejects.toMatchObject({ code: "ECONNRESET" });
  await expect(httpFetch("http://127.0.0.1:9/", {})).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

it.each([
  ["before it", { name: "AbortError" }],
  ["in its middle", { message: "aborted" }],
])("waits for an answer no longer than it may, given up %s", async (when, failure) => {
  const asked = new AbortController();
  const { url } = await serve((_, response) => {
    if (when === "in its middle") response.write("some");
    setTimeout(() => asked.abort(), 20);
  });
  await expect(httpFetch(url, { signal: asked.signal }).then(textOf)).rejects.toMatchObject(failure);
});
