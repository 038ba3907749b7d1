import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { WEBHOOK_PATH } from "../../../src/app.ts";
import { growthDuring } from "../memory.ts";
import type { Scene } from "../scene.ts";

const SENDERS = 10;
const BODY_BYTES = 25 * 1024 * 1024;
const CHUNK = Buffer.alloc(64 * 1024, " ");
/** What the senders may cost, in MiB: the bytes in flight, their copy, and what is not yet collected. */
const MAX_GROWTH_MIB = 150;
const HEADER_SETS: readonly (readonly string[])[] = [
  [],
  ["X-GitHub-Event: push", "X-GitHub-Delivery: 019a0000-0000-7000-8000-000000000000"],
  [
    "X-GitHub-Event: push",
    "X-GitHub-Delivery: 019a0000-0000-7000-8000-000000000000",
    `X-Hub-Signature-256: sha256=${"0".repeat(64)}`,
  ],
];

/** Sends large webhooks without a valid signature from several connections at the same time. */
export async function floods(scene: Scene): Promise<void> {
  const { world, random } = scene;
  while (!scene.isOver()) {
    const headers = random.pick(HEADER_SETS) ?? [];
    const growth = await growthDuring(world.service.pid(), () =>
      Promise.all(Array.from({ length: SENDERS }, () => send(world.service.baseUrl, headers))),
    );
    scene.tried();
    const health = await fetch(`${world.service.baseUrl}/healthz`);
    if (health.status !== 200) scene.found(`GET /healthz is ${health.status} during a flood of webhooks`);
    if (growth > MAX_GROWTH_MIB)
      scene.found(
        `${SENDERS} unsigned webhooks of 25 MiB (${headers.length} headers) cost ${Math.round(growth)} MiB`,
      );
    await sleep(1_000);
  }
}

/** Resolves when the service closes the connection or has read everything. */
function send(baseUrl: string, headers: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        [
          `POST ${WEBHOOK_PATH} HTTP/1.1`,
          `Host: ${hostname}`,
          "Content-Type: application/json",
          `Content-Length: ${BODY_BYTES}`,
          "Connection: close",
          ...headers,
          "",
          "",
        ].join("\r\n"),
      );
      pour(socket, BODY_BYTES);
    });
    socket.resume();
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
  });
}

function pour(socket: Socket, left: number): void {
  if (left <= 0 || socket.destroyed || !socket.writable) return;
  socket.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)), (error) => {
    if (!error) pour(socket, left - CHUNK.length);
  });
}
