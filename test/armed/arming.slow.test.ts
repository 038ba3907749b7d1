import { afterEach, describe, expect, it } from "@jest/globals";
import { setGates } from "../support/flows.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { connectMcp } from "../support/mcp/client.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { arm, armedCard, armedOf, expectLanded, passCi, requireCi } from "./support/armed-cards.ts";

// Each test clones, pushes and merges.

const world = useWorld();
let board: TestBoard;
afterEach(() => leaveConsistent(world, board));

describe("a move with whenReady is refused", () => {
  const whenReady = (headShas: object) => ({ whenReady: { headShas } });

  it("if a branch has another head than the caller has seen", async () => {
    board = await world.board();
    await requireCi(board);
    const { number, sha } = await cardWithCommit(board);
    const web = `${board.owner}/web`;
    const other = await arm(board, board.api, number, whenReady({ [web]: "b".repeat(40) }));
    expect(other).toMatchObject({
      status: 409,
      body: { blocked: { reason: "head_moved", repository: web } },
    });
    expect(await armedOf(board.api, number)).toBeUndefined();
    expect((await arm(board, board.api, number, whenReady({ [web]: sha }))).status).toBe(202);
  });

  it("at once if the stage is full or only people may enter it", async () => {
    board = await world.board();
    await requireCi(board);
    const { number } = await cardWithCommit(board);
    for (const [reason, gates] of [
      ["wip_limit", { wipLimit: 1 }],
      ["human_only", { humanOnly: true }],
    ] as const) {
      if (reason === "wip_limit") await board.api.card({ statusId: board.stages.Done, repositoryIds: [] });
      await setGates(board, "Done", gates);
      const response = await arm(board, board.api, number);
      expect(response).toMatchObject({ status: 409, body: { blocked: { reason } } });
      expect(await armedOf(board.api, number)).toBeUndefined();
    }
  });

  it("if changes are requested or the pull request is closed", async () => {
    board = await world.board();
    const { number } = await cardWithCommit(board);
    const path = `/repos/${board.owner}/web/pulls/1`;
    await board.person("grace", "POST", `${path}/reviews`, { event: "REQUEST_CHANGES", body: "Not yet" });
    expect((await arm(board, board.api, number)).body.blocked?.reason).toBe("changes_requested");
    await board.person("grace", "PATCH", path, { state: "closed" });
    expect((await arm(board, board.api, number)).body.blocked?.reason).toBe("pull_request_closed");
    expect(await armedOf(board.api, number)).toBeUndefined();
  });

  it("for a viewer and for another board", async () => {
    board = await world.board();
    const { number } = await armedCard(board);
    const viewer = await board.as({ role: "viewer" });
    const stranger = (await world.board()).api;
    for (const [api, status] of [
      [viewer, 403],
      [stranger, 404],
    ] as const) {
      expect((await arm(board, api, number)).status).toBe(status);
      expect((await api.delete(`/v1/cards/${number}/armed`)).status).toBe(status);
    }
    expect(await armedOf(board.api, number)).toBeDefined();
  });
});

it("a stage that does not merge is entered without waiting", async () => {
  board = await world.board();
  const { number } = await board.api.card();
  for (const name of ["To do", "In progress"] as const) {
    const response = await arm(board, board.api, number, { statusId: board.stages[name] });
    expect(response).toMatchObject({ status: 200, body: { task: { statusId: board.stages[name] } } });
  }
});

it("the plan of a move says what it would wait for", async () => {
  board = await world.board();
  await requireCi(board);
  const { number, sha } = await cardWithCommit(board);
  const plan = async () =>
    (await board.api.get(`/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`)).body;
  const waitingFor = [{ reason: "checks_pending", details: { pending: ["ci"] } }];
  expect(await plan()).toMatchObject({ whenReady: { wouldArm: true, certainty: "likely", waitingFor } });
  await passCi(board, sha);
  await allProcessed(world);
  expect(await plan()).toMatchObject({
    wouldMove: true,
    whenReady: { wouldArm: false, certainty: "certain", waitingFor: [] },
  });
});

it("an agent arms a move through MCP", async () => {
  board = await world.board();
  await requireCi(board);
  const { number, sha } = await cardWithCommit(board);
  const mcp = await connectMcp(await board.as({ role: "member" }));
  const input = { number, statusId: board.stages.Done, index: 0, whenReady: {} };
  const { isError, text, data } = await mcp.write("move_card", input);
  expect([isError, text]).toEqual([
    false,
    "The move waits for what `waitingFor` lists. The card moves by itself then: read the card.",
  ]);
  expect(data["armed"]).toMatchObject({ heads: [{ sha }] });
  const read = await mcp.call("get_card", { number });
  expect(read.data["card"]).toMatchObject({ armed: { by: { name: "member agent" } } });
  await mcp.client.close();
  await passCi(board, sha);
  await expectLanded(board, number, sha);
});
