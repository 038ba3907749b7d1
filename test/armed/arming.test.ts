import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import { leaveConsistent } from "../support/invariants.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { arm, armed, armedCard, armedOf, expectLanded, passCi, requireCi } from "./support/armed-cards.ts";

const world = useWorld();
let board: TestBoard;
afterEach(() => leaveConsistent(world, board));

const HOUR_MS = 3_600_000;

describe("a move with whenReady", () => {
  it("waits for a required check that has not reported, and lands its head once", async () => {
    board = await world.board();
    await requireCi(board);
    const { number, sha } = await cardWithCommit(board);
    const { status, body } = await arm(board, board.api, number);
    expect(status).toBe(202);
    const heads = [{ fullName: `${board.owner}/web`, sha }];
    const waitingFor = [
      { reason: "checks_pending", repository: `${board.owner}/web`, details: { pending: ["ci"] } },
    ];
    expect(body).toMatchObject({
      task: { number, statusId: board.stages["In review"], blocked: null },
      promoted: [],
      armed: { statusId: board.stages.Done, by: { name: "maintainer agent" }, heads, waitingFor },
    });
    expect(await armedOf(board.api, number)).toEqual(body.armed);
    const left = Date.parse(body.armed?.expiresAt ?? "") - Date.now();
    expect(Math.round(left / HOUR_MS)).toBe(24);
    const event = await board.api.eventWhen(number, ({ kind }) => kind === "armed");
    expect(event.data).toMatchObject({ armedId: body.armed?.id, statusId: board.stages.Done, heads });
    await passCi(board, sha);
    await expectLanded(board, number, sha);
  });

  it("moves the card immediately if nothing is missing", async () => {
    board = await world.board();
    await requireCi(board);
    const { number, sha } = await cardWithCommit(board);
    await passCi(board, sha);
    const response = await arm(board, board.api, number);
    expect(response).toMatchObject({ status: 200, body: { promoted: [{ targetBranch: "main" }] } });
    expect(response.body.armed).toBeUndefined();
    await expectLanded(board, number, sha);
  });

  it("is the same one if the same caller arms the same heads again", async () => {
    board = await world.board();
    const { number, armed: first } = await armedCard(board, { whenReady: { expiresInHours: 3 } });
    expect(await armed(board, number)).toEqual(first);
    const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "armed")).toHaveLength(1);
  });

  it("replays its stored response", async () => {
    board = await world.board();
    await requireCi(board);
    const { number } = await cardWithCommit(board);
    const key = randomUUID();
    const first = await arm(board, board.api, number, {}, { key });
    const again = await arm(board, board.api, number, {}, { key });
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect(again.text).toBe(first.text);
  });
});

it.each([
  [{ whenReady: { expiresInHours: 0 } }, "body.whenReady.expiresInHours"],
  [{ whenReady: { expiresInHours: 73 } }, "body.whenReady.expiresInHours"],
  [{ whenReady: { soon: true } }, "soon"],
  [{ headShas: { "acme/web": "a".repeat(40) }, whenReady: { headShas: {} } }, "body.whenReady.headShas"],
])("a move with whenReady is 400 if it is not valid: %j", async (body, named) => {
  board = await world.board();
  const { number } = await board.api.card();
  const { status, text } = await arm(board, board.api, number, body);
  expect(status).toBe(400);
  expect(text).toContain(named);
});
