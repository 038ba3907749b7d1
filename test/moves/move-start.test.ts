import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import type { Api, ApiCard } from "../support/api.ts";
import { putFlow, readFlow, withStage } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { keyLockedBy } from "../support/keys.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let other: TestBoard;
beforeAll(async () => {
  [board, other] = [await world.board(), await world.board()];
});
afterEach(() => world.forge.control.faults.clear());
afterEach(() => leaveConsistent(world));

/** A move that must be refused before it starts. */
interface RefusedMove {
  readonly api?: Api;
  readonly stageId?: string;
  /** Removes the reason of the refusal. */
  readonly end?: () => Promise<unknown>;
}

const refusedMoves: readonly [string, number, (card: ApiCard) => Promise<RefusedMove>][] = [
  [
    "its column requires a higher role than the caller's",
    403,
    async () => {
      const flow = await readFlow(board);
      const changed = withStage(flow, "In progress", { minRole: "maintainer" });
      expect((await putFlow(board, changed)).status).toBe(200);
      return { api: await board.as({ role: "member" }), end: () => putFlow(board, flow) };
    },
  ],
  [
    "its stage belongs to another project",
    400,
    () => Promise.resolve({ stageId: other.stages["In progress"] }),
  ],
  [
    "its card was deleted",
    404,
    async ({ number }) => {
      await board.api.delete(`/v1/cards/${number}`);
      return {};
    },
  ],
  [
    "another call is moving its card",
    409,
    async ({ number }) => {
      const kept = holdCalls(world, {});
      const moving = board.api.move(number, board.stages["In progress"]);
      await kept.arrived();
      const end = async () => {
        kept.resume();
        expect((await moving).status).toBe(200);
      };
      return { end };
    },
  ],
];

const operationsOf = ({ id }: ApiCard) => board.db("operations").where({ card_id: id }).select("id", "state");

describe("the start of a move with Git", () => {
  it.each(refusedMoves)("is refused when %s, and its key is free again", async (_, status, prepare) => {
    const card = await board.api.card();
    const { api = board.api, stageId = board.stages["In progress"], end } = await prepare(card);
    const before = await operationsOf(card);
    const key = `key-${randomUUID()}`;
    expect((await api.move(card.number, stageId, 0, { key })).status).toBe(status);
    expect(await operationsOf(card)).toEqual(before);
    expect(await board.db("idempotency_keys").where({ key })).toEqual([]);
    await end?.();
  });

  it("is refused for a credential that was revoked after the process cached it", async () => {
    const api = await board.as({ role: "member" });
    const [first, card] = [await board.api.card(), await board.api.card()];
    expect((await api.move(first.number, board.stages["In progress"])).status).toBe(200);
    await revokeCredential(board.db, api.apiKey.split("_")[1] ?? "");
    const key = `key-${randomUUID()}`;
    expect((await api.move(card.number, board.stages["In progress"], 0, { key })).status).toBe(401);
    expect(await operationsOf(card)).toEqual([]);
    expect(await board.db("idempotency_keys").where({ key })).toEqual([]);
  });

  it("takes over the idempotency key of a dead process", async () => {
    const { api, stages } = board;
    const { number } = await api.card();
    const key = await keyLockedBy(board, randomUUID());
    expect((await api.move(number, stages["In progress"], 0, { key })).status).toBe(200);
    const kinds = (await api.timeline(number)).map(({ kind }) => kind);
    expect(kinds).toEqual(["created", "branch_created", "status_changed"]);
  });

  it("happens once for concurrent calls with one key", async () => {
    const { api, stages } = board;
    const card = await api.card();
    const key = `key-${randomUUID()}`;
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => api.move(card.number, stages["In progress"], 0, { key })),
    );
    const outcomes = new Set(
      responses.map(({ status, headers }) => `${status} ${headers.get("retry-after") ?? ""}`),
    );
    expect(["200 ", "409 1"]).toEqual(expect.arrayContaining([...outcomes]));
    expect(await operationsOf(card)).toMatchObject([{ state: "done" }]);
  });

  it.each(["a deleted card had", "the move of another card is about to create"])(
    "chooses another branch name when %s a branch with the first name",
    async (owner) => {
      const { api, db, stages } = board;
      const [earlier, card] = [await api.card(), await api.card()];
      const name = `card/${card.number}-a-card`;
      const link = db("card_repositories").where({ card_id: earlier.id });
      const ofEarlier = db("cards").where({ id: earlier.id }).select(["id", "created_by"]);
      if (owner.startsWith("a deleted")) {
        await api.delete(`/v1/cards/${earlier.number}`);
        await link.clone().update({ branch_name: name });
      } else {
        await db.raw(
          `insert into forge_intents (repository_id, kind, subject, card_id, actor_id)
           select cr.repository_id, 'create_branch', ?, c.id, c.created_by from (?) c join card_repositories cr on cr.card_id = c.id`,
          [name, ofEarlier],
        );
      }
      expect((await api.move(card.number, stages["In progress"])).status).toBe(200);
      expect((await api.readCard(card.number)).repositories[0]?.branchName).toBe(`${name}-2`);
      await db("forge_intents").where({ card_id: earlier.id }).delete();
      await link.clone().update({ branch_name: null });
    },
  );
});
