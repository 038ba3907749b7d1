import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "../scene.ts";

/** The time a request may take, 30 s, and what the service needs to end the connection. */
const MAX_SECONDS = 45;
const KEY = "tlk_000000000000_0000000000000000000000000000000000000000000";
const BEGINNINGS: Readonly<Record<string, string>> = {
  "half a request line": "GET /v1/bo",
  "headers without an end": "GET /v1/board HTTP/1.1\r\nHost: x\r\nX-Slow: ",
  "a body that never comes": `POST /v1/cards HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: 1000\r\n\r\n`,
  "a chunked body without an end":
    "POST /api/github/webhooks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
};

/** Keeps connections open by sending a byte every now and then, and ignores that the service ends its side. */
export async function slowClients(scene: Scene): Promise<void> {
  while (!scene.isOver()) {
    await Promise.all(
      Object.entries(BEGINNINGS).map(async ([what, beginning]) => {
        const seconds = await secondsOpen(scene.world.service.baseUrl, beginning);
        scene.tried();
        if (seconds > MAX_SECONDS)
          scene.found(`a connection with ${what} was open for more than ${MAX_SECONDS} s`);
      }),
    );
  }
}

async function secondsOpen(baseUrl: string, beginning: string): Promise<number> {
  const { hostname, port } = new URL(baseUrl);
  const began = performance.now();
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on("error", () => undefined);
  socket.resume();
  socket.write(beginning);
  const seconds = (): number => (performance.now() - began) / 1_000;
  while (!socket.closed && seconds() <= MAX_SECONDS) {
    await sleep(500);
    // A write fails with EPIPE or ECONNRESET after the service has destroyed the connection.
    socket.write("a");
  }
  socket.destroy();
  return seconds();
}
