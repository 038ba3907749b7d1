import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { issueCredential } from "../../../src/actions/credentials/credentials.ts";
import { makeApi, type Api } from "../../../test/support/api.ts";
import type { TestBoard } from "../../../test/support/world.ts";
import { growthDuring } from "../memory.ts";
import type { Scene } from "../scene.ts";

const AT_ONCE = 64;
const MAX_GROWTH_MIB = 150;
const BODIES = 6;
const TINY_CHUNKS = "1\r\n \r\n".repeat(300_000);

/** Keeps a key busy with streams, polls and bodies of tiny chunks: its other calls must succeed. */
export async function busyKeys(scene: Scene): Promise<void> {
  const [board] = scene.world.boards.slice(1);
  if (!board) throw new Error("the attack needs a second board");
  while (!scene.isOver()) {
    await holdStreams(scene, await newKey(scene, board), "/v1/events/stream", "event streams");
    const { body } = await board.api.get<{ next: string }>("/v1/events");
    const poll = `/v1/events?after=${body.next}&wait=25&card=2000000000`;
    await holdStreams(scene, await newKey(scene, board), poll, "polls that wait");
    await sendTinyChunks(scene, await newKey(scene, board));
    await sleep(1_000);
  }
}

async function newKey({ world }: Scene, { workspaceId }: TestBoard): Promise<Api> {
  const { apiKey } = await issueCredential(world.deps, {
    name: "busy",
    boards: [{ workspaceId, role: "member" }],
    scopes: ["read", "write"],
    expiresAt: null,
  });
  return makeApi(world.service.baseUrl, apiKey);
}

async function holdStreams(scene: Scene, api: Api, path: string, what: string): Promise<void> {
  const get = [`GET ${path} HTTP/1.1`, "Host: x", `Authorization: Bearer ${api.apiKey}`, "", ""];
  const sockets = Array.from({ length: AT_ONCE }, () => open(api, get));
  // A poll sends nothing until it ends.
  await sleep(1_500);
  const { status, text } = await api.get("/v1/me");
  scene.tried();
  if (status !== 200) scene.found(`a call beside ${AT_ONCE} ${what} of its key: ${status} ${text}`);
  for (const socket of sockets) socket.destroy();
}

async function sendTinyChunks(scene: Scene, api: Api): Promise<void> {
  const growth = await growthDuring(scene.world.service.pid(), async () => {
    const post = [
      "POST /v1/cards HTTP/1.1",
      "Host: x",
      `Authorization: Bearer ${api.apiKey}`,
      `Idempotency-Key: ${randomUUID()}`,
      "Content-Type: application/json",
      "Transfer-Encoding: chunked",
      "",
      "",
    ];
    const sockets = Array.from({ length: BODIES }, () => open(api, post));
    for (const socket of sockets) socket.write(TINY_CHUNKS);
    const end = performance.now() + 6_000;
    while (sockets.some(({ closed }) => !closed) && performance.now() < end) await sleep(50);
    for (const socket of sockets) socket.destroy();
  });
  scene.tried();
  if (growth > MAX_GROWTH_MIB) scene.found(`${BODIES} bodies of tiny chunks cost ${Math.round(growth)} MiB`);
}

function open({ baseUrl }: Api, lines: readonly string[]): Socket {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined).resume();
  socket.write(lines.join("\r\n"));
  return socket;
}
