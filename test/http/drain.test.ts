import { expect, it } from "@jest/globals";
import { connect } from "../../src/store/db/connect.ts";
import { eventually } from "../support/api.ts";
import { cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { startWorld } from "../support/world.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";

// Fault: A9
it("a process asked to end says so at once, finishes what it has accepted, and takes nothing more", async () => {
  const world = await startWorld();
  const db = connect({ connectionString: world.databaseUrl, onError: () => undefined });
  const held = await beginTransaction(db);
  try {
    const { service } = world;
    const board = await world.board();
    const { status, number: checked } = await cardWithStatuses(world, board);
    const { number } = await board.api.card({ title: "In flight" });

    // Nothing can be told on a timeline: a move waits with its branch already cut, and so does a job.
    await held.raw("lock table timeline_items in exclusive mode");
    const inFlight = board.api.move(number, board.stages["In progress"]);
    const { guid } = await deliver(world, "status", status("failure"));
    await eventually(
      () => db("pg_locks").where({ granted: false }).whereRaw("relation = 'timeline_items'::regclass"),
      ({ length }) => length === 2,
    );

    service.drain();
    const ready = await fetch(`${service.baseUrl}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({
      status: "not ready",
      checks: expect.arrayContaining([expect.objectContaining({ name: "draining", ok: false })]),
    });
    // Whoever has not heard of it yet is served.
    expect((await board.api.get("/v1/me")).status).toBe(200);

    const stopped = service.stop();
    await eventually(
      () =>
        fetch(`${service.baseUrl}/healthz`).then(
          ({ status: code }) => code,
          () => "refused",
        ),
      (outcome) => outcome === "refused",
    );
    await held.commit();
    const answer = await inFlight;
    expect([answer.status, answer.body.task.statusId]).toEqual([200, board.stages["In progress"]]);
    await stopped;

    expect(await db("deliveries").where({ guid }).select("state", "attempts")).toEqual([
      { state: "done", attempts: 0 },
    ]);
    const told = await db("timeline_items as t")
      .join("cards as c", "c.id", "t.card_id")
      .where({ "c.workspace_id": board.workspaceId, "c.number": checked, "t.kind": "checks_changed" });
    expect(told).toHaveLength(1);
    expect(await db("instances").select()).toEqual([]);
  } finally {
    await held.rollback();
    await db.destroy();
    await world.stop();
  }
});
