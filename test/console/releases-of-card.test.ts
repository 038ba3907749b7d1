import { beforeAll, expect, it } from "@jest/globals";
import { signedIn, type Person } from "../support/console/people.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let viewer: Person;
beforeAll(async () => {
  board = await world.board();
  viewer = await signedIn(world, [board], "viewer");
});

const releasesOf = async (number: number, person = viewer) => {
  const { status, body } = await person.browser.get(`/console/v1/cards/${number}/releases`);
  return { status, names: status === 200 ? (body as { name: string }[]).map(({ name }) => name) : [] };
};

async function releaseWith(name: string, taskNumbers: readonly number[]): Promise<string> {
  const { body } = await board.api.post<{ id: string }>("/v1/releases", { name });
  const { status } = await board.api.put(`/v1/releases/${body.id}/cards`, { taskNumbers });
  expect(status).toBe(204);
  return body.id;
}

it("a card names the releases that it is in, the newest first", async () => {
  const { number } = await board.api.card({ title: "Shipped", repositoryIds: [] });
  const { number: other } = await board.api.card({ title: "Never shipped", repositoryIds: [] });
  expect(await releasesOf(number)).toEqual({ status: 200, names: [] });
  const first = await releaseWith("1.0", [number]);
  const { status } = await board.api.post(`/v1/releases/${first}/complete`, { versions: [] });
  expect(status).toBe(200);
  await releaseWith("1.1", [number]);
  expect(await releasesOf(number)).toEqual({ status: 200, names: ["1.1", "1.0"] });
  expect(await releasesOf(other)).toEqual({ status: 200, names: [] });
});

it("a card of another board is not found", async () => {
  const { number } = await board.api.card({ title: "Only ours", repositoryIds: [] });
  const stranger = await signedIn(world, [await world.board()], "maintainer");
  expect((await releasesOf(number, stranger)).status).toBe(404);
});
