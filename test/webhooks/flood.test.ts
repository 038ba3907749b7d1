import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { eventually } from "../support/api.ts";
import { deliver } from "../support/forge/deliveries.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

const MIB = 1024 * 1024;
const SIGNATURE = `X-Hub-Signature-256: sha256=${"0".repeat(64)}`;
const EVENT = "X-GitHub-Event: push";
const DELIVERY = `X-GitHub-Delivery: ${randomUUID()}`;

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface Sender {
  readonly socket: Socket;
  /** The response of the service so far. */
  readonly response: () => string;
}

/** Sends headers that announce a body of 25 MiB. */
function announce(headers: readonly string[]): Sender {
  const { hostname, port } = new URL(world.service.baseUrl);
  const socket = connect(Number(port), hostname);
  const length = `Content-Length: ${25 * MIB}`;
  socket.write(
    [`POST ${WEBHOOK_PATH} HTTP/1.1`, `Host: ${hostname}`, length, ...headers, "", ""].join("\r\n"),
  );
  let response = "";
  socket.on("data", (chunk) => (response += String(chunk)));
  socket.on("error", () => undefined);
  return { socket, response: () => response };
}

const answered = ({ response }: Sender): Promise<string> =>
  eventually(
    () => Promise.resolve(response()),
    (text) => text !== "",
  );
const closed = ({ socket }: Sender): Promise<unknown> =>
  eventually(
    () => Promise.resolve(socket.closed),
    (isClosed) => isClosed,
  );

describe("a large request", () => {
  it.each([
    ["a signature", [EVENT, DELIVERY], 401],
    ["a valid signature", [EVENT, DELIVERY, "X-Hub-Signature-256: sha256=zz"], 401],
    ["an event", [SIGNATURE, DELIVERY], 400],
    ["a delivery id", [SIGNATURE, EVENT], 400],
  ])("without %s is refused before its body is read", async (_, headers, status) => {
    const sender = announce(headers);
    expect(await answered(sender)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    await closed(sender);
  });

  it("is refused if the process holds too many bytes; later requests are accepted", async () => {
    const senders = Array.from({ length: 6 }, () => announce([SIGNATURE, EVENT, DELIVERY]));
    const part = Buffer.alloc(15 * MIB, " ");
    for (const { socket } of senders) socket.write(part);
    const refused = await eventually(
      () => Promise.resolve(senders.filter(({ response }) => response() !== "")),
      ({ length }) => length > 0,
    );
    expect(refused[0]?.response()).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1/i);
    for (const { socket } of senders) socket.destroy();
    await eventually(
      () => deliver(world, "ping", { zen: "Half measures are as bad as nothing at all.", hook_id: 1 }),
      ({ status }) => status === 202,
    );
  });
});
