import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Trx } from "../../src/store/connect.ts";
import type { Api, ApiAnswer, CallOptions } from "../support/api.ts";
import { untilSomebodyWaits, whileHeld } from "../support/held.ts";
import { keyHeldBy } from "../support/keys.ts";
import { statementsOf } from "../support/statements.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
});
afterAll(() => world.stop());

type Write = (api: Api, number: number, options?: CallOptions) => Promise<ApiAnswer>;

/** Writes that are one statement where nothing stands in the way. */
const writes: readonly [string, Write][] = [
  [
    "a comment",
    (api, number, options) => api.post(`/v1/cards/${number}/comments`, { body: 'é 😀 "\\' }, options),
  ],
  [
    "an update",
    (api, number, options) =>
      api.patch(`/v1/cards/${number}`, { title: '"ü"', priority: "low", dueDate: "2026-11-30" }, options),
  ],
];

const MADE_ANEW = new Set(["id", "at", "createdAt", "updatedAt", "number", "position"]);
/** What an answer says, apart from what differs each time. */
const saidBy = (text: string): unknown =>
  JSON.parse(text, (name, value: unknown) => (MADE_ANEW.has(name) ? null : value));

describe.each(writes)("%s", (_, write) => {
  it("is answered and told of alike, whether it is done in one statement or step by step", async () => {
    const told: unknown[] = [];
    for (const isAtOnce of [true, false]) {
      const { number } = await board.api.card();
      // The key of a process that died is taken over, which is a step of its own.
      const key = isAtOnce ? `key-${randomUUID()}` : await keyHeldBy(board, randomUUID());
      const answers: ApiAnswer[] = [];
      const made = await statementsOf(async () => answers.push(await write(board.api, number, { key })));
      expect([made.length < 4, made]).toEqual([isAtOnce, made]);
      const [first] = answers;
      const again = await write(board.api, number, { key });
      expect([again.text, again.headers.get("idempotent-replay")]).toEqual([first?.text, "true"]);
      const timeline = (await board.api.get(`/v1/cards/${number}/timeline`)).text;
      const card = (await board.api.get(`/v1/cards/${number}`)).text;
      told.push([first?.status, saidBy(first?.text ?? ""), saidBy(timeline), saidBy(card)]);
    }
    expect(told[0]).toEqual(told[1]);
  });

  it("is told to wait while the same request is under way, and is done once", async () => {
    const { number } = await board.api.card();
    const key = `key-${randomUUID()}`;
    const inTheWay = (trx: Trx) =>
      trx("cards").where({ workspace_id: board.workspaceId, number }).forUpdate();
    const answers: Promise<ApiAnswer>[] = [];
    await whileHeld(board.db, inTheWay, async () => {
      answers.push(write(board.api, number, { key }));
      await untilSomebodyWaits(board.db);
      const second = await write(board.api, number, { key });
      expect(second).toMatchObject({ status: 409, body: { error: "Conflict" } });
      expect(second.headers.get("retry-after")).toBe("1");
    });
    const [first] = await Promise.all(answers);
    const again = await write(board.api, number, { key });
    expect([again.text, again.headers.get("idempotent-replay")]).toEqual([first?.text, "true"]);
  });
});
