import { afterEach, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { clearedWhen, itemsOf, itemWhen } from "../support/inbox.ts";
import { loginOf, pullPath, cardWithCommit } from "../support/stories/work-on-card.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const setState = (board: TestBoard, state: "open" | "closed", number = 1) =>
  board.person("grace", "PATCH", pullPath(board, number), { state });

describe("a pull request that a person closed", () => {
  // Contract: Inbox: `pr_closed_outside`: someone closed the pull request and it is still closed
  it("has an inbox item until it is reopened, and a new one after it is closed again", async () => {
    const board = await world.board();
    const { number } = await cardWithCommit(board);
    await setState(board, "closed");
    const first = await itemWhen(board.api, "pr_closed_outside");
    const login = loginOf(board, "grace");
    expect(first).toMatchObject({
      detail: `${login} closed pull request #1 without merging it.`,
      card: { number },
      repository: `${board.owner}/web`,
      dismissible: false,
      data: { prNumber: 1, targetBranch: "main", login },
    });
    await setState(board, "open");
    await clearedWhen(board.api, "pr_closed_outside");
    // GitHub's times are whole seconds: two closings within one second would be the same event.
    await eventually(
      async () => Math.floor(Date.now() / 1000),
      (second) => second > Math.floor(Date.parse(first.at) / 1000),
    );
    await setState(board, "closed");
    expect((await itemWhen(board.api, "pr_closed_outside")).id).not.toBe(first.id);
  });

  it("has no inbox item after another pull request replaced it or the card moved to the backlog", async () => {
    const board = await world.board();
    const { branchName } = await cardWithCommit(board);
    await setState(board, "closed");
    await itemWhen(board.api, "pr_closed_outside");
    const opened = await board.person("ada", "POST", `/repos/${board.owner}/web/pulls`, {
      title: "Once more",
      head: branchName,
      base: "main",
    });
    expect(opened.status).toBe(201);
    await clearedWhen(board.api, "pr_closed_outside");
    const other = await cardWithCommit(board);
    await board.api.cardWhen(other.number, ({ repositories }) => repositories[0]?.prNumber === 3);
    await setState(board, "closed", 3);
    await itemWhen(board.api, "pr_closed_outside");
    await board.api.move(other.number, board.stages.Backlog);
    expect(await itemsOf(board.api, "pr_closed_outside")).toEqual([]);
  });
});
