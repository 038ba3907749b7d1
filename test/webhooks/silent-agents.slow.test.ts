import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { accountByLogin } from "../../sandbox/forge/world.ts";
import { eventually } from "../support/api.ts";
import { cardWithAgent, openAgentPull, commentAs, type Offer } from "../support/agents.ts";
import { commentsOf, forgeComments } from "../support/stories/comments.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { makeForgeAccount, type ForgeAccount } from "../support/forge/forge-account.ts";
import { clearedWhen, itemsOf, itemWhen } from "../support/inbox.ts";
import type { OpenCard } from "../support/stories/open-card.ts";
import { compareWithForge, loseWebhooks } from "../support/stories/repairing.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

const KIND = "agent_stopped_reacting";

let world: TestWorld;
let board: TestBoard;
let card: OpenCard;
let copilot: ForgeAccount;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  ({ board, card, copilot } = await cardWithAgent(world));
});

/** The recorded questions and turns of the card's conversations. */
const conversations = async () => {
  const { db } = world.service.deps;
  const rows = (table: string) =>
    db<{ kind?: string; works?: boolean }>(table)
      .join("cards", "cards.id", `${table}.card_id`)
      .where({ workspace_id: board.workspaceId, number: card.number })
      .select(`${table}.*`);
  return { asks: await rows("awaited_reactions"), turns: await rows("last_reactions") };
};
const asksWhen = (count: number) => eventually(conversations, ({ asks }) => asks.length === count);

/** Simulates the passage of hours for the board's conversations after all deliveries are processed. */
async function simulateHours(hours: number): Promise<void> {
  const { db } = world.service.deps;
  await world.forge.waitUntilIdle();
  await eventually(
    () => db("deliveries").where({ state: "waiting" }),
    ({ length }) => length === 0,
  );
  const cards = db("cards").where({ workspace_id: board.workspaceId }).select("id");
  for (const [table, column] of [
    ["last_reactions", "acted_at"],
    ["awaited_reactions", "asked_at"],
  ] as const) {
    await db(table)
      .whereIn("card_id", cards)
      .update({ [column]: db.raw(`${column} - ? * interval '1 hour'`, [hours]) });
  }
}

/** A push by the agent to the card's branch, with the email address of its account. */
async function work(branch = card.branchName): Promise<string> {
  const { email } = accountByLogin(world.forge.context, copilot.login);
  const clone = await copilot.clone(board);
  await clone.checkout(branch);
  await clone.commit("Work", { "work.txt": `${Math.random()}\n` });
  await clone.git("commit", "-q", "--amend", "--no-edit", "--author", `${copilot.login} <${email}>`);
  const sha = await clone.git("rev-parse", "HEAD");
  await clone.push();
  await clone.remove();
  return sha;
}

/** Makes the agent push to the card's branch an hour ago. */
async function worked(): Promise<string> {
  const sha = await work();
  await simulateHours(1);
  return sha;
}

const ada = (method: string, path: string, body: unknown) =>
  board.person("ada", method, `/repos/${board.owner}/web${path}`, body);
const review = (number: number, event: string, body = "Rename it.") =>
  ada("POST", `/pulls/${number}/reviews`, { event, body });
const check = (sha: string, state: string) => ada("POST", `/statuses/${sha}`, { state, context: "ci" });
const ask = (number: number, body: string) => ada("POST", `/issues/${number}/comments`, { body });

describe("an agent that works on a card's branch", () => {
  it.each<[string, string, (sha: string) => Promise<unknown>]>([
    ["changes_requested", "requested changes", () => review(1, "REQUEST_CHANGES")],
    ["checks_failing", "failing checks", (sha) => check(sha, "failure")],
    ["question", "a question", () => ask(1, "Why is that?")],
  ])("that leaves %s unanswered stopped reacting after the flow's hours", async (reason, words, make) => {
    await make(await worked());
    await asksWhen(1);
    await simulateHours(23);
    expect(await itemsOf(board.api, KIND)).toEqual([]);
    await simulateHours(1);
    const item = await itemWhen(board.api, KIND);
    expect(item).toMatchObject({
      detail: expect.stringContaining(`has not reacted to ${words} on pull request #1`),
      card: { number: card.number },
      repository: `${board.owner}/web`,
      dismissible: false,
      data: { prNumber: 1, login: copilot.login, reason, agentSilenceHours: 24 },
    });
    expect(await itemsOf(board.api, KIND)).toEqual([item]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ["pushes", () => work()],
    ["responds", () => commentAs(board, copilot, 1, "Because.")],
  ])("reacts if it %s, and stops reacting when it is silent again", async (_, react) => {
    await worked();
    await ask(1, "Why is that?");
    await asksWhen(1);
    await simulateHours(25);
    const first = await itemWhen(board.api, KIND);
    await react();
    await clearedWhen(board.api, KIND);
    await simulateHours(1);
    await ask(1, "And why this?");
    await asksWhen(2);
    await simulateHours(24);
    expect((await itemWhen(board.api, KIND)).id).not.toBe(first.id);
  });

  it("does not react when a maintainer hides or edits its comment, and hiding is no edit", async () => {
    await worked();
    await commentAs(board, copilot, 1, "I begin.");
    await simulateHours(1);
    await ask(1, "Why is that?");
    await asksWhen(1);
    await simulateHours(25);
    await itemWhen(board.api, KIND);
    const [own] = await forgeComments(board);
    await world.forge.webUi.hideComment(own?.id ?? 0, `ada-${board.owner.slice(4)}`);
    await simulateHours(0);
    const isEdited = async () =>
      (await commentsOf(board.api, card.number)).map(({ editedAt }) => editedAt !== null);
    expect(await isEdited()).toEqual([false, false]);
    await ada("PATCH", `/issues/comments/${own?.id ?? 0}`, { body: "It begins." });
    await eventually(isEdited, ([first]) => first === true);
    await itemWhen(board.api, KIND);
  });

  it("is asked a question that is added to a review later, until it is removed", async () => {
    await worked();
    const { body } = await review(1, "COMMENT", "It works.");
    const edit = (text: string) => ada("PUT", `/pulls/1/reviews/${String(body["id"])}`, { body: text });
    await edit("It works. Why?");
    expect((await asksWhen(1)).asks).toMatchObject([{ kind: "question" }]);
    await edit("It works.");
    await asksWhen(0);
  });

  it("has no open question after an approval, a passed check or its deletion", async () => {
    const sha = await worked();
    const question = await ask(1, "Why is that?");
    await review(1, "REQUEST_CHANGES");
    await check(sha, "failure");
    await asksWhen(3);
    await simulateHours(30);
    await itemWhen(board.api, KIND);
    await review(1, "APPROVE");
    await check(sha, "success");
    await ada("DELETE", `/issues/comments/${String(question.body["id"])}`, undefined);
    await asksWhen(0);
    expect(await itemsOf(board.api, KIND)).toEqual([]);
  });

  it("is asked by the summary of a review until its dismissal", async () => {
    await worked();
    await review(1, "COMMENT", "Looks good so far.");
    await review(1, "COMMENT", "Why is that?");
    await asksWhen(1);
    const demand = await review(1, "REQUEST_CHANGES", "Could you rename it?");
    await asksWhen(3);
    await ada("PUT", `/pulls/1/reviews/${String(demand.body["id"])}/dismissals`, { message: "Never mind" });
    await asksWhen(1);
    await simulateHours(30);
    expect(await itemWhen(board.api, KIND)).toMatchObject({ data: { reason: "question" } });
  });

  it("is not reported if the pull request is closed or the card is done", async () => {
    await worked();
    await ask(1, "Why is that?");
    await asksWhen(1);
    await simulateHours(30);
    await itemWhen(board.api, KIND);
    expect((await board.api.move(card.number, board.stages["Done"])).status).toBe(200);
    expect(await itemsOf(board.api, KIND)).toEqual([]);
  });

  it("is not asked by a comment without a question, another agent or code", async () => {
    await worked();
    const other = makeForgeAccount(world, "claude[bot]", [board]);
    await commentAs(board, other, 1, "Shall I?");
    await ask(1, "Fine. `a ? b : c`");
    await ask(1, "Is this the last one?");
    await asksWhen(1);
    expect((await conversations()).asks).toMatchObject([{ kind: "question" }]);
  });

  // Contract: Inbox: `agent_stopped_reacting`: an agent did not react within the flow's hours
  it("has the number of hours that the flow defines", async () => {
    const path = `/v1/projects/${board.projectId}/flow`;
    const flow = (await board.api.get<object>(path)).body;
    expect((await board.api.put(path, { ...flow, agentSilenceHours: 2 })).status).toBe(200);
    await worked();
    await ask(1, "Why is that?");
    await asksWhen(1);
    await simulateHours(2);
    expect((await itemWhen(board.api, KIND)).data).toMatchObject({ agentSilenceHours: 2 });
  });
});

describe("an agent whose webhooks were lost", () => {
  afterEach(() => world.forge.control.webhooks.clear());

  it("has reacted when its push is found, and earlier questions are closed", async () => {
    await worked();
    await ask(1, "Why is that?");
    await asksWhen(1);
    await simulateHours(25);
    await itemWhen(board.api, KIND);
    loseWebhooks(world);
    await work();
    await compareWithForge(world);
    expect(await itemsOf(board.api, KIND)).toEqual([]);
  });

  it("has not reacted by a push before the question", async () => {
    await worked();
    loseWebhooks(world);
    await work();
    await world.forge.waitUntilIdle();
    world.forge.control.webhooks.clear();
    await simulateHours(1);
    // GitHub's times have whole seconds.
    const second = () => Promise.resolve(Math.floor(Date.now() / 1_000));
    const now = await second();
    await eventually(second, (then) => then > now);
    await ask(1, "Why is that?");
    await asksWhen(1);
    await compareWithForge(world);
    await simulateHours(24);
    expect((await itemWhen(board.api, KIND)).data).toMatchObject({ reason: "question" });
  });

  it("is asked by failing checks that are found later, until a close that is found later", async () => {
    const sha = await worked();
    loseWebhooks(world);
    await check(sha, "failure");
    await compareWithForge(world);
    await simulateHours(24);
    expect((await itemWhen(board.api, KIND)).data).toMatchObject({ reason: "checks_failing" });
    await ada("PATCH", "/pulls/1", { state: "closed" });
    await compareWithForge(world);
    expect((await conversations()).asks).toEqual([]);
  });
});

describe("a person who works on a card's branch", () => {
  it("is not reported, unless the board registered the account as an agent", async () => {
    const helper = makeForgeAccount(world, `quiet-helper-${board.owner}[bot]`, [board]);
    copilot = helper;
    await worked();
    await ask(1, "Why is that?");
    await asksWhen(1);
    await simulateHours(25);
    expect(await itemsOf(board.api, KIND)).toEqual([]);
    await commandLineOf(world).json(
      "agent",
      "add",
      "--workspace",
      board.workspaceId,
      "--login",
      helper.login,
    );
    expect((await itemWhen(board.api, KIND)).data["login"]).toBe(helper.login);
  });
});

describe("an agent's proposal", () => {
  let proposal: Offer;
  beforeEach(async () => {
    proposal = await openAgentPull(world, board, copilot, card);
    await itemWhen(board.api, "proposal_waiting");
  });

  it.each<[string, () => Promise<unknown>]>([
    ["changes_requested", () => review(proposal.number, "REQUEST_CHANGES")],
    ["question", () => ask(proposal.number, "Why is that?")],
    [
      "checks_failing",
      async () => {
        const pull = await ada("GET", `/pulls/${proposal.number}`, undefined);
        await check((pull.body["head"] as { sha: string }).sha, "failure");
      },
    ],
  ])("is watched, too: %s", async (reason, make) => {
    await eventually(conversations, ({ turns }) => turns.some(({ works }) => works === true));
    await simulateHours(1);
    await make();
    await asksWhen(1);
    await simulateHours(24);
    expect(await itemWhen(board.api, KIND)).toMatchObject({
      data: { prNumber: proposal.number, reason, login: copilot.login },
    });
    await work(proposal.branch);
    await clearedWhen(board.api, KIND);
  });
});
