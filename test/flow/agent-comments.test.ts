import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { giveUpReason, isQuestion } from "../../src/flow/comment-text.ts";
import { growthOf, LINEAR_GROWTH } from "../support/cpu-time.ts";
import { HOSTILE_MARKDOWN } from "../support/hostile-markdown.ts";

describe("/give-up", () => {
  it.each<[string, string]>([
    ["/give-up the tests need a database I cannot reach", "the tests need a database I cannot reach"],
    ["I have tried everything.\n\n/give-up   no luck  ", "no luck"],
    ["Tried.\r\n/give-up no luck\r\nSorry.", "no luck"],
    ["/give-up", ""],
    ["/Give-Up no luck", "no luck"],
    ["   /give-up no luck", "no luck"],
    ["- /give-up no luck", "no luck"],
    ["`x` fails\n/give-up because of `x`", "because of `x`"],
    ["```\n/give-up in code\n```\n/give-up for real", "for real"],
    ["> /give-up quoted\n\n/give-up not quoted", "not quoted"],
    [`/give-up ${"é".repeat(600)}`, "é".repeat(500)],
    [`${"😀".repeat(15_980)}\n\n/give-up ${"😀".repeat(20)}`, "😀".repeat(9)],
  ])("is found in %j", (comment, reason) => {
    expect(giveUpReason(comment)).toBe(reason);
  });

  it.each([
    "",
    "I give up",
    "Say /give-up to stop me",
    "/give-upon",
    "/give-up: how to stop me",
    "`/give-up no luck`",
    "``\n/give-up no luck\n``",
    "```\n/give-up no luck\n```",
    "~~~sh\n/give-up no luck",
    "    /give-up no luck",
    "- a list\n\n      /give-up no luck",
    "> /give-up no luck",
    "> > quoted\n> /give-up no luck",
    "\\/give-up no luck",
  ])("is not found in %j", (comment) => {
    expect(giveUpReason(comment)).toBeNull();
  });

  it("has a reason that is part of the comment, whatever the comment", () => {
    const piece = fc.constantFrom(
      "/give-up",
      " ",
      "\n",
      "`",
      "```",
      ">",
      "- ",
      "    ",
      "x",
      "\\",
      "\0",
      "🚀",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const comment = pieces.join("");
        const reason = giveUpReason(comment);
        expect(reason === null || comment.includes(reason)).toBe(true);
      }),
    );
  });

  it.each(HOSTILE_MARKDOWN)("is searched in linear time in %s", (_what, textOf) => {
    const search = (text: string) => [giveUpReason(text), isQuestion(text)];
    expect(growthOf((size) => void search(`a /give-up\n\n${textOf(size)}`))).toBeLessThan(LINEAR_GROWTH);
  });
});

describe("a question", () => {
  it.each([
    "Why is that?",
    "Really?! No.",
    "**Is it so?**",
    "(is it?) ok",
    "これは何ですか？",
    "Why?\n\n> because",
  ])("is found in %j", (comment) => {
    expect(isQuestion(comment)).toBe(true);
  });

  it.each([
    "Rename it.",
    "See https://example.com/?q=1 and https://example.com/search?q=a",
    "`a ? b : c` fails",
    "```\nwhy?\n```",
    "> why?\n\nBecause.",
    "",
  ])("is not found in %j", (comment) => {
    expect(isQuestion(comment)).toBe(false);
  });
});
