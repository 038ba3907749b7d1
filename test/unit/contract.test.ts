import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { contractDocument, problemsOf, readTags, tagsIn } from "../../scripts/test-tables.ts";

const root = join(import.meta.dirname, "../..");
const tags = readTags(root);

/** The tags of a test file whose first line is above a test. */
const above = (line: string) => tagsIn("cards.test.ts", `${line}\nit("works", () => {});\n`);

it("docs/contract.md is generated from the tests' tags; `npm run test-tables` writes it", () => {
  expect(readFileSync(join(root, "docs/contract.md"), "utf8")).toBe(contractDocument(tags));
});

it("the tags of the tests are correct", () => {
  expect(problemsOf(tags)).toEqual([]);
});

describe("a tag of the contract", () => {
  it("is a comment above a test; other comments may be between them", () => {
    const tag = {
      kind: "Contract",
      subject: "Cards",
      sentence: "A card: has a number",
      file: "cards.test.ts",
    };
    expect(above("  // Contract: Cards: A card: has a number").tags).toEqual([tag]);
    expect(above("// Contract: Cards: A card: has a number\n  // Another comment").tags).toEqual([tag]);
  });

  it.each(["// Contract: A card has a number", "// contract: Cards: A card", "// Contracts: Cards: A card"])(
    "has a section and a sentence, unlike %s",
    (line) => {
      expect(above(line)).toEqual({ tags: [], malformed: [expect.stringContaining(`cards.test.ts:1`)] });
    },
  );

  it.each(["", "});", "const board = 1;"])("must be above a test, not %j", (line) => {
    const text = `// Contract: Cards: A card has a number\n${line}\nit("works", () => {});\n`;
    expect(tagsIn("cards.test.ts", text)).toMatchObject({ tags: [], malformed: [expect.any(String)] });
  });

  it("appears once for several tests", () => {
    const text = '// Contract: Cards: Every card has a number\nit("works", () => {});\n';
    const more = ["b.test.ts", "a.slow.test.ts", "b.test.ts"].flatMap((file) => tagsIn(file, text).tags);
    const document = contractDocument({ tags: [...tags.tags, ...more], malformed: [] });
    expect(document.split("\n- Every card has a number\n")).toHaveLength(2);
  });

  it.each([
    ["Card", "Every card has a number", "no section Card"],
    ["Moves", "An unknown card number is 404.", "duplicate"],
    ["Cards", "word ".repeat(17).trim(), "more than 16 words"],
  ])("in the section %s with the sentence %s is a problem", (section, sentence, problem) => {
    const more = above(`// Contract: ${section}: ${sentence}`).tags;
    expect(more).toHaveLength(1);
    expect(problemsOf({ tags: [...tags.tags, ...more], malformed: [] })).toContainEqual(
      expect.stringContaining(problem),
    );
  });
});
