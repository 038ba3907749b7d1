import { beforeAll, expect, it } from "@jest/globals";
import { armedCard } from "../armed/support/armed-cards.ts";
import { signedIn, type Person } from "../support/console/people.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let person: Person;
beforeAll(async () => {
  board = await world.board();
  person = await signedIn(world, [board], "viewer");
});

const read = (projectId: string) => person.browser.get(`/console/v1/projects/${projectId}/stages`);

it("the cards of each stage are counted, and the first ones listed", async () => {
  const none = { count: 0, numbers: [] };
  const created: number[] = [];
  for (let at = 0; at < 14; at++)
    created.push((await board.api.card({ title: "x", statusId: board.stages["To do"] })).number);
  const [gone = 0] = created.splice(3, 1);
  await board.api.delete(`/v1/cards/${gone}`);
  const { number: draft } = await board.api.card({ title: "Draft" });
  const { number } = await armedCard(board);
  const { status, body } = await read(board.projectId);
  expect(status).toBe(200);
  expect(body).toMatchObject([
    { id: board.stages.Backlog, cards: { count: 1, numbers: [draft] }, armed: none },
    { id: board.stages["To do"], cards: { count: 13, numbers: created.slice(0, 12) }, armed: none },
    { id: board.stages["In progress"], cards: none },
    { id: board.stages["In review"], cards: { count: 1, numbers: [number] }, armed: none },
    { id: board.stages.Done, cards: none, armed: { count: 1, numbers: [number] } },
  ]);
});

it("the cards of a project of another board are not found", async () => {
  const theirs = await world.board();
  expect((await read(theirs.projectId)).status).toBe(404);
});
