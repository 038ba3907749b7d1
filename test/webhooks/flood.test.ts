import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { createMonitor } from "../../src/actions/boards/monitors.ts";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { eventually } from "../support/api.ts";
import { deliver } from "../support/forge/deliveries.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const MIB = 1024 * 1024;
const SIGNATURE = `X-Hub-Signature-256: sha256=${"0".repeat(64)}`;
const EVENT = "X-GitHub-Event: push";
const DELIVERY = `X-GitHub-Delivery: ${randomUUID()}`;

const world = useWorld();

interface Sender {
  readonly socket: Socket;
  /** The response of the service so far. */
  readonly response: () => string;
}

/** Sends headers that announce a body, by default of 25 MiB. */
function announce(
  headers: readonly string[],
  { path = WEBHOOK_PATH, length = `Content-Length: ${25 * MIB}` } = {},
): Sender {
  const { hostname, port } = new URL(world.service.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write([`POST ${path} HTTP/1.1`, `Host: ${hostname}`, length, ...headers, "", ""].join("\r\n"));
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

const UNVERIFIED = [SIGNATURE, EVENT, DELIVERY];
const ping = { zen: "Half measures are as bad as nothing at all.", hook_id: 1 };

/** The senders that have a response, once there are some. */
const refusedOf = (senders: readonly Sender[]): Promise<readonly Sender[]> =>
  eventually(
    () => Promise.resolve(senders.filter(({ response }) => response() !== "")),
    ({ length }) => length > 0,
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

  it("that is silent holds up no delivery; the oldest are ended for newer ones", async () => {
    const senders: Sender[] = [];
    const part = Buffer.alloc(15 * MIB, " ");
    for (let nth = 0; nth < 4; nth++) {
      const sender = announce(UNVERIFIED);
      await new Promise((written) => sender.socket.write(part, written));
      senders.push(sender);
      const { status } = await deliver(world, "ping", ping);
      expect(status).toBe(202);
    }
    const [oldest] = await refusedOf(senders);
    expect(oldest).toBe(senders[0]);
    expect(oldest?.response()).toMatch(/^HTTP\/1.1 503 [\s\S]*Retry-After: 1/i);
    expect(senders.at(-1)?.response()).toBe("");
    const large = `{"zen":"${"x".repeat(20 * MIB)}"}`;
    expect((await deliver(world, "ping", large)).status).toBe(202);
    for (const { socket } of senders) socket.destroy();
  });

  it("is ended before small ones", async () => {
    const small = Array.from({ length: 20 }, () => announce(UNVERIFIED, { length: "Content-Length: 40000" }));
    for (const { socket } of small) await new Promise((written) => socket.write("x".repeat(39_000), written));
    const large = Array.from({ length: 4 }, () => announce(UNVERIFIED));
    for (const { socket } of large) socket.write(Buffer.alloc(15 * MIB, " "));
    await refusedOf(large);
    expect(small.filter(({ response }) => response() !== "")).toEqual([]);
    for (const { socket } of [...small, ...large]) socket.destroy();
  });

  it("of tiny chunks counts with what each chunk costs", async () => {
    const sender = announce(UNVERIFIED, { length: "Transfer-Encoding: chunked" });
    // 100,000 bytes of body.
    sender.socket.write("1\r\nx\r\n".repeat(100_000));
    expect(await answered(sender)).toMatch(/^HTTP\/1.1 503 /);
    await closed(sender);
  });
});

describe("a report of a monitor", () => {
  const KEYED = `Sentry-Hook-Signature: ${"0".repeat(64)}`;
  const length = `Content-Length: ${MIB}`;
  let board: TestBoard;
  let path: string;
  beforeAll(async () => {
    board = await world.board();
    const { id } = await createMonitor(world.service.deps, {
      projectId: board.projectId,
      name: "Production",
    });
    path = `/monitors/${id}`;
  });

  it.each([
    ["without a signature", () => announce([], { path, length }), 401],
    ["with half a signature", () => announce([KEYED.slice(0, -32)], { path, length }), 401],
    ["for no monitor", () => announce([KEYED], { path: `/monitors/${randomUUID()}`, length }), 404],
  ])("%s is refused before its body is read", async (_, send, status) => {
    const sender = send();
    expect(await answered(sender)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    await closed(sender);
  });

  it("counts together with deliveries that are not verified", async () => {
    const senders = Array.from({ length: 40 }, () => announce([KEYED], { path, length }));
    const part = Buffer.alloc(MIB - 1, " ");
    for (const { socket } of senders) socket.write(part);
    const [refused] = await refusedOf(senders);
    expect(refused?.response()).toMatch(/^HTTP\/1.1 503 /);
    expect((await deliver(world, "ping", ping)).status).toBe(202);
    for (const { socket } of senders) socket.destroy();
  });
});

describe("the calls of a board", () => {
  it("whose bodies are too large in total get 429, those of another board do not", async () => {
    const [busy, other] = [await world.board(), await world.board()];
    const headers = [
      `Authorization: Bearer ${busy.api.apiKey}`,
      `Idempotency-Key: ${randomUUID()}`,
      "Content-Type: application/json",
    ];
    const senders = Array.from({ length: 9 }, () =>
      announce(headers, { path: "/v1/cards", length: `Content-Length: ${MIB}` }),
    );
    for (const { socket } of senders) socket.write(Buffer.alloc(MIB - 1, " "));
    const [refused] = await refusedOf(senders);
    expect(refused?.response()).toMatch(/^HTTP\/1.1 429 [\s\S]*bodies of this board's calls/);
    expect((await other.api.post("/v1/cards", { title: "A neighbor's" })).status).toBe(201);
    for (const { socket } of senders) socket.destroy();
    await eventually(
      () => busy.api.post("/v1/cards", { title: "Later" }),
      ({ status }) => status === 201,
    );
  });
});
