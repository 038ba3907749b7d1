import { randomUUID } from "node:crypto";
import { successes } from "./api.ts";
import type { TestBoard } from "./world.ts";

/** An idempotency key of the board's credential in the state a process leaves it in that dies in the middle of a request. Gives the key. */
export async function keyLockedBy({ api, db }: TestBoard, holder: string): Promise<string> {
  const key = `key-${randomUUID()}`;
  const clientId = api.apiKey.split("_")[1] ?? "";
  await db("idempotency_keys").insert({
    credential_id: db("credentials").where({ client_id: clientId }).select("id"),
    key,
    fingerprint: Buffer.alloc(32),
    state: "running",
    holder,
  });
  return key;
}

/** Takes a key out of the table, as a crash before the answer or the next day leaves it. What was answered under it binds nobody any more. */
export async function deleteKey({ db }: TestBoard, key: string): Promise<void> {
  await db("idempotency_keys").where({ key }).delete();
  const others = successes.filter((success) => success.key !== key);
  successes.splice(0, successes.length, ...others);
}
