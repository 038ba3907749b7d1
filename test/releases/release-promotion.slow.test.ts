import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { openCard } from "../support/stories/open-card.ts";
import {
  makeRelease,
  promote,
  readRelease,
  setCards,
  type PromotionResponse,
} from "../support/stories/releases.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { untilMoving } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});
afterEach(() => leaveConsistent(world, board));

const movesOf = async (number: number): Promise<unknown[]> =>
  (await board.api.timeline(number))
    .filter(({ kind }) => kind === "status_changed")
    .map(({ data }) => data["to"]);

describe("POST /v1/releases/{id}/promote", () => {
  // Contract: Releases: Promoting a release is 200; refused cards are listed and stay
  it("moves each card and returns the result of each", async () => {
    const own = await world.board();
    const merged = await openCard(world, own);
    const { number: draft } = await own.api.card({ title: "Nothing to show" });
    const { number: plain } = await own.api.card({ title: "No Git", repositoryIds: [] });
    const { number: done } = await own.api.card({ title: "There already", repositoryIds: [] });
    await own.api.move(done, own.stages.Done);
    const id = await makeRelease(own.api, "1.4", [merged.number, draft, plain, done]);
    const response = await promote(own.api, id, { statusId: own.stages.Done });
    const fullName = `${own.owner}/web`;
    expect(response.body).toEqual({
      promoted: [
        {
          number: merged.number,
          statusId: own.stages.Done,
          promoted: [{ fullName, targetBranch: "main", prNumber: 1 }],
        },
        { number: plain, statusId: own.stages.Done, promoted: [] },
      ],
      refused: [
        {
          number: draft,
          repository: fullName,
          reason: "nothing_to_merge",
          message: expect.any(String),
          promoted: [],
        },
      ],
      skipped: [{ number: done, reason: "already_there" }],
      pending: [],
      operationId: null,
    });
    const reached = (await readRelease(own.api, id)).cards.map(({ statusId }) => statusId);
    expect(reached).toEqual([own.stages.Done, own.stages.Backlog, own.stages.Done, own.stages.Done]);
    const blocked = await own.api.readCard(draft);
    expect(blocked.blocked).toMatchObject({ reason: "nothing_to_merge" });
    const column = (await own.api.readCard(plain)).position;
    expect(column).toBeGreaterThan((await own.api.readCard(merged.number)).position);
  });

  // Contract: Releases: `taskNumbers` limits a promotion to these cards
  it("moves only the cards in `taskNumbers`, and none if one of them is not in the release", async () => {
    const [a, b, outside] = [await board.api.card(), await board.api.card(), await board.api.card()];
    const id = await makeRelease(board.api, "Some", [a.number, b.number]);
    const statusId = board.stages["To do"];
    const wrong = await promote(board.api, id, { statusId, taskNumbers: [a.number, outside.number] });
    expect(wrong).toMatchObject({
      status: 400,
      body: {
        issues: [
          {
            path: "body.taskNumbers.1",
            message: `card ${outside.number} is not in the release Some`,
          },
        ],
      },
    });
    const unknown = await promote(board.api, id, { statusId, taskNumbers: [a.number, 4711, outside.number] });
    expect(unknown).toMatchObject({ status: 404, body: { message: "There is no card 4711 on this board." } });
    expect(await movesOf(a.number)).toEqual([]);
    const right = await promote(board.api, id, { statusId, taskNumbers: [b.number, b.number] });
    expect(right.body.promoted.map(({ number }) => number)).toEqual([b.number]);
    expect(await movesOf(a.number)).toEqual([]);
    expect((await promote(board.api, id, { statusId, taskNumbers: [] })).body.promoted).toEqual([]);
  });

  it("requires a stage of the flow and the role of its column", async () => {
    const own = await world.board();
    const other = await world.board();
    const { number } = await own.api.card();
    const id = await makeRelease(own.api, "Roles", [number]);
    expect(await promote(own.api, id, { statusId: other.stages.Done })).toMatchObject({
      status: 400,
      body: { issues: [{ path: "body.statusId" }] },
    });
    const statusId = own.stages["To do"];
    await world.service.deps.db("stages").where({ id: statusId }).update({ min_role: "maintainer" });
    const member = await own.as({ role: "member" });
    expect((await promote(member, id, { statusId })).status).toBe(403);
    expect((await promote(own.api, id, { statusId })).body.promoted).toHaveLength(1);
  });

  it("is executed once per key", async () => {
    const { number } = await board.api.card();
    const id = await makeRelease(board.api, "Once", [number]);
    const key = "promote-a-release";
    const body = { statusId: board.stages["To do"] };
    const first = await promote(board.api, id, body, { key });
    await board.api.move(number, board.stages.Backlog);
    const again = await promote(board.api, id, body, { key });
    expect([again.headers.get("idempotent-replay"), again.text]).toEqual(["true", first.text]);
    expect((await board.api.readCard(number)).statusId).toBe(board.stages.Backlog);
  });

  it("continues automatically after an outage of GitHub, as an operation that only its board can read", async () => {
    const own = await world.board();
    const other = await world.board();
    const { number: plain } = await own.api.card({ repositoryIds: [] });
    const { number: first } = await own.api.card();
    const { number: second } = await own.api.card();
    const id = await makeRelease(own.api, "Outage", [plain, first, second]);
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    world.forge.control.faults.add({ match, fault: { kind: "response", status: 502 } });
    const statusId = own.stages["In progress"];
    const response = await promote(own.api, id, { statusId });
    const { operationId } = response.body;
    expect(response).toMatchObject({
      status: 200,
      body: { promoted: [{ number: plain }], refused: [], pending: [first, second] },
    });
    const path = `/v1/operations/${operationId}`;
    expect((await other.api.get(path)).status).toBe(404);
    // Other changes of the release get 409 until the operation is finished.
    const busy = await setCards(own.api, id, []);
    expect([busy.status, Number(busy.headers.get("retry-after")) > 0]).toEqual([409, true]);
    expect((await own.api.delete(`/v1/releases/${id}`)).status).toBe(409);
    world.forge.control.faults.clear();
    const ended = await eventually(
      async () => (await own.api.get<PromotionResponse>(path)).body,
      ({ pending }) => pending.length === 0,
    );
    expect(ended.promoted.map(({ number }) => number)).toEqual([plain, first, second]);
    expect(ended.operationId).toBeNull();
    await eventually(
      () => setCards(own.api, id, []),
      ({ status }) => status === 204,
    );
  });

  it("waits for a card that another call is moving", async () => {
    const own = await world.board();
    const { number } = await own.api.card();
    const id = await makeRelease(own.api, "Busy", [number]);
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    world.forge.control.faults.add({ match, fault: { kind: "delay", ms: 1_500 }, times: 1 });
    const moving = own.api.move(number, own.stages["In progress"]);
    await untilMoving(own);
    const response = await promote(own.api, id, { statusId: own.stages["To do"] });
    expect((await moving).status).toBe(200);
    expect(response.body.promoted).toEqual([{ number, statusId: own.stages["To do"], promoted: [] }]);
    world.forge.control.faults.clear();
  });

  it("starts operations: an unknown operation id returns 404, an invalid one 400", async () => {
    expect((await board.api.get("/v1/operations/019a0000-0000-7000-8000-000000000000")).status).toBe(404);
    expect((await board.api.get("/v1/operations/first")).status).toBe(400);
  });
});
