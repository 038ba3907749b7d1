import { describe, expect, it } from "@jest/globals";
import type { BoardSnapshot } from "../../console/api/patch-board.ts";
import { fits, type Filters } from "../../console/board/filters.ts";
import { effectsBetween, type MoveOutcome, type MoveState } from "../../console/board/moves/move.ts";
import { showMoves } from "../../console/board/moves/show-moves.ts";
import { withoutBranch } from "../support/api.ts";
import { boardColumn, boardTask } from "../support/console/board-data.ts";

const board: BoardSnapshot = {
  columns: [boardColumn("todo", [1, 2, 3]), boardColumn("doing", [4])],
  feedSeq: 1,
};

const move = (
  number: number,
  to: string,
  above: number | null,
  outcome: MoveOutcome | null,
  usesGit = true,
): MoveState => ({
  request: {
    number,
    from: { statusId: "todo", above: null },
    to: { statusId: to, above, index: 0 },
    stageName: to,
    usesGit,
    hasLanded: false,
    key: `key-${number}`,
  },
  outcome,
});

const shown = (...moves: readonly MoveState[]): Record<string, number[]> => {
  const states = new Map(moves.map((each) => [each.request.number, each]));
  return Object.fromEntries(
    showMoves(board, states).columns.map(({ statusId, tasks }) => [
      statusId,
      tasks.map((each) => each.number),
    ]),
  );
};

describe("the board with pending moves", () => {
  it("has each card where it will be", () => {
    expect(shown(move(1, "doing", 4, null), move(2, "todo", 3, null))).toEqual({
      todo: [3, 2],
      doing: [4, 1],
    });
  });

  it("takes back only the card whose move has failed", () => {
    const failed: MoveOutcome = { state: "failed", message: "No.", canRetry: false, shownIn: "todo" };
    expect(shown(move(1, "doing", 4, failed), move(2, "doing", null, null))).toEqual({
      todo: [1, 3],
      doing: [2, 4],
    });
  });

  it("is the cached board while nothing is pending", () => {
    expect(showMoves(board, new Map())).toBe(board);
  });

  it("leaves out a card that goes to the backlog", () => {
    expect(shown(move(1, "backlog", null, null, false))).toEqual({ todo: [2, 3], doing: [4] });
  });

  it("keeps a card that goes elsewhere as long as Git work is pending", () => {
    expect(shown(move(1, "elsewhere", null, null))).toEqual({ todo: [1, 2, 3], doing: [4] });
  });
});

describe("a filter", () => {
  const everything: Filters = { q: "", label: null, assignee: null, feature: null, blocked: false };
  const label = { id: "bug", name: "Bug", color: "red" as const };
  const ada = { id: "ada", name: "Ada", avatarUrl: null, kind: "human" as const };
  const card = boardTask(7, "todo", {
    title: "Fix the Über-export",
    labels: [label],
    assignee: ada,
    featureId: "f",
  });
  it.each<[string, Partial<Filters>, boolean]>([
    ["nothing", {}, true],
    ["words of the title in any order", { q: "export fix" }, true],
    ["letters of any case", { q: "über" }, true],
    ["the number", { q: "#7" }, true],
    ["another word", { q: "import" }, false],
    ["its label", { label: "bug" }, true],
    ["another label", { label: "docs" }, false],
    ["its assignee", { assignee: "ada" }, true],
    ["nobody", { assignee: "none" }, false],
    ["its feature", { feature: "f" }, true],
    ["refused cards", { blocked: true }, false],
    ["its label and another word", { label: "bug", q: "import" }, false],
  ])("by %s", (_, filters, isShown) => {
    expect(fits(card, { ...everything, ...filters })).toBe(isShown);
  });
});

describe("the effects of a move", () => {
  const link = withoutBranch("acme/web");
  const withBranch = { ...link, branchName: "card/7-hello" };
  const draft = { ...withBranch, prNumber: 3, prState: "draft" as const };

  it.each([
    ["a branch", [link], [withBranch], ["Its branch is card/7-hello."]],
    ["a pull request", [withBranch], [draft], ["Its pull request is #3."]],
    [
      "readiness",
      [draft],
      [{ ...draft, prState: "open" as const }],
      ["Pull request #3 is ready for review."],
    ],
    ["a merge", [draft], [{ ...draft, prState: "merged" as const }], ["Pull request #3 is merged."]],
    ["nothing", [draft], [draft], []],
  ])("name %s", (_, before, after, sentences) => {
    expect(effectsBetween(before, after)).toEqual(sentences);
  });

  it("name the repository if the card has several", () => {
    const api = { ...withBranch, fullName: "acme/api" };
    expect(effectsBetween([link], [withBranch, api])).toEqual([
      "Its branch is card/7-hello in acme/web.",
      "Its branch is card/7-hello in acme/api.",
    ]);
  });
});
