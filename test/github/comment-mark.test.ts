import { describe, expect, test } from "@jest/globals";
import { markedComment, markOf, withoutMarks } from "../../src/actions/comments/comment-mark.ts";
import { cpuMillisecondsOf } from "../support/cpu-time.ts";

const secret = Buffer.from("a secret of the test");
const commentId = "01900000-0000-7000-8000-000000000001";
const place = { repositoryForgeId: 42, prNumber: 5 };
const mark = markOf(secret, { ...place, commentId });

describe("the mark of a mirrored comment", () => {
  test("identifies the mirrored comment and is invisible to readers", () => {
    expect(mark).toMatch(/^<!-- .* -->$/);
    expect(markedComment(secret, `${mark}\n\nHello`, place)).toBe(commentId);
    expect(markedComment(secret, `\r\n${mark}`, place)).toBe(commentId);
  });

  test.each([
    ["another secret", Buffer.from("another"), mark, place],
    ["another pull request", secret, mark, { ...place, prNumber: 6 }],
    ["another repository", secret, mark, { ...place, repositoryForgeId: 43 }],
    ["another comment", secret, mark.replace("1 ", "2 "), place],
    ["a signature that is too short", secret, mark.replace(/.{3} -->$/, " -->"), place],
    ["another position in the text", secret, `Hello ${mark}`, place],
    ["no mark", secret, "Hello", place],
    ["no text", secret, "", place],
  ])("is not valid with %s", (_, key, text, where) => {
    expect(markedComment(key, text, where)).toBeNull();
  });
});

describe("a text without marks", () => {
  test.each([
    [`a${mark}b`, "ab"],
    ["<!-- trunk<!-- trunkline:x -->line:y -->", ""],
    [`<!-- trunk${mark}line:comment`, "<!-- trunkline:comment"],
    ["<!--TRUNKLINE:x-->", ""],
    ["<!-- another comment --> and trunkline: a word", "<!-- another comment --> and trunkline: a word"],
  ])("is of %j %j", (text, expected) => {
    expect(withoutMarks(text)).toBe(expected);
  });

  test.each([
    ["beginnings and ends", "<!-- trunkline:".repeat(3_300) + "-->".repeat(3_300)],
    ["ends", "-->".repeat(20_000)],
    ["beginnings", "<!-- trunkline:".repeat(4_000)],
    ["only spaces in a mark", `<!--${" ".repeat(60_000)}trunkline:x-->`],
  ])("needs linear time for 60,000 characters of %s", (_, text) => {
    expect(cpuMillisecondsOf(() => withoutMarks(text))).toBeLessThan(1_000);
  });
});
