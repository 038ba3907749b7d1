import { describe, expect, it } from "@jest/globals";
import {
  type MergeablePull,
  type ReleaseNotesCard,
  pickedMerges,
  releaseNotes,
} from "../../src/flow/releases.ts";
import { isTagName } from "../../src/flow/names.ts";

const cardWith = (card: Partial<ReleaseNotesCard>): ReleaseNotesCard => ({
  number: 1,
  title: "A card",
  pullRequests: [],
  hasNoWork: false,
  ...card,
});

const inTime = (number: number) => ({ number, isReleased: true });
const late = (number: number) => ({ number, isReleased: false });

describe("the notes of a release", () => {
  it("list the cards with their pull requests in the repository", () => {
    const notes = releaseNotes([
      cardWith({ number: 7, title: "Say hello", pullRequests: [inTime(3), inTime(5)] }),
      cardWith({ number: 12, title: "No Git" }),
    ]);
    expect(notes).toBe("- Card 7: Say hello (#3, #5)\n- Card 12: No Git");
    expect(releaseNotes([])).toBe("No cards.");
  });

  it.each<[string, Partial<ReleaseNotesCard>, string]>([
    ["that is unfinished and without a merge", { hasNoWork: true }, " (not in this release)"],
    ["whose merges were all too late", { pullRequests: [late(3)] }, " (not in this release)"],
    ["of which some merges were too late", { pullRequests: [inTime(3), late(5)] }, " (#3)"],
  ])("mark a card %s", (_, card, mark) => {
    expect(releaseNotes([cardWith(card)])).toBe(`- Card 1: A card${mark}`);
  });

  it.each(["@ada", "see #1", "a\nb", "<b>x</b>", "[x](https://x)", "GH-1"])("escape %j", (title) => {
    const notes = releaseNotes([cardWith({ title })]);
    expect(notes.split("\n")).toHaveLength(1);
    expect(notes).not.toMatch(/@\w|[^(]#\d|(?<!\\)[<[]/);
  });

  it("stay within GitHub's size limit", () => {
    const cards = Array.from({ length: 600 }, (_, at) =>
      cardWith({ number: at, title: "*".repeat(500), pullRequests: [inTime(1)] }),
    );
    const notes = releaseNotes(cards);
    expect(notes.length).toBeLessThan(125_000);
    expect(notes).toMatch(/- and \d+ more$/);
    expect(notes).toContain("…");
  });
});

describe("a tag name", () => {
  it.each(["v1", "api/v1.4.0", "2026-01-31", "größe"])("can be %s", (name) =>
    expect(isTagName(name)).toBe(true),
  );
  it.each(["", "@", "HEAD", "-v", "v^", "a".repeat(40), "v@{1}", "v:1"])("cannot be %j", (name) =>
    expect(isTagName(name)).toBe(false),
  );
});

describe("the merges that are picked", () => {
  const pull = (number: number, targetBranch: string, state: MergeablePull["state"]) => ({
    number,
    targetBranch,
    state,
  });
  it.each([
    [[], { waitsFor: null }],
    [[pull(3, "main", "open"), pull(2, "main", "closed")], { waitsFor: 3 }],
    [[pull(5, "main", "merged"), pull(3, "main", "merged")], { merged: [3, 5], into: "main" }],
    [[pull(3, "main", "merged"), pull(4, "production", "merged")], { merged: [3], into: "main" }],
    [[pull(3, "production", "merged"), pull(4, "main", "merged")], { merged: [4], into: "main" }],
    [[pull(3, "production", "merged"), pull(4, "main", "open")], { merged: [3], into: "production" }],
  ])("from the pull requests %j are %j", (pulls, expected) => {
    expect(pickedMerges(pulls, "main")).toEqual(expected);
  });
});
