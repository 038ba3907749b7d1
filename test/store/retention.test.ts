import { expect, it } from "@jest/globals";
import { v7 as uuidv7 } from "uuid";
import { createMonitor } from "../../src/actions/boards/monitors.ts";
import { deleteOldRows } from "../../src/jobs/tasks.ts";
import { dropOldCheckReports, dropOldDeliveries, dropOldReports } from "../../src/store/ops/retention.ts";
import { cardWithStatuses, deliver, storedDeliveryWhen } from "../support/forge/deliveries.ts";
import { makeRelease, promote } from "../support/stories/releases.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();

const drop = (): Promise<void> =>
  deleteOldRows(world.service.deps, { deliveryDays: 30, historyDays: 90, auditDays: 400 });
const ago = (days: number) => world.service.deps.db.raw("now() - ? * interval '1 day'", [days]);

it("processed deliveries are deleted after their time, waiting and parked ones are not", async () => {
  const { db } = world.service.deps;
  const row = (guid: string, state: string, days: number) => ({
    guid,
    state,
    event: "ping",
    lane: "nobody-works-this",
    payload: '{"a":"person\'s text"}',
    received_at: ago(days),
  });
  await db("deliveries").insert([
    row("old", "done", 31),
    row("young", "done", 29),
    row("waits", "waiting", 400),
    row("aside", "parked", 400),
  ]);
  await drop();
  const left = await db("deliveries").where({ lane: "nobody-works-this" }).orderBy("guid").pluck("guid");
  expect(left).toEqual(["aside", "waits", "young"]);
  // A delivery that is sent again after its deletion is new.
  await deliver(world, "ping", { zen: "Again." }, { guid: "old" });
  expect((await storedDeliveryWhen(world, "old", ({ state }) => state === "done"))?.attempts).toBe(0);
  await db("deliveries").delete();
});

it("many deliveries are deleted in batches, all of them", async () => {
  const { db } = world.service.deps;
  await db.raw(
    `insert into deliveries (guid, event, lane, payload, state, received_at)
     select 'many-' || n, 'ping', 'x', '{}', 'done', now() - interval '50 days' from generate_series(1, 2500) n`,
  );
  expect(await dropOldDeliveries(db, 30)).toBe(2_500);
  expect(await db("deliveries").where({ lane: "x" })).toEqual([]);
});

it("check reports of commits that no card shows are deleted in batches", async () => {
  const { db } = world.service.deps;
  const board = await world.board();
  const { sha, repositoryId } = await cardWithStatuses(world, board);
  const [repository] = (await db("repositories").where({ forge_id: repositoryId }).pluck("id")) as string[];
  const report = (of: string, name: string, days: number) => ({
    repository_id: repository,
    sha: of,
    source: "status",
    name,
    forge_id: 1,
    outcome: "passing",
    changed_at: ago(days),
  });
  const gone = "0".repeat(40);
  const reports = ["a", "b", "c"].map((name) => report(gone, name, 91));
  await db("check_reports").insert([...reports, report(gone, "young", 89), report(sha, "shown", 400)]);
  expect(await dropOldCheckReports(db, 90, 2)).toBe(3);
  expect(
    await db("check_reports").where({ repository_id: repository }).orderBy("name").pluck("name"),
  ).toEqual(["shown", "young"]);
});

it("reports of monitors are deleted after a week, in batches", async () => {
  const { db } = world.service.deps;
  const board = await world.board();
  const monitor = await createMonitor({ db, newId: uuidv7 }, { projectId: board.projectId, name: "errors" });
  const report = (id: string, days: number) => ({
    monitor_id: monitor.id,
    report_id: id,
    received_at: ago(days),
  });
  await db("monitor_reports").insert([report("1", 8), report("2", 8), report("3", 8), report("young", 6)]);
  expect(await dropOldReports(db, 2)).toBe(3);
  expect(await db("monitor_reports").where({ monitor_id: monitor.id }).pluck("report_id")).toEqual(["young"]);
});

it("old moves are deleted, except the last successful one of each card", async () => {
  const { db } = world.service.deps;
  const board = await world.board();
  const moved = await board.api.card({ title: "Moved about" });
  for (const name of ["In progress", "To do", "In progress"] as const) {
    await board.api.move(moved.number, board.stages[name]);
  }
  await board.api.move(moved.number, board.stages["Done"]);
  const states = (): Promise<string[]> =>
    db("operations").where({ card_id: moved.id }).orderBy("created_at").pluck("state");
  const before = await states();
  expect(before.at(-1)).toBe("refused");
  await drop();
  expect(await states()).toEqual(before);
  await db("operations")
    .where({ card_id: moved.id })
    .update({ updated_at: ago(91) });
  await drop();
  expect(await states()).toEqual(["done"]);
  await drop();
  expect(await states()).toEqual(["done"]);
  // After a later move, the earlier one is deleted too.
  await board.api.move(moved.number, board.stages["To do"]);
  await board.api.move(moved.number, board.stages["In progress"]);
  const [, later] = await db("operations").where({ card_id: moved.id }).orderBy("created_at").pluck("id");
  expect(later).toBeDefined();
  await db("operations")
    .where({ id: later })
    .update({ updated_at: ago(90.5) });
  await drop();
  expect(await db("operations").where({ card_id: moved.id }).pluck("id")).toEqual([later]);
});

// Fault: E13
it("claimed keys, new processes and new failures are not deleted", async () => {
  const { db, instanceId } = world.service.deps;
  const board = await world.board();
  await board.api.card();
  const found = await db<{ credential_id: string }>("idempotency_keys").first("credential_id");
  const key = (name: string, state: string, holder: string | null = null) => ({
    credential_id: found?.credential_id,
    key: name,
    fingerprint: Buffer.alloc(32),
    state,
    holder,
    created_at: ago(2),
  });
  await db("idempotency_keys").insert([
    key("a-key-that-is-done", "done"),
    key("a-key-that-runs", "running", instanceId),
    key("a-key-of-a-dead-process", "running", board.workspaceId),
  ]);
  await db("instances").insert([{ id: board.workspaceId, seen_at: ago(2) }]);
  await db.raw(
    "select graphile_worker.add_job('given-up', job_key := 'g' || n, max_attempts := 1) from generate_series(1, 2) n",
  );
  await db.raw("update graphile_worker._private_jobs set attempts = 1 where key in ('g1', 'g2')");
  await db.raw(
    "update graphile_worker._private_jobs set updated_at = now() - interval '91 days' where key = 'g1'",
  );
  await drop();
  expect(await db("idempotency_keys").whereRaw("key like 'a-key%'").pluck("key")).toEqual([
    "a-key-that-runs",
  ]);
  expect(await db("instances").pluck("id")).toEqual([instanceId]);
  expect(
    await db.withSchema("graphile_worker").from("jobs").whereIn("key", ["g1", "g2"]).pluck("key"),
  ).toEqual(["g2"]);
});

it("old promotions are deleted, running ones are not", async () => {
  const { db } = world.service.deps;
  const board = await world.board();
  const { number } = await board.api.card({ repositoryIds: [] });
  const id = await makeRelease(board.api, "1.4", [number]);
  await promote(board.api, id, { statusId: board.stages["To do"] });
  const [promotion] = (await db("operations").where({ release_id: id }).pluck("id")) as string[];
  const read = async (): Promise<number> => (await board.api.get(`/v1/operations/${promotion}`)).status;
  await drop();
  expect(await read()).toBe(200);
  const ofRelease = () => db("operations").where({ release_id: id });
  // Later than the moves above, up to which old operations were read.
  await ofRelease().update({
    updated_at: ago(90.25),
    state: "running",
    holder: world.service.deps.instanceId,
  });
  await drop();
  expect(await read()).toBe(200);
  await ofRelease().update({ state: "done" });
  await drop();
  expect(await read()).toBe(404);
});

it("attempts to deliver to webhooks go after two weeks", async () => {
  const { db } = world.service.deps;
  const { api } = await world.board();
  const { body } = await api.post("/v1/webhooks", { url: "https://hooks.example.com/", kinds: ["blocked"] });
  const attempt = (eventId: string, days: number) => ({
    webhook_id: body["id"],
    event_id: eventId,
    kind: "blocked",
    status: 204,
    response: "",
    ms: 1,
    at: ago(days),
  });
  await db("webhook_deliveries").insert([attempt("old", 15), attempt("young", 13)]);
  await drop();
  expect(await db("webhook_deliveries").pluck("event_id")).toEqual(["young"]);
});
