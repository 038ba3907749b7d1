import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Api } from "../../../test/support/api.ts";
import { growthDuring } from "../memory.ts";
import { longestResponse } from "../response-times.ts";
import type { Scene } from "../scene.ts";

const AT_ONCE = 64;
const MAX_GROWTH_MIB = 150;
/** A response beside the bodies may take this long. */
const MAX_MS = 1_000;
/** Almost 1 MiB that is much larger once it is parsed. */
const MANY_VALUES = `[${"{},".repeat(349_000)}{}]`;
const MANY_FIELDS = `[${`{${Array.from({ length: 900 }, (_, nth) => `"${nth}":0`).join(",")}},`.repeat(140)}0]`;

const BODIES: Readonly<Record<string, { readonly body: string | Buffer; readonly encoding?: string }>> = {
  "compressed bodies": { body: gzipSync(MANY_VALUES), encoding: "gzip" },
  "bodies of many values": { body: MANY_VALUES },
  "bodies of many fields": { body: MANY_FIELDS },
};

/** Sends bodies that take much more memory or time than their bytes suggest, while others wait for a response. */
export async function heavyBodies(scene: Scene): Promise<void> {
  const { world } = scene;
  const board = world.boards.at(2);
  if (!board) throw new Error("the attack needs three boards");
  while (!scene.isOver()) {
    for (const [what, content] of Object.entries(BODIES)) {
      let longest = 0;
      const growth = await growthDuring(world.service.pid(), async () => {
        const sending = Promise.all(Array.from({ length: AT_ONCE }, () => send(board.api, content)));
        longest = await longestResponse(world.service.baseUrl, sending);
      });
      scene.tried();
      if (growth > MAX_GROWTH_MIB) scene.found(`${AT_ONCE} ${what} cost ${Math.round(growth)} MiB`);
      if (longest > MAX_MS) scene.found(`${AT_ONCE} ${what} delay a response by ${Math.round(longest)} ms`);
      await sleep(1_000);
    }
  }
}

async function send(
  { baseUrl, apiKey }: Api,
  { body, encoding }: { readonly body: string | Buffer; readonly encoding?: string },
): Promise<void> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    "content-type": "application/json",
    "idempotency-key": randomUUID(),
    ...(encoding !== undefined && { "content-encoding": encoding }),
  };
  // Bodies above the board's limit are ended while they arrive.
  await fetch(`${baseUrl}/v1/cards`, { method: "POST", headers, body: new Uint8Array(Buffer.from(body)) })
    .then((response) => response.arrayBuffer())
    .catch(() => undefined);
}
