import { randomUUID } from "node:crypto";
import { successes } from "./api.ts";
import type { TestBoard } from "./world.ts";

/** Claims an idempotency key like a process that died during a request. Returns the key. */
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

/** Deletes a key, as a crash before the response or 24 hours do, and its recorded responses. */
export async function deleteKey({ db }: TestBoard, key: string): Promise<void> {
  await db("idempotency_keys").where({ key }).delete();
  const others = successes.filter((success) => success.key !== key);
  successes.splice(0, successes.length, ...others);
}
