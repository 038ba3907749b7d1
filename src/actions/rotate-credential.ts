import { conflict, notFound } from "../errors.ts";
import { findCredential, rotateSecret, type Rotation } from "../store/tenancy/credentials.ts";
import { makeCredentialKey } from "./credential-key.ts";
import type { Deps } from "./deps.ts";

/** For how long the key before may stay good at most. */
export const MAX_KEEP_MS = 86_400_000;

export interface RotatedCredential extends Rotation {
  readonly clientId: string;
  /** Shown this once. */
  readonly apiKey: string;
}

/**
 * Makes a credential a new key. The one before it stays good for `keepMs`, so that whoever uses it can change over without a gap; of two
 * rotations in a row only the last two keys are good.
 */
export async function rotateCredential(
  { db }: Pick<Deps, "db">,
  order: {
    readonly clientId: string;
    readonly keepMs: number;
    readonly expiresAt?: Date | null | undefined;
  },
): Promise<RotatedCredential> {
  const { clientId } = order;
  const { apiKey, secretHash } = makeCredentialKey(clientId);
  const keepMs = Math.min(order.keepMs, MAX_KEEP_MS);
  const rotation = await rotateSecret(db, { ...order, keepMs, secretHash });
  if (rotation) return { clientId, apiKey, ...rotation };
  if (!(await findCredential(db, clientId))) throw notFound(`There is no credential ${clientId}.`);
  throw conflict(`The credential ${clientId} is revoked or expired. Issue a new one.`);
}
