import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import type { Api, ApiAnswer, CallOptions } from "../support/api.ts";
import { settled } from "../support/database-content.ts";
import { makeRelease } from "../support/releases.ts";
import { statementsOf } from "../support/statements.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
/** A card without repositories, in a column. */
let number: number;
/** An open release of the board. */
let releaseId: string;
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
  releaseId = await makeRelease(board.api, "1.0");
  ({ number } = await board.api.card({ repositoryIds: [], statusId: board.stages["To do"] }));
});
afterAll(() => world.stop());

type Call = (api: Api, options: CallOptions) => Promise<ApiAnswer>;

/** Calls that are made often, and what each asks of PostgreSQL, authentication included. A statement is a round trip, so its number is held. */
const calls: readonly [string, number, Call][] = [
  ["a comment", 1, (api, options) => api.post(`/v1/cards/${number}/comments`, { body: "Hello" }, options)],
  ["an update", 1, (api, options) => api.patch(`/v1/cards/${number}`, { title: randomUUID() }, options)],
  ["a new card", 1, (api, options) => api.post("/v1/cards", { title: "New" }, options)],
  ["a move without Git", 1, (api, options) => api.move(number, board.stages["In review"], 0, options)],
  ["the trunk report", 3, (api) => api.get("/v1/trunk")],
  ["the releases", 3, (api) => api.get("/v1/releases")],
  ["a release", 2, (api) => api.get(`/v1/releases/${releaseId}`)],
  ["a move within a column", 2, (api, options) => api.move(number, board.stages["In review"], 1, options)],
];

it.each(calls)("%s takes %d statements", async (_, count, call) => {
  await settled(world);
  const key = `statements-${randomUUID()}`;
  const answers: ApiAnswer[] = [];
  const made = await statementsOf(async () => answers.push(await call(board.api, { key })));
  expect(answers.map(({ status }) => [200, 201].includes(status))).toEqual([true]);
  expect([made.length, made]).toEqual([count, made]);
});
