import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { plainTitle } from "../../src/forge/github/pull-requests/pull-requests.ts";

describe("a title sent to GitHub", () => {
  test("is one line", () => {
    expect(plainTitle("Add login\r\n\r\nCo-authored-by: Mallory\u0000\u001b[31m")).toBe(
      "Add login Co-authored-by: Mallory [31m",
    );
  });

  test("is truncated between characters", () => {
    const cut = plainTitle("é".repeat(200));
    expect(cut).toMatch(/^é+…$/);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(256);
  });

  test("has no control characters and at most 256 bytes, and is stable", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (title) => {
        const plain = plainTitle(title);
        expect(plain).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(Buffer.byteLength(plain)).toBeLessThanOrEqual(256);
        expect(plainTitle(plain)).toBe(plain);
      }),
    );
  });
});
