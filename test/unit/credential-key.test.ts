import { createHash } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import {
  isSecret,
  makeCredentialKey,
  parseCredentialKey,
} from "../../src/actions/credentials/credential-key.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** CRC-32 bit by bit (ISO-HDLC), as six characters of base 62, independent of the code under test. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (; rest > 0; rest = Math.floor(rest / 62)) digits = BASE62.charAt(rest % 62) + digits;
  return digits.padStart(6, "0");
}

const partsOf = (apiKey: string) => {
  const [prefix = "", clientId = "", rest = ""] = apiKey.split("_");
  return { prefix, clientId, secret: rest.slice(0, -6), sum: rest.slice(-6) };
};

describe("an API key", () => {
  it("is tlk_<clientId>_<secret><checksum> in letters and digits, with a secret of 256 bits", () => {
    const { text: apiKey, clientId } = makeCredentialKey();
    expect(apiKey).toMatch(/^tlk_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
    expect(partsOf(apiKey).clientId).toBe(clientId);
  });

  it("ends in the checksum of GitHub's tokens", () => {
    expect(checksum("zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ")).toBe("0mLq17");
    for (let round = 0; round < 50; round++) {
      const { clientId, secret, sum } = partsOf(makeCredentialKey().text);
      expect(sum).toBe(checksum(`${clientId}_${secret}`));
    }
  });

  it("is parsed into client id and secret", () => {
    const { text: apiKey } = makeCredentialKey();
    const { clientId, secret } = partsOf(apiKey);
    expect(parseCredentialKey(apiKey)).toEqual({ clientId, secret });
  });

  it("is stored as the SHA-256 of its secret, which matches no other secret", () => {
    const { text: apiKey, secretHash } = makeCredentialKey();
    const { secret } = partsOf(apiKey);
    expect(secretHash).toEqual(createHash("sha256").update(secret).digest());
    expect(isSecret(secret, [secretHash])).toBe(true);
    expect(isSecret(partsOf(makeCredentialKey().text).secret, [secretHash])).toBe(false);
    expect(isSecret("", [secretHash])).toBe(false);
  });

  it("is unique", () => {
    const keys = Array.from({ length: 200 }, makeCredentialKey);
    expect(new Set(keys.map(({ text }) => text)).size).toBe(200);
    expect(new Set(keys.map(({ clientId }) => clientId)).size).toBe(200);
  });

  it("with one wrong character is invalid", () => {
    const { text: apiKey } = makeCredentialKey();
    fc.assert(
      fc.property(fc.nat(apiKey.length - 1), fc.constantFrom(...BASE62.split("")), (place, character) => {
        const typo = apiKey.slice(0, place) + character + apiKey.slice(place + 1);
        fc.pre(typo !== apiKey);
        expect(parseCredentialKey(typo)).toBeNull();
      }),
    );
  });

  it("with two neighboring characters exchanged is invalid", () => {
    const { text: apiKey } = makeCredentialKey();
    const typos = apiKey
      .slice(1)
      .split("")
      .map(
        (character, place) =>
          apiKey.slice(0, place) + character + apiKey.charAt(place) + apiKey.slice(place + 2),
      );
    expect(typos.filter((typo) => typo !== apiKey && parseCredentialKey(typo) !== null)).toEqual([]);
  });

  const { text: apiKey } = makeCredentialKey();
  it.each([
    ["nothing", ""],
    ["its prefix alone", "tlk_"],
    ["a key cut short", apiKey.slice(0, -1)],
    ["a key with more behind it", `${apiKey}0`],
    ["a key on two lines", `${apiKey}\n`],
    ["a key with a space before it", ` ${apiKey}`],
    ["another prefix", apiKey.replace("tlk_", "ghp_")],
    ["an upper-case prefix", apiKey.replace("tlk_", "TLK_")],
    ["characters past ASCII", apiKey.replace(/.$/, "é")],
  ])("is not %s", (_, text) => {
    expect(parseCredentialKey(text)).toBeNull();
  });
});
