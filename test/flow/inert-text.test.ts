import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { inertText } from "../../src/flow/inert-text.ts";
import { growthOf, LINEAR_GROWTH } from "../support/cpu-time.ts";
import { ACTIVE_TOKENS } from "../support/forge/active-tokens.ts";
import { HOSTILE_MARKDOWN } from "../support/hostile-markdown.ts";

/** Shown as `|`. */
const JOINER = "\u200D";
const shown = (text: string): string => text.replaceAll(JOINER, "|");

describe("an inert text", () => {
  test.each([
    ["a mention", "Ask @ada and @acme/everyone", "Ask @|ada and @|acme/everyone"],
    ["a command to a bot", "@dependabot merge", "@|dependabot merge"],
    ["a command that begins a line", "Now\n/approve\n /hold please", "Now\n/|approve\n /|hold please"],
    ["a reference", "#1, (#23) and _#4_", "#|1, (#|23) and _#|4_"],
    ["a reference to another repository", "acme/api#2", "acme/api#|2"],
    ["a reference with GH", "GH-3 and gh-4", "GH-|3 and gh-|4"],
    ["a reference behind a backslash", String.raw`\#1 GH\-2`, String.raw`\#|1 GH\-|2`],
    ["a closing keyword", "Closes #1, fixes acme/api#2", "Closes #|1, fixes acme/api#|2"],
    ["a closing keyword with a colon", "Resolved: GH-3", "Resolved: GH-|3"],
    [
      "a closing keyword with an address, which stays a link",
      "fix https://github.com/acme/api/issues/5",
      "fix| https://github.com/acme/api/issues/5",
    ],
    [
      "a closing keyword with a pull request",
      "Fixed: <https://x.y/a/b/pull/5>",
      "Fixed|: <https://x.y/a/b/pull/5>",
    ],
    ["[skip ci]", "A [skip ci] b [CI SKIP]", "A [|skip ci] b [|CI SKIP]"],
    ["[no ci]", "[no ci]", "[|no ci]"],
    ["[skip actions]", "[skip actions][actions skip]", "[|skip actions][|actions skip]"],
    ["the token of another CI", "[skip netlify]", "[|skip netlify]"],
    ["a trailer that skips checks", "A\n\n\nskip-checks: true", "A\n\n\nskip-checks|: true"],
    ["an entity of a number sign", "&num;1 &#x23;1 &#35;1", "&num;|1 &#x23;|1 &#|35;1"],
    ["an entity of an @", "&commat;ada &#x40;ada &#64;ada", "&commat;|ada &#x40;|ada &#|64;ada"],
    ["code, which a commit message does not have", "`@ada` `#1`", "`@|ada` `#|1`"],
  ])("has a joiner in %s", (_what, text, expected) => {
    expect(shown(inertText(text))).toBe(expected);
  });

  test.each([
    "",
    "Close the door, fix #hash and resolve",
    "write to ada@example.com",
    "the color #14a0ff",
    "# 1 heading",
    "fix https://example.com/page",
    "see https://github.com/acme/api/issues/5",
    "https://example.com/x/@ada https://example.com/page#12",
    "and/or /usr/bin/node\n/usr/bin/node\n// comment",
    "[ci] [skip] [no idea] [ ] [x]",
    "skip-checks",
    "GH- and high-5",
    "Card 14",
    "Größe ändern 🚂",
  ])("is %j as it is", (text) => {
    expect(inertText(text)).toBe(text);
  });
});

describe("an inert Markdown text", () => {
  const inertMarkdown = (text: string, keeps: string[] = []): string =>
    shown(inertText(text, { isMarkdown: true, keeps }));

  test.each([
    ["`@ada #1 GH-2 [skip ci]` @ada #1", "`@ada #1 GH-2 [skip ci]` @|ada #|1"],
    ["```\n#1\nfixes https://x.y/a/b/issues/1\n```\n#2", "```\n#1\nfixes https://x.y/a/b/issues/1\n```\n#|2"],
    ["&#35;1 &#8203;1", "&#35;|1 &#8203;1"],
  ])("keeps code and entities in %j", (text, expected) => {
    expect(inertMarkdown(text)).toBe(expected);
  });

  test("has no command to a bot in code, because bots do not parse Markdown", () => {
    expect(inertMarkdown("```\n/approve\n```")).toBe("```\n/|approve\n```");
  });

  test("keeps the references that Trunkline writes", () => {
    expect(inertMarkdown("#1 #12 a/b#1 (#1, #2)", ["#1"])).toBe("#1 #|12 a/b#|1 (#1, #|2)");
  });

  test("keeps the mark of a mirrored comment", () => {
    const mark = `<!-- trunkline:comment ${"0".repeat(36)} ${"a-GH-12".padEnd(43, "x")} -->`;
    expect(inertMarkdown(`${mark}\n\n#1`)).toBe(`${mark}\n\n#|1`);
    expect(shown(inertText(mark))).toContain("GH-|12");
  });
});

describe("any text", () => {
  const bits = fc.constantFrom(
    ..."@ # / : - [ ] & ; > ( . \\ \n".split(" "),
    ..." |\t|a|é|1|14|GH-|gh-|acme/api|closes|Fixed|resolve|skip|ci|no|actions|skip-checks|true".split("|"),
    ..."@ada|#1|/merge|[skip ci]|[ci skip]|skip-checks: true|https://github.com/a/b/issues/1".split("|"),
    ..."&#35;|&#64;|&num;|&commat;|`|```|\n|Closes #1|@acme/team".split("|"),
    JOINER,
  );
  const texts = fc.array(bits, { maxLength: 30 }).map((parts) => parts.join(""));
  const options = fc.constantFrom({ isMarkdown: true }, { isMarkdown: false });

  test("has no active token afterwards", () => {
    fc.assert(
      fc.property(texts, (text) => {
        // An address is a link, in which GitHub finds nothing.
        const inert = inertText(text).replaceAll(/https?:\S+/g, (address) =>
          address.replaceAll(/[@#]|gh-/gi, ""),
        );
        for (const token of ACTIVE_TOKENS) expect(inert).not.toMatch(token);
      }),
      { numRuns: 2_000 },
    );
  });

  test("gets joiners only, and none the second time", () => {
    fc.assert(
      fc.property(texts, options, (text, chosen) => {
        const inert = inertText(text, chosen);
        expect(inert.replaceAll(JOINER, "")).toBe(text.replaceAll(JOINER, ""));
        expect(inertText(inert, chosen)).toBe(inert);
      }),
      { numRuns: 2_000 },
    );
  });

  test("that is long counts as prose, also in code: parsing it would take too long", () => {
    const code = "`@ada`";
    expect(shown(inertText(code.padEnd(8_000), { isMarkdown: true }))).toContain("`@ada`");
    expect(shown(inertText(code.padEnd(8_001), { isMarkdown: true }))).toContain("`@|ada`");
  });

  test("stays as it is without tokens", () => {
    const words = fc.constantFrom(
      "fix",
      "closes",
      "card",
      "14",
      "a@b.c",
      "ci",
      "[x]",
      "a/b",
      "\n",
      "é",
      "-",
      "(",
    );
    fc.assert(
      fc.property(fc.array(words), options, (parts, chosen) => {
        const text = parts.join(" ");
        expect(inertText(text, chosen)).toBe(text);
      }),
    );
  });

  const repeatedBits: [string, (size: number) => string][] = [
    "#1",
    "#1 ",
    "fix ",
    "fix /issues/",
    "[skip ",
    "/a\n",
    "skip-checks ",
    "GH-1",
    "1",
  ].map((bit) => [JSON.stringify(bit), (size) => bit.repeat(size / bit.length)]);

  test.each([...HOSTILE_MARKDOWN, ...repeatedBits])("takes linear time for %s", (_what, textOf) => {
    expect(growthOf((size) => void inertText(textOf(size)))).toBeLessThan(LINEAR_GROWTH);
  });
});
