import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { StoredResponse } from "../store/ops/idempotency.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts a text with AES-256-GCM: `<iv><tag><ciphertext>`. It opens only in the same context. */
export function sealText(text: string, key: Buffer, context: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** The text; null if it was encrypted with another key or in another context. */
export function openText(sealed: Buffer, key: Buffer, context: string): string | null {
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    return text.toString();
  } catch {
    return null;
  }
}

/**
 * Encrypts a response that is stored for replays. The key comes from the secret of the caller, which
 * each replay presents and the database does not have.
 */
export class ResponseSeal {
  readonly #key: Buffer;
  readonly #requestId: string;

  constructor(secret: string, requestId: string) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", "trunkline: responses with a secret", 32));
    this.#requestId = requestId;
  }

  close({ status, body }: StoredResponse): StoredResponse {
    return { status, body: body && sealText(body, this.#key, this.#requestId).toString("base64") };
  }

  /** Throws if a replay does not present the secret of the first call. */
  open({ status, body }: StoredResponse): StoredResponse {
    if (body === null) return { status, body };
    const text = openText(Buffer.from(body, "base64"), this.#key, this.#requestId);
    if (text === null) throw new Error("The stored response was sealed with another secret.");
    return { status, body: text };
  }
}
