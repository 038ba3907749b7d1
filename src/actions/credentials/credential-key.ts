import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CLIENT_ID_LENGTH = 12;
/** 43 characters of 62 hold 256 bits. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const KEY = new RegExp(
  `^(tl[ks])_([0-9A-Za-z]{${CLIENT_ID_LENGTH}})_([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`,
);

/** What a key belongs to: `tlk` is an API key, `tls` the cookie of a session. */
export type KeyPrefix = "tlk" | "tls";

/** A new API key or cookie. `text` is shown once; only the hash is stored. */
interface CredentialKey {
  readonly clientId: string;
  readonly text: string;
  readonly secretHash: Buffer;
}

/** Makes an API key, `tlk_<clientId>_<secret><checksum>`, for a new client or the named one. */
export const makeCredentialKey = (clientId = randomText(CLIENT_ID_LENGTH)): CredentialKey =>
  makeKey("tlk", clientId);

/** Makes the cookie of a new session. */
export const makeSessionKey = (): CredentialKey => makeKey("tls", randomText(CLIENT_ID_LENGTH));

function makeKey(prefix: KeyPrefix, clientId: string): CredentialKey {
  const secret = randomText(SECRET_LENGTH);
  return {
    clientId,
    text: `${prefix}_${clientId}_${secret}${checksumOf(clientId, secret)}`,
    secretHash: hashSecret(secret),
  };
}

/** The public and the secret part of a key. */
export interface KeyParts {
  readonly clientId: string;
  readonly secret: string;
}

/** The parts of a well-formed key, or null. */
export function parseCredentialKey(text: string, wanted: KeyPrefix = "tlk"): KeyParts | null {
  const [, prefix, clientId, secret, checksum] = KEY.exec(text) ?? [];
  if (clientId === undefined || secret === undefined || checksum !== checksumOf(clientId, secret))
    return null;
  return prefix === wanted ? { clientId, secret } : null;
}

/** Whether a secret has one of these hashes. Takes the same time whichever it is. */
export function isSecret(secret: string, secretHashes: readonly Buffer[]): boolean {
  const given = hashSecret(secret);
  return secretHashes.map((secretHash) => timingSafeEqual(given, secretHash)).includes(true);
}

/** A plain SHA-256 is enough for a random secret of 256 bits. */
export const hashSecret = (secret: string): Buffer => hash("sha256", secret, "buffer");

/** CRC-32 in base 62, as in GitHub's tokens: it detects typing errors and is no secret. */
function checksumOf(clientId: string, secret: string): string {
  let rest = crc32(`${clientId}_${secret}`);
  let text = "";
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    text = ALPHABET.charAt(rest % ALPHABET.length) + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}

/** Uniformly random characters: bytes past the last whole multiple of the alphabet are dropped. */
export function randomText(length: number): string {
  const limit = 256 - (256 % ALPHABET.length);
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < limit && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}
