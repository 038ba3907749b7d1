import { beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { commandLineOf, type CommandLine } from "../support/processes/command-line.ts";
import { headOf, readFeed } from "../support/stories/event-stream.ts";
import { makeRelease, promote, type PromotionResponse } from "../support/stories/releases.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
let line: CommandLine;
beforeAll(async () => {
  line = commandLineOf(world);
});

describe("trunkline operation cancel", () => {
  it("cancels a promotion, once", async () => {
    const board = await world.board();
    const { api, stages } = board;
    const { number: first } = await api.card();
    const { number: second } = await api.card();
    const id = await makeRelease(api, "1.4", [first, second]);
    const match = { method: "POST", path: "/repositories/*/git/refs" };
    world.forge.control.faults.add({ match, fault: { kind: "response", status: 502 } });
    const started = await promote(api, id, { statusId: stages["In progress"] });
    const operationId = String(started.body.operationId);
    const cancelled = await line.json<PromotionResponse>("operation", "cancel", operationId);
    expect(cancelled).toMatchObject({ operationId, pending: [first, second] });
    world.forge.control.faults.clear();
    const { body } = await eventually(
      () => api.get<PromotionResponse>(`/v1/operations/${operationId}`),
      ({ body: outcome }) => outcome.pending.length === 0,
    );
    expect(body).toMatchObject({
      promoted: [{ number: first }],
      skipped: [{ number: second, reason: "cancelled" }],
    });
    const again = await eventually(
      () => line.run(["operation", "cancel", operationId]),
      ({ code }) => code !== 0,
    );
    expect(again).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("has ended") });
    await headOf(board);
    const events = await readFeed(api, "&kinds=release_changed");
    expect(events.at(-1)).toMatchObject({ actor: null, data: { to: { operationId, state: "cancelled" } } });
    await leaveConsistent(world);
  });

  it.each(["first", "019a0000-0000-7000-8000-000000000000"])("refuses the unknown id %s", async (id) => {
    const refused = await line.run(["operation", "cancel", id]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`There is no operation ${id}`);
  });
});
