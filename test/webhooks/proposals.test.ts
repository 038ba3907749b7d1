import { beforeEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { openAgentPull } from "../support/agents.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { makeForgeAccount, type ForgeAccount } from "../support/forge/forge-account.ts";
import { clearedWhen, itemsOf, itemWhen } from "../support/inbox.ts";
import { openCard, type OpenCard } from "../support/stories/open-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let card: OpenCard;
let copilot: ForgeAccount;
let bots = 0;
beforeEach(async () => {
  board = await world.board();
  card = await openCard(world, board);
  copilot = makeForgeAccount(world, "copilot-swe-agent[bot]", [board]);
});

const stateOf = async (number: number): Promise<unknown> => {
  const { body } = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls/${number}`);
  return { state: body["state"], merged: body["merged"] };
};
const merge = (number: number) =>
  board.person("ada", "PUT", `/repos/${board.owner}/web/pulls/${number}/merge`, {});

describe("an agent's pull request into a card's branch", () => {
  // Contract: Inbox: `proposal_waiting`: an agent's pull request into the card's branch is open
  it("is in the inbox and on the timeline until somebody merges it on GitHub", async () => {
    const { number, branch } = await openAgentPull(world, board, copilot, card);
    const item = await itemWhen(board.api, "proposal_waiting");
    expect(item).toMatchObject({
      detail: expect.stringContaining(`#${number}`),
      card: { number: card.number },
      repository: `${board.owner}/web`,
      dismissible: false,
      data: {
        prNumber: number,
        headBranch: branch,
        targetBranch: card.branchName,
        isDraft: false,
        login: copilot.login,
      },
    });
    const opened = await board.api.eventWhen(card.number, ({ kind }) => kind === "proposal_opened");
    expect(opened).toMatchObject({
      actor: { user: { kind: "agent" }, login: copilot.login },
      repositoryFullName: `${board.owner}/web`,
      data: { prNumber: number, targetBranch: card.branchName },
    });
    expect((await board.api.readCard(card.number)).repositories).toMatchObject([{ prNumber: 1 }]);

    expect((await merge(number)).status).toBe(200);
    await clearedWhen(board.api, "proposal_waiting");
    const accepted = await board.api.eventWhen(card.number, ({ kind }) => kind === "proposal_accepted");
    expect(accepted).toMatchObject({
      actor: { user: { kind: "human" }, login: expect.stringContaining("ada-") },
      data: { prNumber: number, targetBranch: card.branchName, sha: expect.any(String) },
    });
    await board.api.eventWhen(card.number, ({ kind, data }) => kind === "pushed" && data["forced"] === false);
    const kinds = (await board.api.timeline(card.number)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind?.startsWith("proposal"))).toEqual([
      "proposal_opened",
      "proposal_accepted",
    ]);
    expect(kinds).not.toContain("pull_request_merged");
    expect((await board.api.readCard(card.number)).statusId).toBe(board.stages["In review"]);
  });

  // Contract: Authentication: The API cannot approve an agent's proposal
  it("cannot be approved through the API", async () => {
    const { number } = await openAgentPull(world, board, copilot, card);
    const { id } = await itemWhen(board.api, "proposal_waiting");
    expect((await board.api.delete(`/v1/inbox/${id}`)).status).toBe(409);
    expect((await board.api.post(`/v1/inbox/${id}/adopt`)).status).toBeGreaterThanOrEqual(400);
    const moved = await board.api.move(card.number, board.stages["Done"]);
    expect(moved).toMatchObject({ status: 200, body: { promoted: [{ prNumber: 1 }] } });
    expect(await stateOf(number)).toEqual({ state: "open", merged: false });
  });

  it("disappears when it is closed, and has a new item when it is reopened", async () => {
    const { number } = await openAgentPull(world, board, copilot, card);
    const first = await itemWhen(board.api, "proposal_waiting");
    const patch = (state: string) =>
      board.person("grace", "PATCH", `/repos/${board.owner}/web/pulls/${number}`, { state });
    await patch("closed");
    await clearedWhen(board.api, "proposal_waiting");
    expect(await itemsOf(board.api, "agent_gave_up")).toEqual([]);
    await patch("open");
    expect((await itemWhen(board.api, "proposal_waiting")).id).not.toBe(first.id);
  });

  it("keeps its id after pushes and repeated webhooks, and may be a draft", async () => {
    const { number, branch } = await openAgentPull(world, board, copilot, card, { draft: true });
    const first = await itemWhen(board.api, "proposal_waiting");
    expect(first.data["isDraft"]).toBe(true);
    const clone = await copilot.clone(board);
    await clone.checkout(branch);
    await clone.commit("More", { "more.txt": "more\n" });
    await clone.push();
    const headSha = await clone.git("rev-parse", "HEAD");
    await clone.remove();
    await copilot.call(board, "PATCH", `/pulls/${number}`, { body: "Said in other words." });
    await allProcessed(world);
    expect(await itemsOf(board.api, "proposal_waiting")).toEqual([
      { ...first, data: { ...first.data, headSha } },
    ]);
    expect(
      (await board.api.timeline(card.number)).filter(({ kind }) => kind === "proposal_opened"),
    ).toHaveLength(1);
  });

  it("is a proposal only while its base is the card's branch", async () => {
    const { number } = await openAgentPull(world, board, copilot, card, { base: "main" });
    await allProcessed(world);
    const aim = (base: string) => copilot.call(board, "PATCH", `/pulls/${number}`, { base });
    await board.api.eventWhen(card.number, ({ kind }) => kind === "pull_request_opened");
    expect(await itemsOf(board.api, "proposal_waiting")).toEqual([]);
    expect((await aim(card.branchName)).status).toBe(200);
    await itemWhen(board.api, "proposal_waiting");
    expect((await aim("main")).status).toBe(200);
    await clearedWhen(board.api, "proposal_waiting");
  });

  it("disappears with its card", async () => {
    await openAgentPull(world, board, copilot, card);
    await itemWhen(board.api, "proposal_waiting");
    expect((await board.api.delete(`/v1/cards/${card.number}`)).status).toBe(204);
    expect(await itemsOf(board.api, "proposal_waiting")).toEqual([]);
  });
});

describe("another user's pull request into a card's branch", () => {
  it("is no proposal until the board registers its author as an agent", async () => {
    const helper = makeForgeAccount(world, `helper-${++bots}[bot]`, [board]);
    const { number } = await openAgentPull(world, board, helper, card);
    const proof = await openAgentPull(world, board, copilot, card);
    const item = await itemWhen(board.api, "proposal_waiting");
    expect(item.data["prNumber"]).toBe(proof.number);
    const line = commandLineOf(world);
    await line.json("agent", "add", "--workspace", board.workspaceId, "--login", helper.login);
    const waiting = await itemsOf(board.api, "proposal_waiting");
    expect(new Set(waiting.map(({ data }) => data["prNumber"]))).toEqual(new Set([number, proof.number]));
    expect((await merge(number)).status).toBe(200);
    const accepted = await board.api.eventWhen(card.number, ({ kind }) => kind === "proposal_accepted");
    expect(accepted.data["prNumber"]).toBe(number);
  });
});
