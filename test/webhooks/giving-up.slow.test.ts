import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { cardWithAgent, openAgentPull, commentAs } from "../support/agents.ts";
import { commentsOf, writeComment } from "../support/stories/comments.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import type { ForgeAccount } from "../support/forge/forge-account.ts";
import { clearedWhen, itemsOf, itemWhen } from "../support/inbox.ts";
import type { OpenCard } from "../support/stories/open-card.ts";
import { compareWithForge } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const KIND = "agent_gave_up";

const world = useWorld();
let board: TestBoard;
let card: OpenCard;
let copilot: ForgeAccount;
beforeEach(async () => {
  ({ board, card, copilot } = await cardWithAgent(world));
});

/** Pushes one commit to a branch. */
async function pushTo(branch: string, by: ForgeAccount): Promise<void> {
  const clone = await by.clone(board);
  await clone.checkoutKnown(branch);
  await clone.commit("Go on", { "go-on.txt": `${Math.random()}\n` });
  await clone.push();
  await clone.remove();
}

describe("an agent that comments /give-up on a card's pull request", () => {
  // Contract: Timeline and comments: An agent's events have user kind `agent`
  // Contract: Inbox: `agent_gave_up`: an agent could not finish, with its reason
  it("is in the timeline and in the inbox with its reason", async () => {
    await commentAs(board, copilot, 1, "I tried.\n\n/give-up the tests need a database");
    const item = await itemWhen(board.api, KIND);
    expect(item).toMatchObject({
      detail: "the tests need a database",
      card: { number: card.number },
      repository: `${board.owner}/web`,
      dismissible: false,
      data: { prNumber: 1, reason: "the tests need a database", login: copilot.login },
    });
    const recorded = await board.api.eventWhen(card.number, ({ kind }) => kind === KIND);
    expect(recorded).toMatchObject({
      actor: { user: { kind: "agent" }, login: copilot.login },
      repositoryFullName: `${board.owner}/web`,
      data: { prNumber: 1, reason: "the tests need a database" },
    });
    expect((await board.api.delete(`/v1/inbox/${item.id}`)).status).toBe(409);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["a push", () => pushTo(card.branchName, copilot)],
    ["a move", () => board.api.move(card.number, board.stages["In progress"])],
    [
      "a new assignee",
      async () => {
        const [member] = (await board.api.get<{ id: string }[]>("/v1/members")).body;
        await board.api.patch(`/v1/cards/${card.number}`, { assigneeId: member?.id });
      },
    ],
  ])("gave up until %s, and can give up again later", async (_, act) => {
    await commentAs(board, copilot, 1, "/give-up");
    const first = await itemWhen(board.api, KIND);
    expect(first.detail).toContain("without giving a reason");
    await board.api.patch(`/v1/cards/${card.number}`, { priority: "high" });
    expect(await itemsOf(board.api, KIND)).toEqual([first]);
    await act();
    await clearedWhen(board.api, KIND);
    await commentAs(board, copilot, 1, "/give-up once more");
    const again = await itemWhen(board.api, KIND);
    expect(again.detail).toBe("once more");
    expect(again.id).not.toBe(first.id);
  });

  it("did not give up if it only quotes the command or somebody else comments it", async () => {
    const ada = (body: string) =>
      board.person("ada", "POST", `/repos/${board.owner}/web/issues/1/comments`, { body });
    await ada("/give-up please");
    await commentAs(
      board,
      copilot,
      1,
      "Say `/give-up` to stop me:\n\n```\n/give-up reason\n```\n\n> /give-up please",
    );
    await eventually(
      () => commentsOf(board.api, card.number),
      ({ length }) => length === 2,
    );
    expect(await itemsOf(board.api, KIND)).toEqual([]);
  });

  it("is recorded once, however often it edits the comment", async () => {
    const { body } = await copilot.call(board, "POST", "/issues/1/comments", { body: "/give-up one" });
    const first = await itemWhen(board.api, KIND);
    await copilot.call(board, "PATCH", `/issues/comments/${String(body["id"])}`, { body: "/give-up two" });
    await board.api.eventWhen(card.number, (item) => JSON.stringify(item).includes("/give-up two"));
    expect(await itemsOf(board.api, KIND)).toEqual([first]);
  });
});

describe("an agent's pull request", () => {
  it("counts as given up when the agent closes it unmerged, until it is reopened", async () => {
    const { number } = await openAgentPull(world, board, copilot, card);
    await copilot.call(board, "PATCH", `/pulls/${number}`, { state: "closed" });
    const item = await itemWhen(board.api, KIND);
    expect(item).toMatchObject({
      detail: expect.stringContaining(`#${number}`),
      data: { prNumber: number, reason: null, login: copilot.login },
    });
    expect(await itemsOf(board.api, "proposal_waiting")).toEqual([]);
    await copilot.call(board, "PATCH", `/pulls/${number}`, { state: "open" });
    await clearedWhen(board.api, KIND);
    await itemWhen(board.api, "proposal_waiting");
  });

  it("does not count as given up when somebody else closes it", async () => {
    const { number } = await openAgentPull(world, board, copilot, card);
    await itemWhen(board.api, "proposal_waiting");
    await board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/${number}`, { state: "closed" });
    await clearedWhen(board.api, "proposal_waiting");
    expect(await itemsOf(board.api, KIND)).toEqual([]);
  });

  it("with a later push no longer counts as given up", async () => {
    const { number, branch } = await openAgentPull(world, board, copilot, card);
    await commentAs(board, copilot, number, "/give-up too hard");
    expect((await itemWhen(board.api, KIND)).detail).toBe("too hard");
    await pushTo(branch, copilot);
    await clearedWhen(board.api, KIND);
  });

  it("may be the card's own pull request", async () => {
    const { number } = await board.api.card({ title: "Theirs" });
    await board.api.move(number, board.stages["In progress"]);
    const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
    await world.forge.commit(`${board.owner}/web`, branch, { "x.txt": "x\n" });
    const opened = await copilot.call(board, "POST", "/pulls", { title: "Mine", head: branch, base: "main" });
    const mine = Number(opened.body["number"]);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prNumber === mine);
    await copilot.call(board, "PATCH", `/pulls/${mine}`, { state: "closed" });
    expect(await itemWhen(board.api, KIND)).toMatchObject({ card: { number }, data: { prNumber: mine } });
    expect(await itemsOf(board.api, "proposal_waiting")).toEqual([]);
    // Both reasons make one item; a new one appears after somebody else continues.
    expect(await itemsOf(board.api, "pr_closed_outside")).toEqual([]);
    const [member] = (await board.api.get<{ id: string }[]>("/v1/members")).body;
    await board.api.patch(`/v1/cards/${number}`, { assigneeId: member?.id });
    expect(await itemsOf(board.api, KIND)).toEqual([]);
    expect(await itemsOf(board.api, "pr_closed_outside")).toMatchObject([{ data: { prNumber: mine } }]);
    await copilot.call(board, "PATCH", `/pulls/${mine}`, { state: "open" });
    await clearedWhen(board.api, "pr_closed_outside");
  });
});

describe("a comment with /give-up through the API", () => {
  it("makes its author give up, once for each comment and only on its board", async () => {
    const neighbour = await world.board();
    const key = "give-up-0123456789";
    await writeComment(board.api, card.number, "/give-up no access", { key });
    await writeComment(board.api, card.number, "/give-up no access", { key });
    const item = await itemWhen(board.api, KIND);
    expect(item).toMatchObject({
      detail: "no access",
      repository: null,
      data: { prNumber: null, login: null, name: "maintainer agent" },
    });
    const recorded = (await board.api.timeline(card.number)).filter(({ kind }) => kind === KIND);
    expect(recorded).toMatchObject([{ actor: { user: { kind: "machine" }, login: null } }]);
    expect(await itemsOf(neighbour.api, KIND)).toEqual([]);
  });
});

describe.each([
  ["closes", true],
  ["marks as merged at the next push to its target", false],
])("a pull request that GitHub %s after its branch was reset to the target", (_, closesEmptiedPulls) => {
  beforeEach(() => void (world.forge.settings.closesEmptiedPulls = closesEmptiedPulls));
  afterEach(() => void (world.forge.settings.closesEmptiedPulls = true));

  /** Resets a branch to its target, and pushes to the target. */
  async function empty(branch: string, target: string, by: ForgeAccount): Promise<void> {
    const clone = await by.clone(board);
    await clone.checkoutKnown(target);
    await clone.git("push", "-q", "--force", "origin", `HEAD:${branch}`);
    await clone.commit("Meanwhile", { "meanwhile.txt": `${Math.random()}\n` });
    await clone.push();
    await clone.remove();
    await allProcessed(world);
  }
  const pullOf = async () => (await board.api.readCard(card.number)).repositories[0];

  it("is followed by another one after the next commits, and counts as neither merged nor given up", async () => {
    await empty(card.branchName, "main", copilot);
    expect(await pullOf()).toMatchObject({ prNumber: 1, prState: "closed" });
    await compareWithForge(world);
    expect(await pullOf()).toMatchObject({ prNumber: 1, prState: "closed" });
    const reopened = await board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/1`, {
      state: "open",
    });
    expect(reopened.status).toBe(422);
    await pushTo(card.branchName, copilot);
    await eventually(pullOf, (pull) => pull?.prNumber === 2);
    const kinds = (await board.api.timeline(card.number)).map(({ kind }) => kind);
    expect(kinds).not.toContain("pull_request_merged");
    expect(kinds).not.toContain(KIND);
    expect(await itemsOf(board.api, "pr_merged_outside")).toEqual([]);
    expect((await board.api.move(card.number, board.stages.Done)).body.promoted).toMatchObject([
      { prNumber: 2 },
    ]);
  });

  it("of an agent is not given up", async () => {
    const { branch } = await openAgentPull(world, board, copilot, card);
    await itemWhen(board.api, "proposal_waiting");
    await empty(branch, card.branchName, copilot);
    await clearedWhen(board.api, "proposal_waiting");
    expect(await itemsOf(board.api, KIND)).toEqual([]);
    expect((await board.api.timeline(card.number)).map(({ kind }) => kind)).not.toContain("proposal_merged");
  });
});
