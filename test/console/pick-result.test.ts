import { describe, expect, it } from "@jest/globals";
import { changeOf, pickableIn, pickNotice } from "../../console/releases/picks/pick-result.ts";

const card = (number: number, pickedAt: string | null = null) => ({
  number,
  title: "Say hello",
  statusId: null,
  pickedAt,
  isMissing: false,
});
const release = (headSha: string, ...cards: ReturnType<typeof card>[]) => ({
  cards,
  repositories: [
    { repositoryId: "", fullName: "acme/web", branchName: "release/1", headSha, holdsCards: true },
  ],
});
const picked = card(1, "2026-01-01T00:00:00.000Z");

describe("a pick", () => {
  it.each([
    ["picked", release("a", card(1)), release("b", picked)],
    ["picked", release("a"), release("b", picked)],
    ["added", release("a", card(2)), release("a", picked, card(2))],
    ["contained", release("a", card(1)), release("a", card(1))],
    ["contained", release("a", picked), release("b", picked)],
  ])("has the change %s", (change, before, after) => expect(changeOf(before, after, 1)).toBe(change));

  it.each([
    ["Card 1 was not picked", [], [1]],
    ["Card 1 was picked", [[1, "picked"]], [1]],
    ["The release branch already contains the commits of card 1", [[1, "contained"]], [1]],
    [
      "2 of 4 cards were picked. The release branch already contained the commits of 1",
      [
        [1, "picked"],
        [2, "picked"],
        [3, "added"],
      ],
      [1, 2, 3, 4],
    ],
  ] as const)("has the notice: %s", (notice, changes, asked) =>
    expect(pickNotice(new Map(changes), asked)).toBe(notice),
  );
});

describe("a card of a frozen release", () => {
  it("can be picked if its work is merged and missing, and it was not picked", () => {
    const cards = [card(1), card(2), card(3, "2026-01-01T00:00:00.000Z"), card(4)];
    expect([...pickableIn({ cards }, { missingCards: [2, 3, 4], unmergedCards: [4] })]).toEqual([2]);
  });
});
