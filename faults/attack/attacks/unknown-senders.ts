import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { WEBHOOK_PATH } from "../../../src/app.ts";
import { FLOODS } from "../floods.ts";
import { growthDuring } from "../memory.ts";
import type { Scene } from "../scene.ts";

const FLOOD_MS = 8_000;
const PAUSE_MS = 50;
const MAX_GROWTH_MIB = 150;

/** Floods the service without a key while GitHub delivers and a neighbor calls: both must succeed. */
export async function unknownSenders(scene: Scene): Promise<void> {
  const { world } = scene;
  while (!scene.isOver()) {
    for (const [name, start] of Object.entries(FLOODS)) {
      const stored = await signIns(scene);
      const growth = await growthDuring(world.service.pid(), async () => {
        const stop = start(world.service.baseUrl);
        await useService(scene, name);
        stop();
      });
      scene.tried();
      if (growth > MAX_GROWTH_MIB) scene.found(`${name} cost ${Math.round(growth)} MiB`);
      const written = (await signIns(scene)) - stored;
      if (written > 0) scene.found(`${name} wrote ${written} rows`);
      await sleep(1_000);
    }
  }
}

async function useService(scene: Scene, flood: string): Promise<void> {
  const end = performance.now() + FLOOD_MS;
  while (performance.now() < end && !scene.isOver()) {
    const statuses = await Promise.all([deliver(scene), callAsNeighbor(scene)]);
    if (String(statuses) !== "202,200")
      scene.found(`during ${flood}, a delivery and a call of a neighbor get ${statuses.join(" and ")}`);
    await sleep(PAUSE_MS);
  }
}

/** Each on a new connection: a kept one would not show that the service accepts none. */
const NEW_CONNECTION = { connection: "close" };

async function deliver({ world }: Scene): Promise<number | string> {
  const body = JSON.stringify({ zen: "Design for failure.", hook_id: 1 });
  const hmac = createHmac("sha256", world.forge.app.webhookSecret).update(body);
  const headers = {
    ...NEW_CONNECTION,
    "content-type": "application/json",
    "x-github-event": "ping",
    "x-github-delivery": randomUUID(),
    "x-hub-signature-256": `sha256=${hmac.digest("hex")}`,
  };
  return statusOf(fetch(`${world.service.baseUrl}${WEBHOOK_PATH}`, { method: "POST", headers, body }));
}

async function callAsNeighbor({ world }: Scene): Promise<number | string> {
  const { api } = world.boards[0] ?? {};
  const headers = { ...NEW_CONNECTION, authorization: `Bearer ${api?.apiKey}` };
  return statusOf(fetch(`${world.service.baseUrl}/v1/me`, { headers }));
}

const statusOf = (call: Promise<Response>): Promise<number | string> =>
  call.then(
    ({ status }) => status,
    () => "no response",
  );

async function signIns({ world }: Scene): Promise<number> {
  const [found] = await world.deps.db("sign_ins").count<{ count: string }[]>();
  return Number(found?.count);
}
