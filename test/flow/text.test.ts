import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { firstCharacters, shortenedText, storableText } from "../../src/flow/text.ts";

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom("a", "é", "😀"), fc.string({ unit: "grapheme", maxLength: 1 })),
});
const isWhole = (text: string) => !/\p{Surrogate}/u.test(text);

describe("a text that is cut", () => {
  it.each([
    [firstCharacters("ab😀", 3), "ab😀"],
    [firstCharacters("ab😀", 2), "ab"],
    [firstCharacters("😀😀😀", 2), "😀😀"],
    [shortenedText("ab😀", 3), "ab😀"],
    [shortenedText("ab😀c", 3), "ab…"],
    [shortenedText("a😀bc", 3), "a😀…"],
    [storableText("a\0b\ud83dc\ude00"), "a\ufffdb\ufffdc\ufffd"],
    [storableText("\ude00😀"), "\ufffd😀"],
  ])("is %j", (cut, expected) => {
    expect(cut).toBe(expected);
  });

  it("has whole characters and is no longer than allowed, whatever the text", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 20 }), (text, max) => {
        fc.pre(isWhole(text));
        const first = firstCharacters(text, max);
        expect(text.startsWith(first)).toBe(true);
        for (const cut of [first, shortenedText(text, max)]) {
          expect(isWhole(cut)).toBe(true);
          expect(Array.from(cut).length).toBe(Math.min(max, Array.from(text).length));
        }
      }),
    );
  });
});
