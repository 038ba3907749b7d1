/** Boards recover automatically after any webhook failure. */
import { expect, it } from "@jest/globals";
import { simulateHour } from "../support/simulate-hour.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { commentsOf, forgeComments } from "../support/stories/comments.ts";
import { openCard } from "../support/stories/open-card.ts";
import {
  setPullState,
  merge,
  pullOf,
  push,
  review,
  commentOnPull,
  editPullComment,
  eventsOf,
} from "../support/stories/repairing.ts";
import { expectAllConsistent, expectConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld({}, expectAllConsistent);

/** The comments of a pull request, in a fixed order. */
async function saidOnForge(board: TestBoard, pull: number): Promise<string[]> {
  const path = `/repos/${board.owner}/web`;
  const comments = await forgeComments(board, "web", pull);
  const reviews = (await board.person("ada", "GET", `${path}/pulls/${pull}/reviews`)).body as unknown as {
    state: string;
  }[];
  return [...comments.map(({ body }) => body), ...reviews.map(({ state }) => state.toLowerCase())].toSorted();
}

const saidHere = async (board: TestBoard, number: number): Promise<string[]> =>
  [
    ...(await commentsOf(board.api, number)).map(({ body }) => body),
    ...(await eventsOf(board, number, "review_submitted")).map(({ data }) => String(data["state"])),
  ].toSorted();

/** A card's state on GitHub in the fields of the API. */
async function onForge(board: TestBoard, branchName: string, pull: number) {
  const path = `/repos/${board.owner}/web`;
  const { body } = await board.person("ada", "GET", `${path}/pulls/${pull}`);
  const branch = await board.person("ada", "GET", `${path}/git/ref/heads/${branchName}`);
  const sha = (branch.body["object"] as { sha: string }).sha;
  const status = await board.person("ada", "GET", `${path}/commits/${sha}/status`);
  const checks = { success: "passing", failure: "failing", pending: "pending" };
  const none = status.body["total_count"] === 0;
  return {
    prState: body["merged"] === true ? "merged" : body["draft"] === true ? "draft" : String(body["state"]),
    checksState: none ? null : checks[status.body["state"] as keyof typeof checks],
  };
}

// Fault: B3
it.each([
  ["all of them are dropped but in GitHub's log", { kind: "drop" }],
  ["all of them are lost and not in GitHub's log", { kind: "drop", unlogged: true }],
  ["a third is lost and not in GitHub's log", { kind: "drop", unlogged: true, percent: 33 }],
] as const)(
  "%s for a while, and a fifth of the later ones is late; boards are correct within two hours",
  async (_, fault) => {
    const board = await world.board();
    const cards = [];
    for (let count = 0; count < 3; count++) {
      const { number, branchName } = await openCard(world, board, ["web"]);
      cards.push({ number, branchName, pull: await pullOf(board, number) });
      await push(board, branchName, `start-${number}.txt`);
      await allProcessed(world);
    }
    const [one, two, three] = cards;
    if (!one || !two || !three) throw new Error("the three cards are missing");
    const report = async (sha: string, state: string): Promise<void> => {
      await board.person("ada", "POST", `/repos/${board.owner}/web/statuses/${sha}`, {
        state,
        context: "ci",
      });
    };

    const early = await commentOnPull(board, one.pull, "Early");

    world.forge.control.webhooks.add({ fault });
    await commentOnPull(board, one.pull, "One");
    await editPullComment(board, early, "Early, and better");
    await review(board, one.pull, "REQUEST_CHANGES");
    await commentOnPull(board, two.pull, "Two");
    await review(board, two.pull, "APPROVE");
    await report(await push(board, one.branchName, "one.txt"), "failure");
    await merge(board, two.pull);
    await setPullState(board, three.pull, "closed");
    await push(board, three.branchName, "three.txt");
    await world.forge.waitUntilIdle();
    world.forge.control.webhooks.clear();

    world.forge.control.webhooks.add({ fault: { kind: "hold", percent: 20 } });
    await report(await push(board, one.branchName, "more.txt"), "success");
    await review(board, one.pull, "APPROVE");
    await editPullComment(board, await commentOnPull(board, three.pull, "Three"), "Three, at last");
    await setPullState(board, three.pull, "open");
    for (let count = 0; count < 4; count++) {
      await report(await push(board, one.branchName, `more-${count}.txt`), "pending");
      await commentOnPull(board, three.pull, `More ${count}`);
    }
    await world.forge.waitUntilIdle();
    world.forge.control.webhooks.clear();
    await world.forge.control.webhooks.release("shuffled");

    await simulateHour(world);
    await simulateHour(world);
    for (const { number, branchName, pull } of cards) {
      const [link] = (await board.api.readCard(number)).repositories;
      const { prState, checksState } = await onForge(board, branchName, pull);
      expect({ number, prState: link?.prState, checksState: link?.checksState }).toEqual({
        number,
        prState,
        checksState,
      });
      expect({ number, said: await saidHere(board, number) }).toEqual({
        number,
        said: await saidOnForge(board, pull),
      });
      const keys = await world.service.deps
        .db("timeline_items as t")
        .join("cards as c", "c.id", "t.card_id")
        .where({ "c.workspace_id": board.workspaceId, "c.number": number, kind: "pull_request_merged" });
      expect(keys.length).toBe(prState === "merged" ? 1 : 0);
    }
    await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
    const before = await Promise.all(cards.map(({ number }) => board.api.timeline(number)));
    await simulateHour(world);
    expect(await Promise.all(cards.map(({ number }) => board.api.timeline(number)))).toEqual(before);
  },
);
