import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { verifyDelivery } from "../../src/forge/github/deliveries/verify-delivery.ts";

const body = Buffer.from('{"zen":"Keep it logically awesome."}');
const sign = (secret: string, payload: Uint8Array = body, algorithm = "sha256") =>
  `${algorithm}=${createHmac(algorithm, secret).update(payload).digest("hex")}`;

describe("a delivery's signature", () => {
  test("is the one of GitHub's own example", () => {
    const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    expect(verifyDelivery(Buffer.from("Hello, World!"), signature, ["It's a Secret to Everybody"])).toBe(
      true,
    );
  });

  test("is valid with either secret during a rotation, and with no other", () => {
    expect(verifyDelivery(body, sign("new"), ["new", "old"])).toBe(true);
    expect(verifyDelivery(body, sign("old"), ["new", "old"])).toBe(true);
    expect(verifyDelivery(body, sign("old"), ["new"])).toBe(false);
  });

  test("is computed over the bytes, valid UTF-8 or not", () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x7b]);
    expect(verifyDelivery(bytes, sign("s", bytes), ["s"])).toBe(true);
    expect(verifyDelivery(Buffer.from(bytes.toString("utf8")), sign("s", bytes), ["s"])).toBe(false);
  });

  test.each([
    ["none", undefined],
    ["an empty one", ""],
    ["SHA-1", sign("s", body, "sha1")],
    ["the bare digest", sign("s").slice(7)],
    ["a digest cut short", sign("s").slice(0, -1)],
    ["upper case", `sha256=${sign("s").slice(7).toUpperCase()}`],
    ["no digest", "sha256="],
    ["characters of more bytes", `sha256=${"é".repeat(64)}`],
  ])("is invalid as %s", (_, signature) => {
    expect(verifyDelivery(body, signature, ["s"])).toBe(false);
  });

  test("is invalid for a changed body, an empty body, or without secrets", () => {
    const changed = Buffer.from(body);
    changed[0]! ^= 1;
    expect(verifyDelivery(changed, sign("s"), ["s"])).toBe(false);
    const nothing = Buffer.alloc(0);
    expect(verifyDelivery(nothing, sign("s", nothing), ["s"])).toBe(false);
    expect(verifyDelivery(body, sign("s"), [])).toBe(false);
    expect(verifyDelivery(body, `sha256=${createHmac("sha256", "").update(body).digest("hex")}`, [""])).toBe(
      false,
    );
  });
});
