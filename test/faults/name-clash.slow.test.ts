import { randomUUID } from "node:crypto";
import { afterEach, expect, it } from "@jest/globals";
import { expectConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(async () => {
  const board = world.boards.at(-1);
  if (board) await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
});

const branchesOf = async (board: TestBoard): Promise<string[]> => {
  const { body } = await board.person("ada", "GET", `/repos/${board.owner}/web/branches`);
  return (body as unknown as { name: string }[]).map(({ name }) => name).toSorted();
};

// Fault: D8
it("a branch named like a folder of the card's branch refuses the move until it is deleted", async () => {
  const board = await world.board();
  await world.forge.commit(`${board.owner}/web`, "card", { "theirs.txt": "theirs\n" }, { from: "main" });
  const { number } = await board.api.card({ title: "Say hello" });
  const key = randomUUID();
  const move = () => board.api.move(number, board.stages["In progress"], 0, { key });
  const refused = await move();
  expect(refused).toMatchObject({
    status: 409,
    body: { promoted: [], blocked: { repository: `${board.owner}/web` } },
  });
  expect(refused.body.message).not.toBe("");
  expect(await branchesOf(board)).toEqual(["card", "main"]);
  await board.person("ada", "DELETE", `/repos/${board.owner}/web/git/refs/heads/card`);
  expect((await move()).status).toBe(200);
  expect(await branchesOf(board)).toEqual([`card/${number}-say-hello`, "main"]);
});

it("a branch below the name of the card's branch refuses the move and is not overwritten", async () => {
  const board = await world.board();
  const { number } = await board.api.card({ title: "Say hello" });
  const theirs = `card/${number}-say-hello/theirs`;
  const sha = await world.forge.commit(`${board.owner}/web`, theirs, { "t.txt": "t\n" }, { from: "main" });
  const moved = await board.api.move(number, board.stages["In progress"]);
  expect(moved).toMatchObject({ status: 409, body: { blocked: { repository: `${board.owner}/web` } } });
  const kept = await board.person("ada", "GET", `/repos/${board.owner}/web/git/ref/heads/${theirs}`);
  expect(kept.body).toMatchObject({ object: { sha } });
});

it("a branch that differs only in case is not used", async () => {
  const board = await world.board();
  const { number } = await board.api.card({ title: "Say hello" });
  const theirs = `card/${number}-Say-Hello`;
  await world.forge.commit(`${board.owner}/web`, theirs, { "theirs.txt": "theirs\n" }, { from: "main" });
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
  expect((await board.api.readCard(number)).repositories).toMatchObject([
    { branchName: `card/${number}-say-hello` },
  ]);
  expect(await branchesOf(board)).toEqual([theirs, `card/${number}-say-hello`, "main"].toSorted());
});
