import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { issueCredential } from "../../../src/actions/credentials/credentials.ts";
import { revokeCredential } from "../../../src/store/tenancy/credentials.ts";
import { makeApi, type Api } from "../../../test/support/api.ts";
import { openStream, type OpenStream } from "../../../test/support/stories/event-stream.ts";
import type { TestBoard } from "../../../test/support/world.ts";
import type { Scene } from "../scene.ts";

/** A stream checks its credential every 15 seconds, a waiting poll after at most 25. */
const REVOKED_MS = 35_000;
const READERS = 20;
/** No board has so many cards. */
const NO_CARD = 2_000_000_000;

/**
 * Follows the events of a board with a credential that is revoked at a random moment, also by
 * clients that stop reading or half-close, and asks for those of another board.
 */
export async function eventStreams(scene: Scene): Promise<void> {
  const { world, random } = scene;
  const [ours, theirs] = world.boards.slice(-2);
  if (!ours || !theirs) throw new Error("the attack needs two boards");
  while (!scene.isOver()) {
    const { apiKey, clientId } = await issueCredential(world.deps, {
      name: "reader",
      boards: [{ workspaceId: ours.workspaceId, role: "viewer" }],
      scopes: ["read"],
      expiresAt: null,
    });
    const reader = makeApi(ours.api.baseUrl, apiKey);
    await askForOtherBoard(scene, reader, theirs);
    const streams = await Promise.all(
      Array.from({ length: READERS }, () => openStream(reader, random.chance(0.5) ? "?after=0" : "")),
    );
    const idle = Array.from({ length: READERS }, () => idleReader(reader, random.chance(0.5)));
    const { body } = await reader.get<{ next: string }>("/v1/events");
    const poll = reader.get(`/v1/events?after=${body.next}&wait=25&card=${NO_CARD}`);
    await ours.api.card({ title: `Before the revocation of ${clientId}` });
    await sleep(random.between(50, 1_500));
    await revokeCredential(world.deps.db, clientId);
    scene.tried();
    await checkRevoked(scene, ours, `After the revocation of ${clientId}`, { streams, idle, poll });
  }
}

/** A credential reads neither the events nor the stream of a board that it does not reach. */
async function askForOtherBoard(scene: Scene, reader: Api, { workspaceId }: TestBoard): Promise<void> {
  const headers = { "x-service-workspace": workspaceId };
  for (const path of ["/v1/events?after=0", "/v1/events/stream?after=0"]) {
    const { status, text } = await reader.get(path, { headers });
    if (status !== 400) scene.found(`GET ${path} of another board: ${status} ${text}`);
  }
}

/** After the revocation, all readers are disconnected, and no later event reaches them. */
async function checkRevoked(
  scene: Scene,
  board: TestBoard,
  title: string,
  readers: {
    readonly streams: readonly OpenStream[];
    readonly idle: readonly Socket[];
    readonly poll: ReturnType<Api["get"]>;
  },
): Promise<void> {
  await sleep(REVOKED_MS);
  await board.api.card({ title });
  await sleep(1_000);
  const { streams, idle } = readers;
  const { status, text } = await readers.poll;
  // Another attack uses up the invalid keys of this address.
  if (status !== 401 && status !== 429)
    scene.found(`a poll that waited during a revocation: ${status} ${text}`);
  const open = streams.filter((stream) => !stream.isEnded());
  if (open.length > 0) scene.found(`${open.length} streams are open ${REVOKED_MS} ms after the revocation`);
  const late = streams.filter(({ frames }) => frames.some(({ data }) => data?.includes(title)));
  if (late.length > 0) scene.found(`${late.length} streams show a card made after the revocation`);
  // A client learns of the end after what was sent before.
  for (const socket of idle) socket.resume();
  await sleep(1_000);
  const silent = idle.filter(({ readableEnded, destroyed }) => !readableEnded && !destroyed);
  if (silent.length > 0) scene.found(`${silent.length} streams without a reader are open`);
  for (const socket of idle) socket.destroy();
  for (const stream of streams) stream.close();
}

/** A client that opens a stream and reads nothing, and may end its side of the connection. */
function idleReader({ baseUrl, apiKey }: Api, isHalfClosed: boolean): Socket {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(
    `GET /v1/events/stream?after=0 HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`,
  );
  if (isHalfClosed) socket.end();
  return socket;
}
