import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { plainName } from "../../src/flow/comment-text.ts";
import { inertText } from "../../src/flow/inert-text.ts";
import { growthOf, LINEAR_GROWTH } from "../support/cpu-time.ts";
import { HOSTILE_MARKDOWN } from "../support/hostile-markdown.ts";

const J = "\u200D";
const withoutMentions = (text: string): string => inertText(text, { isMarkdown: true });

describe("the Markdown of a comment", () => {
  test.each([
    ["@ada", `@${J}ada`],
    ["Hi @ada, @grace and @0day!", `Hi @${J}ada, @${J}grace and @${J}0day!`],
    ["@acme/team @everyone @here", `@${J}acme/team @${J}everyone @${J}here`],
    ["(@ada) **@ada** _@ada_ >@ada", `(@${J}ada) **@${J}ada** _@${J}ada_ >@${J}ada`],
    [String.raw`\@ada`, `\\@${J}ada`],
    ["é@ada", `é@${J}ada`],
    ["&#64;ada &#x40;ada &#0064;ada &commat;ada &COMMAT;ada", null],
    ["&#64ada &#x40zed", `&#64${J}ada &#x40${J}zed`],
    ["@&#97;da", `@${J}&#97;da`],
    ["&copy@ada", `&copy@${J}ada`],
    ["[@ada](x) ![@ada](x) | @ada |", `[@${J}ada](x) ![@${J}ada](x) | @${J}ada |`],
  ])("adds a joiner to %j", (text, expected) => {
    expect(withoutMentions(text)).toBe(expected ?? text.replaceAll(";ada", `;${J}ada`));
  });

  test.each([
    "",
    "no one",
    "a @ b",
    "@",
    "@ada".slice(0, 1),
    "write to ada@example.com",
    "v1@2",
    "@-x @_x @.",
    "&#640;a &#x400;a",
    "https://www.npmjs.com/package/@types/node",
    "see\nhttps://example.com/@ada/x?y=1",
  ])("does not change %j", (text) => {
    expect(withoutMentions(text)).toBe(text);
  });

  test.each([
    ["http://localhost/@ada"],
    ["xhttps://example.com/@ada"],
    ["https://example.com/ @ada"],
    ["`a`https://example.com/@ada"],
    [`https://example.com/${"x".repeat(500)}@ada`.replace("x@", "/@")],
  ])("does not treat %j as a URL", (text) => {
    expect(withoutMentions(text)).toBe(text.replace("@ada", `@${J}ada`));
  });
});

describe("the Markdown of a comment and code", () => {
  test.each([
    "`@ada`",
    "``a ` @ada``",
    "x `@Input()` y `@Output()`",
    String.raw`\\${"`@ada`"}`,
    "```\n@ada\n```",
    "```ts\n@Component()\n```\n",
    "~~~\n@ada ``` `\n~~~",
    "````\n```\n@ada\n```\n````",
    "```\n@ada\n   ```  \nand so on",
    "```\r\n@ada\r\n```\r\n",
    "```\n@ada",
    "```\n<b>@ada\n```",
    "`<b>` `@ada`",
    "`@ada\n@ada`",
    "- ```\n  @ada\n  ```",
    "> ```\n> @ada\n> ```",
    "[a `@ada`](https://example.com) [b][c]",
    "see https://example.com/x `@ada`",
  ])("does not change %j", (text) => {
    expect(withoutMentions(text)).toBe(text);
  });

  test("changes the text around code", () => {
    const text = "```\n@code\n```\n@ada `@code` @grace\n~~~\n@code\n~~~\n@ada";
    const expected = `\`\`\`\n@code\n\`\`\`\n@${J}ada \`@code\` @${J}grace\n~~~\n@code\n~~~\n@${J}ada`;
    expect(withoutMentions(text)).toBe(expected);
  });

  test.each([
    ["an unmatched backtick", "`@ada"],
    ["backticks on two lines", "`a\nb` @ada `c`"],
    ["backtick runs of different lengths", "`@ada``"],
    ["an escaped backtick", "\\`@ada`"],
    ["a fence in a list", "- ```\n  x\n  ```\n@ada"],
    ["a fence in a quote", "> ```\n@ada"],
    ["an indented fence", " ```\n x\n```\n@ada"],
    ["a fence behind a tab", "\t```\n@ada"],
    ["a fence that a no-break space does not end", "```\nx\n```\u00A0\n```\n@ada"],
    ["a fence whose end is indented too far", "```\nx\n    ```\n```\n@ada"],
    ["a fence after a lone carriage return", "```\rx\r```\r@ada"],
    ["a fence in HTML", "<div>\n```\n@ada\n```\n</div>"],
    ["an HTML comment", "<!--\n```\n-->\n@ada"],
    ["HTML that contains a backtick", '<a href="`">@ada</a>`'],
    ["an HTML block of older Markdown", "<source> a\n```\n\n@ada"],
    ["an HTML block of newer Markdown", "<search> a\n```\n\nb\n\n```\n@ada"],
    ["a deeply indented quote", "> a\n    > ```\n> @ada"],
    ["a tag after a list", "- a `b\n<i>\n@ada` c"],
    ["cells of a table", "| a | b |\n| - | - |\n| `a | @ada` |"],
    ["cells of a table without bars", "a `b\n:-\n@ada` c"],
    ["a formula", "$a`b$ @ada `c"],
    ["a formula over two lines", "$a\n`b$ @ada `c"],
    ["a footnote", "[^1]: a\n\n    ```\n    b\n    ```\n\n`c` @ada"],
    ["a footnote that ends a fence", "[^1]: ```a b\n@ada\n```"],
    ["a footnote that ends a paragraph", "a `b\n[^1]: @ada` c"],
    ["a URL with a backtick", "https://example.com/`a @ada `b`"],
    ["a link with a backtick in its URL", "[a](b`c) @ada `d"],
    ["a link with a backtick in its name", "[a][@b`] @ada `c\n\n[@b`]: d"],
    ["a definition before a deeply indented line", "[a]: b\n    c `\nd` @ada `e"],
    ["a link around a hundred brackets", `[${"[".repeat(120)}${"]".repeat(120)}](b\`c) @ada \`d`],
    ["code by indentation", "text\n\n    @ada"],
    ["a forged mark", "`\uFFFF11\uFFFF` and @ada"],
  ])("does not assume code after %s", (_, text) => {
    expect(withoutMentions(text)).toContain(`@${J}ada`);
  });
});

describe("the Markdown of a comment for any text", () => {
  const bits = fc.constantFrom(
    "@",
    "a",
    "`",
    "```",
    "~~~",
    "\n",
    " ",
    "\\",
    "<b>",
    "|",
    "$",
    "&#64;",
    "- ",
    "> ",
  );
  const markdown = fc.array(bits, { maxLength: 40 }).map((found) => found.join(""));

  test("only adds joiners, each after an @", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const safe = withoutMentions(text);
        expect(safe.replaceAll(J, "")).toBe(text);
        expect(safe.replaceAll(/(?:@|&#64;)\u200D/g, "")).not.toContain(J);
      }),
    );
  });

  test("leaves no mention if there is no code", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const prose = text.replaceAll(/[`~]/g, "");
        expect(withoutMentions(prose)).not.toMatch(/(?<![A-Za-z0-9])@[A-Za-z0-9]/);
      }),
    );
  });

  const repeatedBits: [string, (size: number) => string][] = [
    "@",
    "@a ",
    "&",
    "&#64;",
    "https://a.b/@",
    "`a`@a|$",
  ].map((bit) => [JSON.stringify(bit), (size) => bit.repeat(size / bit.length)]);

  test.each([...HOSTILE_MARKDOWN, ...repeatedBits])("takes linear time for %s", (_what, textOf) => {
    expect(growthOf((size) => void withoutMentions(textOf(size)))).toBeLessThan(LINEAR_GROWTH);
  });
});

describe("plainName", () => {
  test.each([
    ["Claude", "Claude"],
    ["release bot (v2)", String.raw`release bot \(v2\)`],
    ["*bold* `code` <b> [x](y)", String.raw`\*bold\* \`code\` \<b\> \[x\]\(y\)`],
    ["@ada", `\\@${J}ada`],
    ["agent #1", `agent \\#${J}1`],
    ["two\nlines\u2028or three ", "two lines or three"],
    ["&commat;ada", String.raw`\&commat\;ada`],
  ])("turns %j into %j", (name, expected) => {
    expect(plainName(name)).toBe(expected);
  });
});
