import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { freeSlug, pageSlugOf } from "../../src/flow/names.ts";
import { piecesOf } from "../../src/flow/markdown-pieces.ts";
import { distinctLinks, readWikiTargets, wikiLinkTo, type WikiLink } from "../../src/flow/wiki-links.ts";
import { growthOf, LINEAR_GROWTH } from "../support/cpu-time.ts";
import { HOSTILE_MARKDOWN } from "../support/hostile-markdown.ts";

function linksOf(markdown: string): WikiLink[] {
  const reading = readWikiTargets(markdown);
  for (;;) {
    const step = reading.next();
    if (step.done === true) return distinctLinks(step.value.values());
  }
}

const wikiLinksOf = (text: string): string[] => linksOf(text).map(({ slug }) => slug);
const linksTo = (count: number): string =>
  Array.from({ length: count }, (_, at) => `[[page ${at}]] [[page ${at}]]`).join("\n");

describe("the slug of a page", () => {
  it.each([
    ["How we ship", "how-we-ship"],
    ["  Größe ändern: Øre & Æther!", "grosse-andern-ore-aether"],
    ["リリース手順", "リリース手順"],
    ["हिन्दी पन्ना", "हिन्दी-पन्ना"],
    ["🚀", "page"],
    ["a".repeat(200), "a".repeat(200)],
  ])("with the title %j is %j", (title, slug) => {
    expect(pageSlugOf(title)).toBe(slug);
  });

  it("is the slug of itself, has no brackets or bars, and is no longer than a title", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (title) => {
        const slug = pageSlugOf(title);
        expect(pageSlugOf(slug)).toBe(slug);
        expect(slug).toMatch(/^[^\s[\]|]+$/u);
        expect(Array.from(slug).length).toBeLessThanOrEqual(200);
      }),
    );
  });

  it("ends with the first free number if it is taken, and stays within its length", () => {
    const taken = new Set(["setup", "setup-2"]);
    expect(freeSlug("setup", (slug) => taken.has(slug))).toBe("setup-3");
    expect(freeSlug("other", (slug) => taken.has(slug))).toBe("other");
    const long = "a".repeat(200);
    expect(freeSlug(long, (slug) => slug === long)).toBe(`${"a".repeat(198)}-2`);
  });
});

describe("the wiki links of a text", () => {
  it.each<[string, string, string[]]>([
    ["a title", "See [[How we ship]].", ["how-we-ship"]],
    ["a slug", "See [[how-we-ship]].", ["how-we-ship"]],
    ["a slug with a label", "[[how-we-ship|our way]]", ["how-we-ship"]],
    ["a label inside a table", "| a |\n| - |\n| [[how-we-ship\\|our way]] |", ["how-we-ship"]],
    ["several links, each once, in order", "[[B]] [[A]] [[b]]", ["b", "a"]],
    ["spaces around a title", "[[  Setup  ]]", ["setup"]],
    ["a link in brackets", "[[[Setup]]]", ["setup"]],
    ["a heading, a quote and a list", "# [[A]]\n> [[B]]\n- [[C]]\n  - [[D]]", ["a", "b", "c", "d"]],
    ["an indented line of a paragraph", "text\n      [[A]]", ["a"]],
    ["the second paragraph of a list item", "1. one\n\n   [[A]]\n2. two\n\n   [[B]]", ["a", "b"]],
    ["a lazy line of a quote", "> quoted\n    [[A]]", ["a"]],
    ["text after code", "`[[no]]` [[A]] ``[[no]] ` [[no]]`` [[B]]", ["a", "b"]],
    ["a lone backtick before it", "It` is [[A]]", ["a"]],
    ["runs of backticks that do not match", "`` [[A]] `", ["a"]],
    ["an escaped backtick before it", "\\` [[A]] `", ["a"]],
    ["code within the title", "[[The `move` call]]", ["the-move-call"]],
    ["text after a closed fence", "```\n[[no]]\n```\n[[A]]", ["a"]],
    ["a fence that ends with its list item", "- ```\n  [[no]]\n\n[[A]]", ["a"]],
    ["Windows line ends", "```\r\n[[no]]\r\n```\r\n[[A]]\r\n", ["a"]],
  ])("include %s", (_what, text, links) => {
    expect(wikiLinksOf(text)).toEqual(links);
  });

  it.each([
    ["Deploy guide#Rollback", "deploy-guide-rollback", "deploy-guide"],
    ["Deploy guide #2", "deploy-guide-2", "deploy-guide"],
    ["C# guide", "c-guide", null],
    ["C# guide#Install#Linux", "c-guide-install-linux", "c-guide"],
    ["C#", "c", null],
  ])("to %s may be to a heading of a page", (target, slug, pageSlug) => {
    expect(wikiLinkTo(target)).toEqual({ slug, pageSlug });
    expect(linksOf(`[[${target}]] [[${target}|again]] [[#Rollback]]`)).toEqual([{ slug, pageSlug }]);
  });

  it.each<[string, string]>([
    ["nothing between the brackets", "[[]] [[ ]] [[|text]]"],
    ["brackets that are not closed", "[[Setup] and [[Setup"],
    ["brackets closed on another line", "[[Set\nup]]"],
    ["brackets within brackets", "[[a[b]c]]"],
    ["escaped brackets", "\\[[A]] [\\[B]] [[C\\]]"],
    ["inline code", "`[[A]]` and ``a ` [[B]]``"],
    ["inline code over two lines", "`code\n[[A]]`"],
    ["code with a backslash at its end", "`a\\` `[[B]]`"],
    ["a fence", "```ts\n[[A]]\n```"],
    ["a fence of tildes with backticks in it", "~~~ a `b`\n```\n[[A]]\n```\n~~~"],
    ["a fence that is never closed", "```\n[[A]]\n\n[[B]]"],
    ["a fence closed by too few marks", "````\n```\n[[A]]\n````"],
    ["a fence indented by three spaces", "   ```\n   [[A]]\n   ```"],
    ["a fence within a list item", "- step\n\n  ```\n  [[A]]\n  ```"],
    ["a fence within a quote", "> ```\n> [[A]]\n> ```"],
    ["a fence right after a paragraph", "text\n```\n[[A]]\n```"],
    ["code indented by four spaces", "text\n\n    [[A]]\n\n    [[B]]"],
    ["code indented by a tab", "\t[[A]]"],
    ["code indented by four spaces after a heading", "# Title\n    [[A]]\n\nTitle\n===\n    [[B]]"],
    ["indented code in a list item", "- step\n\n      [[A]]"],
    ["a target longer than any title", `[[${"a".repeat(201)}]]`],
  ])("do not include %s", (_what, text) => {
    expect(wikiLinksOf(text)).toEqual([]);
  });

  it("may be as long as a title", () => {
    expect(wikiLinksOf(`[[${"a".repeat(200)}]]`)).toEqual(["a".repeat(200)]);
  });

  it("are at most 500", () => {
    expect(wikiLinksOf(linksTo(500))).toHaveLength(500);
    expect(wikiLinksOf(linksTo(501))).toHaveLength(500);
    expect(wikiLinksOf(linksTo(501)).at(-1)).toBe("page-499");
  });

  it("include every link in prose", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word), { maxLength: 30 }), (pairs) => {
        const text = pairs.map(([before, target]) => `${before} [[${target}]]`).join("\n");
        expect(wikiLinksOf(text)).toEqual([...new Set(pairs.map(([, target]) => target))]);
      }),
    );
  });

  it("are empty for code", () => {
    const line = fc.stringMatching(/^[a-z[\]|`>~ -]{0,30}$/);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const fence = "~".repeat(40);
        expect(wikiLinksOf([fence, ...lines, fence].join("\n"))).toEqual([]);
        expect(wikiLinksOf(lines.map((text) => `    ${text}`).join("\n"))).toEqual([]);
      }),
    );
  });

  it("are slugs of texts between double brackets, for any text", () => {
    const part = fc.oneof(
      fc.constantFrom("[[", "]]", "|", "`", "``", "\\", "\n", "    ", "```\n", "> ", "- ", "\t", "[[A]]"),
      fc.string({ unit: "grapheme", maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const text = parts.join("");
        // A link may contain code, and that may contain brackets.
        const starts = [...text.matchAll(/(?<=\[\[)/g)].map(({ index }) => index);
        const ends = [...text.matchAll(/(?=\]\])/g)].map(({ index }) => index);
        const between = starts.flatMap((start) =>
          ends
            .filter((end) => end > start)
            .map((end) => pageSlugOf((text.slice(start, end).split("|")[0] ?? "").trim())),
        );
        for (const slug of wikiLinksOf(text)) expect(between).toContain(slug);
      }),
    );
  });
});

describe("a long text", () => {
  const LONG = 200_000;
  const MAX_PIECE = 8_000;
  /** A piece that goes on in a code block begins with its fence. */
  const LONGEST_FENCE = MAX_PIECE;
  const lines = (line: string, size = LONG): string => line.repeat(size / line.length);

  it.each(HOSTILE_MARKDOWN)("of %s is read in short pieces", (_what, textOf) => {
    const text = textOf(LONG);
    const pieces = piecesOf(text);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(MAX_PIECE + LONGEST_FENCE);
    expect(pieces.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThanOrEqual(text.length);
  });

  it("is cut where a paragraph starts, and loses no character", () => {
    const paragraph = `${"word ".repeat(100)}\n\n- item\n\n  more\n\n`;
    const pieces = piecesOf(lines(paragraph));
    expect(pieces.join("")).toBe(lines(paragraph));
    expect(pieces.length).toBeGreaterThan(20);
    expect(pieces.filter((piece) => !piece.startsWith("word "))).toEqual([]);
  });

  it.each([
    ["in paragraphs", "word\n\n"],
    ["in one list", "- item\n"],
    ["in one line", "word "],
    ["in a quote", "> word\n"],
  ])("%s keeps its links, also after a long code block", (_what, line) => {
    const code = `\`\`\`ts\n${lines("const a = [[No]];\n", 30_000)}\`\`\`\n\n`;
    const text = `[[A]]\n\n${lines(line, 50_000)}\n\n[[B]]\n\n${code}${lines(line, 50_000)}\n\n[[C]]`;
    expect(wikiLinksOf(text)).toEqual(["a", "b", "c"]);
  });

  it("in one line keeps a link and a word at the limit of a piece", () => {
    const text = `${"x".repeat(MAX_PIECE - 5)}[[Some title]] ${"word ".repeat(2_000)}`;
    expect(wikiLinksOf(text)).toEqual(["some-title"]);
    expect(piecesOf(text).filter((piece) => /^ord|\bwor$/.test(piece))).toEqual([]);
  });
});

describe("wikiLinksOf", () => {
  const hostile: [string, (size: number) => string][] = [
    ["accents", (size) => `[[a${"\u0316\u0301".repeat(size / 2)}]]`],
    ["links with accents", (size) => `[[a${"\u0301\u0316".repeat(90)}]]`.repeat(size / 185)],
  ];

  it.each([...HOSTILE_MARKDOWN, ...hostile])("takes linear time for %s", (_what, textOf) => {
    expect(growthOf((size) => void wikiLinksOf(`[[a]]\n\n${textOf(size)}`))).toBeLessThan(LINEAR_GROWTH);
  });
});
