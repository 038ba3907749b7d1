import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { connect } from "../../src/store/connect.ts";
import { eventually, type Api, type ApiAnswer, type CallOptions } from "../support/api.ts";
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

/** Reads, each of what was read before and has got more since, and what each asks whatever it holds. */
const reads: readonly [string, number, () => string][] = [
  ["the account", 1, () => "/v1/me"],
  ["the boards", 2, () => "/v1/workspaces"],
  ["a board that has changed", 2, () => "/v1/board"],
  ["the board of a project", 2, () => `/v1/board?projectId=${board.projectId}`],
  ["the backlog", 3, () => "/v1/backlog"],
  ["a card", 1, () => `/v1/cards/${number}`],
  ["a timeline", 3, () => `/v1/cards/${number}/timeline`],
  ["a page of a timeline", 3, () => `/v1/cards/${number}/timeline?limit=2`],
  ["labels", 2, () => "/v1/labels"],
  ["features", 2, () => "/v1/features"],
  ["pages", 2, () => "/v1/docs"],
  ["projects", 2, () => "/v1/projects"],
  ["a flow", 2, () => `/v1/projects/${board.projectId}/flow`],
  ["the repositories of a project", 3, () => `/v1/projects/${board.projectId}/repositories`],
  ["the repositories of a board", 2, () => "/v1/repositories"],
  ["members", 2, () => "/v1/members"],
  ["the inbox", 3, () => "/v1/inbox"],
];

it.each(reads)("reading %s takes %d statements", async (_, count, path) => {
  const read = () => board.api.get(path());
  await read();
  const { body: label } = await board.api.post<{ id: string }>("/v1/labels", {
    name: randomUUID(),
    color: "red",
  });
  for (let more = 0; more < 2; more++) await board.api.card({ labelIds: [label.id] });
  await board.api.post(`/v1/cards/${number}/comments`, { body: "Hello" });
  await settled(world);
  const made = await statementsOf(async () => expect((await read()).status).toBe(200));
  expect([made.length, made]).toEqual([count, made]);
});

it("reading a board that nothing has changed takes one statement, with and without If-None-Match", async () => {
  await settled(world);
  const { headers } = await board.api.get("/v1/board");
  const etag = headers.get("etag") ?? "";
  const unchanged = await statementsOf(() => board.api.get("/v1/board"));
  expect([unchanged.length, unchanged]).toEqual([1, unchanged]);
  const headersOf = { authorization: `Bearer ${board.api.apiKey}`, "if-none-match": etag };
  const statuses: number[] = [];
  const notModified = await statementsOf(async () =>
    statuses.push((await fetch(`${board.api.baseUrl}/v1/board`, { headers: headersOf })).status),
  );
  expect([statuses, notModified.length, notModified]).toEqual([[304], 1, notModified]);
});

it("many reads of a board at one moment take two statements, and not one each", async () => {
  await settled(world);
  await board.api.get("/v1/board");
  const db = connect({ connectionString: world.databaseUrl, onError: () => undefined });
  const held = await db.transaction();
  try {
    await held.raw("lock table projects in access exclusive mode");
    const statuses: number[] = [];
    const made = await statementsOf(async () => {
      const reads = Array.from({ length: 16 }, () => board.api.get("/v1/board"));
      const waiting = (): Promise<unknown[]> => db("pg_locks").where({ granted: false }).select("pid");
      await eventually(waiting, ({ length }) => length > 0);
      // Long after all of them have come.
      for (let later = 0; later < 20; later++) await fetch(`${board.api.baseUrl}/healthz`);
      await held.rollback();
      for (const { status } of await Promise.all(reads)) statuses.push(status);
    });
    const asked = made.filter((text) => text.includes("board_changes"));
    expect(statuses).toEqual(Array.from({ length: 16 }, () => 200));
    expect([asked.length <= 3, asked.length]).toEqual([true, asked.length]);
  } finally {
    if (!held.isCompleted()) await held.rollback();
    await db.destroy();
  }
});

it("a move that cuts a branch takes four round trips, and waits for the disk in two of them", async () => {
  const [first, { number }] = [await board.api.card(), await board.api.card()];
  await settled(world);
  const status: number[] = [];
  // What is done about webhooks is not the move's.
  world.forge.setWebhookUrl("http://127.0.0.1:9/nobody");
  // Since this one it is known that the stage is entered through the forge.
  await board.api.move(first.number, board.stages["In progress"]);
  const made = await statementsOf(async () =>
    status.push((await board.api.move(number, board.stages["In progress"])).status),
  ).finally(() => world.forge.setWebhookUrl(world.service.webhookUrl));
  expect(status).toEqual([200]);
  const written = made.map((text) =>
    [...text.matchAll(/(?:insert into|(?<!for |key |do )update) "?(\w+)/g)].map(([, table]) => table),
  );
  expect([written, made]).toEqual([
    [
      ["idempotency_keys", "operations"],
      ["forge_intents"],
      ["card_repositories", "forge_intents", "timeline_items"],
      // All that ends it.
      [],
    ],
    made,
  ]);
  expect(made[3]).toContain("end_move(");
  const unawaited = made.filter((text) => text.includes("'synchronous_commit', 'off'"));
  expect(unawaited).toEqual([made[0], made[2]]);
});
