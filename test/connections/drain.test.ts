import { expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { connect } from "../../src/store/db/connect.ts";
import { eventually } from "../support/api.ts";
import { cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { startWorld } from "../support/world.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";

// Fault: A9
it("a stopping process reports not ready, finishes accepted calls and accepts no new ones", async () => {
  const world = await startWorld();
  const db = connect({ connectionString: world.databaseUrl, onError: () => undefined });
  const held = await beginTransaction(db);
  try {
    const { service } = world;
    const board = await world.board();
    const { status, number: checked } = await cardWithStatuses(world, board);
    const { number } = await board.api.card({ title: "In flight" });

    // The lock stops the move after its branch was created, and the job of the webhook.
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
    // Load balancers may still send calls until they have read `/readyz`.
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
    const response = await inFlight;
    expect([response.status, response.body.task.statusId]).toEqual([200, board.stages["In progress"]]);
    await stopped;

    expect(await db("deliveries").where({ guid }).select("state", "attempts")).toEqual([
      { state: "done", attempts: 0 },
    ]);
    const items = await db("timeline_items as t")
      .join("cards as c", "c.id", "t.card_id")
      .where({ "c.workspace_id": board.workspaceId, "c.number": checked, "t.kind": "checks_changed" });
    expect(items).toHaveLength(1);
    expect(await db("instances").select()).toEqual([]);
  } finally {
    await held.rollback();
    await db.destroy();
    await world.stop();
  }
});

it("the stop does not wait for connections whose request never arrives", async () => {
  const world = await startWorld({ connections: { headersMs: 1_000 } });
  const { hostname, port } = new URL(world.service.baseUrl);
  const webhook = [
    "POST /api/github/webhooks HTTP/1.1",
    "Host: x",
    "Content-Length: 100",
    "X-GitHub-Event: ping",
    `X-GitHub-Delivery: ${randomUUID()}`,
    `X-Hub-Signature-256: sha256=${"0".repeat(64)}`,
  ];
  const incomplete = ["", "GET /healthz HTTP/1.1\r\n", `${webhook.join("\r\n")}\r\n\r\n{`];
  const sockets = await Promise.all(
    incomplete.map(async (bytes) => {
      const socket = connectSocket({ port: Number(port), host: hostname });
      socket.on("error", () => undefined).resume();
      await once(socket, "connect");
      socket.write(bytes);
      return socket;
    }),
  );
  const closed = Promise.all(sockets.map((socket) => once(socket, "close")));
  // The server accepts connections in order: after this response it has accepted all of them.
  await fetch(`${world.service.baseUrl}/healthz`);
  await world.stop();
  expect(await closed).toHaveLength(incomplete.length);
});
