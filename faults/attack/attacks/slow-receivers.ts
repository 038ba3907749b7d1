import { startReceiver } from "../../../test/support/stories/outgoing-webhooks.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestBoard } from "../../../test/support/world.ts";
import type { Scene } from "../scene.ts";

const SLOW = 40;
/** An event beside the slow receivers may take this long, or ten times as long as without them. */
const MAX_MS = 3_000;

/** Registers slow receivers for the events of one board, and waits for an event of another board. */
export async function slowReceivers(scene: Scene): Promise<void> {
  const [ours, theirs] = [scene.world.boards.at(0), scene.world.boards.at(3)];
  if (!ours || !theirs) throw new Error("the attack needs four boards");
  // No request gets a response.
  const slow = await startReceiver();
  slow.respondWith(() => undefined);
  const other = await startReceiver();
  const neighbors = await register(theirs, other.url, "neighbor");
  const deliver = async (): Promise<number> => {
    const began = performance.now();
    const before = other.received.length;
    await theirs.api.card({ title: "For the neighbor" });
    while (other.received.length === before && performance.now() - began < 30_000) await sleep(10);
    return Math.round(performance.now() - began);
  };
  const limit = Math.max(MAX_MS, 10 * (await deliver()));
  while (!scene.isOver()) {
    const ids: string[] = [];
    for (let at = 0; at < SLOW; at++) ids.push(await register(ours, slow.url, `slow ${at}`));
    await ours.api.card({ title: "For slow receivers" });
    await sleep(1_000);
    const ms = await deliver();
    if (ms > limit) scene.found(`an event of another board was delivered after ${ms} ms`);
    scene.tried();
    for (const id of ids) await ours.api.delete(`/v1/webhooks/${id}`);
  }
  await theirs.api.delete(`/v1/webhooks/${neighbors}`);
  await Promise.all([slow.close(), other.close()]);
}

async function register({ api }: TestBoard, url: string, name: string): Promise<string> {
  const { status, body, text } = await api.post<{ id: string }>("/v1/webhooks", {
    url,
    kinds: ["card_created"],
  });
  if (status !== 201) throw new Error(`${name} is not registered: ${text}`);
  return body.id;
}
