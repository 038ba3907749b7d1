import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Scene } from "../scene.ts";

/** Each leads to this machine or to a private network, on some hosts. */
const ADDRESSES = [
  "[::127.0.0.1]",
  "[::10.0.0.1]",
  "[::ffff:10.0.0.1]",
  "[64:ff9b::a00:1]",
  "[64:ff9b:1::a00:1]",
  "[2002:a00:1::]",
  "[2001::a00:1]",
  "[fec0::1]",
  "0x0a.1",
  "198.18.0.1",
  "192.0.0.8",
  "240.0.0.1",
];

/** Chooses what the service must choose or check: addresses of receivers, ids of requests. */
export async function chosenValues(scene: Scene): Promise<void> {
  const { world, random } = scene;
  while (!scene.isOver()) {
    const board = random.pick(world.boards);
    if (!board) throw new Error("the attack needs a board");
    const address = random.pick(ADDRESSES);
    const { status } = await board.api.post("/v1/webhooks", { url: `https://${address}/` });
    if (status !== 400) scene.found(`a webhook to https://${address}/ is ${status}`);
    const chosen = randomUUID();
    const headers = { "x-request-id": chosen };
    const called = await board.api.post("/v1/cards", { title: "Chosen" }, { headers });
    const rows = await world.deps.db("audit_log").where({ request_id: chosen }).select("id");
    if (rows.length > 0) scene.found("the caller's X-Request-Id is that of an audit row");
    if (called.headers.get("x-request-id") === chosen) scene.found("the caller's X-Request-Id is used");
    scene.tried();
    await sleep(200);
  }
}
