import { describe, expect, it } from "@jest/globals";
import { branchNameFor } from "../../src/flow/names.ts";
import { guessCardNumber } from "../../src/flow/guess-card-number.ts";

const DEFAULT_PATTERN = "card/{number}-{slug}";

describe("guessCardNumber", () => {
  it.each([
    [DEFAULT_PATTERN, "card/7-say-hello", 7],
    [DEFAULT_PATTERN, "card/7-Say_Hello.again", 7],
    [DEFAULT_PATTERN, "card/7", 7],
    [DEFAULT_PATTERN, "card/7-", 7],
    [DEFAULT_PATTERN, "card/12-7-days", 12],
    [DEFAULT_PATTERN, "card/7-say-hello-2", 7],
    [DEFAULT_PATTERN, "card/2147483647-most", 2_147_483_647],
    ["card/{number}", "card/7-2", 7],
    ["x{slug}-{number}", "x-fix-12-34", 34],
    ["{slug}/{slug}-{number}-x", "a-b/c-12-x", 12],
    ["v2{number}-{slug}", "v217-x", 17],
    ["{number}0-{slug}", "170-x", 17],
    ["{number}/{number}-{slug}", "8/8-x", 8],
    ["{slug}a/{slug}b{number}", "xaa/zbb4", 4],
    ["users/ada/{number}_{slug}", "users/ada/3_x", 3],
    ["(a+)+${number}.*", "(a+)+$5.*", null],
    ["(a+)+${number}x", "(a+)+$5x", 5],
  ])("with the pattern %s finds in %s the number %s", (pattern, name, number) => {
    expect(guessCardNumber(pattern, name)).toBe(number);
  });

  it.each([
    [DEFAULT_PATTERN, "card/x-7"],
    [DEFAULT_PATTERN, "card/7-say/hello"],
    [DEFAULT_PATTERN, "cards/7-say-hello"],
    [DEFAULT_PATTERN, "x/card/7-say-hello"],
    [DEFAULT_PATTERN, "card/7say"],
    [DEFAULT_PATTERN, "card/07-say-hello"],
    [DEFAULT_PATTERN, "card/0-say-hello"],
    [DEFAULT_PATTERN, "card/2147483648-too-many"],
    [DEFAULT_PATTERN, `card/${"9".repeat(60)}-x`],
    [DEFAULT_PATTERN, "card/-7-x"],
    [DEFAULT_PATTERN, "Card/7-x"],
    [DEFAULT_PATTERN, "main"],
    [DEFAULT_PATTERN, ""],
    [DEFAULT_PATTERN, "card/7-a..b"],
    ["{number}/{number}-{slug}", "8/9-x"],
    ["{slug}/{number}", "a/b/7"],
    ["card/{number}", "card/7-say-hello"],
  ])("with the pattern %s finds in %s no number", (pattern, name) => {
    expect(guessCardNumber(pattern, name)).toBeNull();
  });

  it("finds the card of every name that Trunkline creates", () => {
    const patterns = [DEFAULT_PATTERN, "a{number}", "{number}-{slug}-end", "n{number}-{slug}.x"];
    for (const pattern of patterns)
      for (const number of [1, 7, 70, 4711])
        for (const title of ["Say hello", "", "404 not 7 found", "手順", "x".repeat(300)])
          for (const attempt of [1, 2, 20])
            expect([
              pattern,
              title,
              guessCardNumber(pattern, branchNameFor(pattern, number, title, attempt)),
            ]).toEqual([pattern, title, number]);
  });

  it("is fast for hostile names", () => {
    const pattern = `${"{slug}a".repeat(26)}{number}`;
    const hostile = [
      "a".repeat(239),
      "1a".repeat(119),
      `${"a1/".repeat(79)}b`,
      "a".repeat(1_000_000),
      "1".repeat(1_000_000),
      "1-".repeat(500_000),
    ];
    for (const name of hostile) {
      expect(guessCardNumber(pattern, name)).toBeNull();
      expect(guessCardNumber(`${"{number}{slug}".repeat(14)}x`, name)).toBeNull();
    }
    expect(guessCardNumber(pattern, `${"a".repeat(200)}7`)).toBe(7);
  });
});
