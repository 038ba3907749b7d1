import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { createMonitor } from "../../src/actions/boards/monitors.ts";
import { eventually } from "../support/api.ts";
import { readNothing, trickle } from "../support/raw-http.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld({ connections: { headersMs: 1_000, requestMs: 2_000, silenceMs: 3_000 } });
  board = await world.board();
});
afterAll(() => world.stop());

const timedOut = {
  status: 408,
  body: { message: "The request did not arrive in time.", error: "Request Timeout", statusCode: 408 },
};

describe("a slow client", () => {
  it("that sends its headers slowly gets 408 while others are served", async () => {
    const { baseUrl } = world.service;
    const response = trickle(baseUrl, "GET /healthz HTTP/1.1\r\nHost: x\r\n", "X-More: x\r\n");
    expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200);
    expect(await response).toMatchObject(timedOut);
  });

  it("that sends its body slowly gets 408, and its idempotency key is free", async () => {
    const key = randomUUID();
    const head = [
      "POST /v1/cards HTTP/1.1",
      "Host: x",
      `Authorization: Bearer ${board.api.apiKey}`,
      `Idempotency-Key: ${key}`,
      "Content-Type: application/json",
      "Content-Length: 100000",
    ];
    const response = await trickle(board.api.baseUrl, `${head.join("\r\n")}\r\n\r\n{"title":"`, "x");
    expect(response).toMatchObject(timedOut);
    expect((await board.api.get("/v1/backlog")).body).toEqual([]);
    expect((await board.api.post("/v1/cards", { title: "In one go" }, { key })).status).toBe(201);
  });

  it("that sends a webhook slowly gets 408, and the delivery is not stored", async () => {
    const head = [
      "POST /api/github/webhooks HTTP/1.1",
      "Host: x",
      "Content-Length: 100000",
      "X-GitHub-Event: ping",
      `X-GitHub-Delivery: ${randomUUID()}`,
      `X-Hub-Signature-256: sha256=${"0".repeat(64)}`,
    ];
    const before = await board.db("deliveries").count();
    const response = await trickle(board.api.baseUrl, `${head.join("\r\n")}\r\n\r\n{"zen":"`, "x");
    expect(response).toMatchObject(timedOut);
    expect(await board.db("deliveries").count()).toEqual(before);
  });

  it("that keeps sending after its response is disconnected", async () => {
    const { hostname, port } = new URL(world.service.baseUrl);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    let response = "";
    socket.on("data", (chunk) => (response += String(chunk)));
    socket.on("error", () => undefined);
    socket.write("GET /healthz HTTP/1.1\r\nX-More: ");
    const dripping = setInterval(() => socket.write("x"), 200);
    await eventually(
      () => Promise.resolve(socket.closed),
      (isClosed) => isClosed,
    );
    clearInterval(dripping);
    expect(response).toMatch(/^HTTP\/1.1 408 /);
  });

  it("that does not read its response is disconnected while others are served", async () => {
    const { baseUrl } = world.service;
    await readNothing(baseUrl, "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n");
    expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200);
  });
});

describe("with the limits of production, a body of an unknown sender", () => {
  it("has ten seconds to arrive, as GitHub waits no longer", async () => {
    const patient = await startWorld();
    const { projectId } = await patient.board();
    const { id } = await createMonitor(patient.service.deps, { projectId, name: "Production" });
    const webhook = [
      "POST /api/github/webhooks HTTP/1.1",
      "X-GitHub-Event: ping",
      `X-GitHub-Delivery: ${randomUUID()}`,
      `X-Hub-Signature-256: sha256=${"0".repeat(64)}`,
    ];
    const report = [`POST /monitors/${id} HTTP/1.1`, `Sentry-Hook-Signature: ${"0".repeat(64)}`];
    const responses = await Promise.all(
      [webhook, report].map((head) => {
        const lines = [...head, "Host: x", "Content-Length: 100000", "", "{"];
        return trickle(patient.service.baseUrl, lines.join("\r\n"), "x");
      }),
    );
    const late = { message: "The body did not arrive within 10 seconds. Send it again." };
    expect(responses).toMatchObject([late, late].map((body) => ({ status: 408, body })));
    await patient.stop();
  });
});
