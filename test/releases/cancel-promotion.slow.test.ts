import { afterEach, describe, expect, it } from "@jest/globals";
import { eventually, type ApiResponse } from "../support/api.ts";
import { putFlow, readFlow, withStage } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { cardInReview } from "../support/stories/merged-card.ts";
import { headOf, readFeed } from "../support/stories/event-stream.ts";
import { freeze, makeRelease, promote, type PromotionResponse } from "../support/stories/releases.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
afterEach(() => world.forge.control.faults.clear());
afterEach(() => leaveConsistent(world));

const MERGES = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
type Response = ApiResponse<PromotionResponse & { readonly message: string }>;
const cancel = (operationId: unknown, api = board.api): Promise<Response> =>
  api.post(`/v1/operations/${String(operationId)}/cancel`);

const actionOf = async (releaseId: string): Promise<string> => {
  const action = await board.db("operations").where({ release_id: releaseId }).first("id");
  return action.id as string;
};

const untilNothingPends = async (operationId: string): Promise<PromotionResponse> => {
  const { body } = await eventually(
    () => board.api.get<PromotionResponse>(`/v1/operations/${operationId}`),
    ({ body: outcome }) => outcome.pending.length === 0,
  );
  return body;
};

/** Makes a release of three cards in review on a new board. */
async function releaseInReview(): Promise<{ readonly id: string; readonly numbers: readonly number[] }> {
  board = await world.board();
  const numbers: number[] = [];
  for (const at of [1, 2, 3])
    numbers.push(await cardInReview(world, board, { web: { [`work-${at}.txt`]: "work\n" } }));
  return { id: await makeRelease(board.api, "1.4", numbers), numbers };
}

/** Starts to promote the release into Done and stops at GitHub's merge of its first card. */
async function promoteUntilMerge(id: string) {
  const held = world.forge.control.faults.add({ match: MERGES, fault: { kind: "hold" } });
  const promoting = promote(board.api, id, { statusId: board.stages.Done });
  await eventually(
    () => Promise.resolve(world.forge.control.faults.list()),
    (rules) => rules.some(({ id: rule, hits }) => rule === held && hits > 0),
  );
  return { promoting, operationId: await actionOf(id) };
}

const cancelledOf = (numbers: readonly number[]) =>
  numbers.map((number) => ({ number, reason: "cancelled" }));

describe("POST /v1/operations/{operationId}/cancel", () => {
  it("lets the card that is being moved finish and skips the others", async () => {
    const { id, numbers } = await releaseInReview();
    const [first, ...others] = numbers;
    const { promoting, operationId } = await promoteUntilMerge(id);
    const pending = { promoted: [], skipped: [], pending: numbers, operationId };
    const running = { id: operationId, kind: "promote", statusId: board.stages.Done };
    const path = `/v1/releases/${id}/operation`;
    expect((await board.api.get(path)).body).toEqual({ operation: { ...running, isCancelled: false } });
    expect(await cancel(operationId)).toMatchObject({ status: 200, body: pending });
    expect((await board.api.get(path)).body).toEqual({ operation: { ...running, isCancelled: true } });
    expect(await cancel(operationId)).toMatchObject({ status: 200, body: pending });
    await headOf(board);
    const events = await readFeed(board.api, "&kinds=release_changed");
    expect(events.slice(-2)).toMatchObject([
      { data: { to: { taskNumbers: numbers } } },
      {
        actor: { user: { name: "maintainer agent" } },
        data: {
          releaseId: id,
          from: { operationId, state: "running" },
          to: { operationId, state: "cancelled" },
        },
      },
    ]);
    world.forge.control.faults.clear();
    const ended = { promoted: [{ number: first }], skipped: cancelledOf(others), pending: [] };
    expect((await promoting).body).toMatchObject(ended);
    expect(await untilNothingPends(operationId)).toMatchObject(ended);
    const cards = await Promise.all(numbers.map((number) => board.api.readCard(number)));
    expect(cards.map(({ statusId }) => statusId === board.stages.Done)).toEqual([true, false, false]);
    expect(cards.map(({ blocked }) => blocked)).toEqual([null, null, null]);

    const again = await eventually(
      () => cancel(operationId),
      ({ status }) => status !== 200,
    );
    expect([again.status, again.body.message]).toEqual([409, expect.stringContaining("has ended")]);
    const rest = await promote(board.api, id, { statusId: board.stages.Done });
    expect(rest.body.promoted.map(({ number }) => number)).toEqual(others);
  });

  it("skips the other cards during an outage, and the begun move finishes after it", async () => {
    const { id, numbers } = await releaseInReview();
    const [first, ...others] = numbers;
    world.forge.control.faults.add({ match: MERGES, fault: { kind: "response", status: 503 } });
    const { body } = await promote(board.api, id, { statusId: board.stages.Done });
    expect(body.pending).toEqual(numbers);
    const operationId = String(body.operationId);
    expect((await cancel(operationId)).status).toBe(200);
    // A new promotion does not join the cancelled one.
    expect((await promote(board.api, id, { statusId: board.stages.Done })).status).toBe(409);
    const skipped = cancelledOf(others);
    const { body: meanwhile } = await eventually(
      () => board.api.get<PromotionResponse>(`/v1/operations/${operationId}`),
      ({ body: outcome }) => outcome.skipped.length > 0,
    );
    expect(meanwhile).toMatchObject({ promoted: [], skipped, pending: [first] });
    world.forge.control.faults.clear();
    expect(await untilNothingPends(operationId)).toMatchObject({ promoted: [{ number: first }], skipped });
  });

  it("requires the role of the promotion's stage", async () => {
    const { id, numbers } = await releaseInReview();
    await putFlow(board, withStage(await readFlow(board), "Done", { minRole: "maintainer" }));
    const { promoting, operationId } = await promoteUntilMerge(id);
    const member = await board.as({ role: "member" });
    expect((await cancel(operationId, member)).status).toBe(403);
    world.forge.control.faults.clear();
    expect((await promoting).body.promoted.map(({ number }) => number)).toEqual(numbers);
  });

  it("refuses other kinds of actions, ended promotions and other boards", async () => {
    board = await world.board();
    const frozen = await makeRelease(board.api, "1.5");
    await freeze(board.api, frozen);
    const { status, body } = await cancel(await actionOf(frozen));
    expect([status, body.message]).toEqual([
      409,
      expect.stringContaining("The kind of this operation is freeze"),
    ]);

    const { number } = await board.api.card({ repositoryIds: [] });
    const id = await makeRelease(board.api, "1.6", [number]);
    await promote(board.api, id, { statusId: board.stages.Done });
    const ended = await cancel(await actionOf(id));
    expect([ended.status, ended.body.message]).toEqual([409, expect.stringContaining("has ended")]);
    const other = await world.board();
    expect((await cancel(await actionOf(id), other.api)).status).toBe(404);
    expect((await cancel(UNKNOWN_ID)).status).toBe(404);
    expect((await cancel("first")).status).toBe(400);
  });
});
