import { expect, it, jest } from "@jest/globals";
import { setTimeout as sleep } from "node:timers/promises";
import { beginTransaction } from "../../src/store/db/transaction.ts";
import { eventually, type Api } from "../support/api.ts";
import { statementsOf } from "../support/database/statements.ts";
import { headOf, openStream, type ApiEvent, type EventPage } from "../support/stories/event-stream.ts";
import { useWorld } from "../support/use-world.ts";
import { METRICS_TOKEN, type TestBoard } from "../support/world.ts";

const world = useWorld({ keepAliveMs: 300 });

/** Deletes all events and skips numbers, as nobody but an operator does while processes run. */
async function skipNumbers({ db, workspaceId }: TestBoard): Promise<void> {
  const trx = await beginTransaction(db);
  await trx("events").where({ workspace_id: workspaceId }).delete();
  await trx("feeds").where({ workspace_id: workspaceId }).increment("head", 1_000);
  await trx.commit();
}

/** A request of a client that closes the connection after `untilClosed`. */
async function disconnect({ baseUrl, apiKey }: Api, path: string, untilClosed: () => Promise<unknown>) {
  const closing = new AbortController();
  const headers = { authorization: `Bearer ${apiKey}` };
  const call = fetch(`${baseUrl}${path}`, { headers, signal: closing.signal });
  await untilClosed();
  closing.abort();
  await expect(call).rejects.toThrow("aborted");
}

it("a board's events are numbered at times that never decrease, also after the clock was set back", async () => {
  const board = await world.board();
  await headOf(board);
  const inAnHour = { numbered_at: board.db.raw("now() + interval '1 hour'") };
  await board.db("events").where({ workspace_id: board.workspaceId }).update(inAnHour);
  await board.db("feeds").where({ workspace_id: board.workspaceId }).update(inAnHour);
  const trx = await beginTransaction(board.db);
  await trx.raw(
    "insert into events (workspace_id, kind) select ?, 'flow_changed' from generate_series(1, 200)",
    [board.workspaceId],
  );
  await trx.commit();
  await board.api.card();
  await headOf(board);
  const rows = await board.db("events").where({ workspace_id: board.workspaceId }).orderBy("seq");
  const times = rows.map((row: { numbered_at: Date }) => row.numbered_at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

it("the delay of the feed is counted from the write, also for what GitHub reports hours later", async () => {
  const board = await world.board();
  await headOf(board);
  const where = { workspace_id: board.workspaceId };
  const holding = await beginTransaction(board.db);
  await holding("feeds").where(where).forUpdate();
  const at = board.db.raw("now() - interval '2 hours'");
  await board.db("events").insert({ ...where, kind: "flow_changed", at });
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const metrics = await (await fetch(`${board.api.baseUrl}/metrics`, { headers })).text();
  const [, age] = /^trunkline_events_unnumbered_age_seconds (.*)$/m.exec(metrics) ?? [];
  expect(Number(age)).toBeGreaterThan(0);
  expect(Number(age)).toBeLessThan(3_600);
  await holding.rollback();
});

it("a stream gets `reset` and a waiting poll 410 when events after their position are deleted", async () => {
  const board = await world.board();
  const head = await headOf(board);
  const stream = await openStream(board.api, `?after=${head}`);
  await stream.framesWhen(({ length }) => length > 0);
  const poll = board.api.get(`/v1/events?after=${head}&wait=10`);
  await skipNumbers(board);
  expect(await poll).toMatchObject({ status: 410, body: { head: String(head + 1_000) } });
  const frames = await stream.framesWhen((all) => all.some(({ event }) => event === "reset"));
  expect(frames.at(-1)).toMatchObject({ id: String(head + 1_000) });
  await board.api.card();
  await stream.framesWhen((all) => all.at(-1)?.id === String(head + 1_001));
  stream.close();
});

it("a poll whose client disconnects ends at once", async () => {
  const board = await world.board();
  const head = await headOf(board);
  const waits = jest.spyOn(world.service.deps.feed, "waitForEvent");
  await disconnect(board.api, `/v1/events?after=${head}&wait=25`, () =>
    eventually(
      () => Promise.resolve(waits.mock.calls.length),
      (count) => count > 0,
    ),
  );
  await sleep(500);
  expect(waits.mock.calls.length).toBeLessThanOrEqual(2);
  waits.mockRestore();
});

it("a stream whose client disconnects before it starts sends nothing", async () => {
  const board = await world.board();
  const blocking = await beginTransaction(board.db);
  await blocking.raw("lock table credentials in access exclusive mode");
  const waits = jest.spyOn(world.service.deps.feed, "waitForEvent");
  await disconnect(board.api, "/v1/events/stream", () =>
    eventually(
      async () => (await blocking("pg_locks").where({ granted: false })) as unknown[],
      ({ length }) => length > 0,
    ),
  );
  await sleep(100);
  await blocking.commit();
  await sleep(300);
  expect(waits).not.toHaveBeenCalled();
  waits.mockRestore();
});

it("readers with different filters share the read of an event, and get only what matches", async () => {
  const board = await world.board();
  const { number } = await board.api.card();
  const { body: label } = await board.api.post<{ id: string }>("/v1/labels", { name: "Unrelated" });
  const head = await headOf(board);
  const filters = Array.from({ length: 20 }, (_, nth) => `card=${number + nth}`);
  const polls = filters.map((each) => board.api.get<EventPage>(`/v1/events?after=${head}&wait=20&${each}`));
  const waits = jest.spyOn(world.service.deps.feed, "waitForEvent");
  await eventually(
    () => Promise.resolve(waits.mock.calls.length),
    (count) => count >= filters.length,
  );
  waits.mockRestore();
  const statements = await statementsOf(async () => {
    await board.api.patch(`/v1/labels/${label.id}`, { name: "Renamed" });
    await board.api.patch(`/v1/cards/${number}`, { title: "Renamed" });
    await polls[0];
  });
  const reads = statements.filter((text) => text.includes("with scanned as"));
  expect(reads.length).toBeLessThan(filters.length);
  const streams = await Promise.all(filters.map((each) => openStream(board.api, `?after=${head}&${each}`)));
  const later = `Card ${number + 1}`;
  for (let nth = 1; nth < filters.length; nth++) await board.api.card({ title: later });
  const found = await Promise.all(polls);
  const numbers = filters.map((_, nth) => number + nth);
  expect(found.map(({ body }) => body.events[0]?.card?.number)).toEqual(numbers);
  expect(found.map(({ body }) => body.events.length)).toEqual(numbers.map(() => 1));
  for (const [nth, stream] of streams.entries()) {
    const frames = await stream.framesWhen((all) => all.some(({ data }) => data !== null));
    const events = frames.flatMap(({ data }) => (data === null ? [] : [JSON.parse(data) as ApiEvent]));
    expect(new Set(events.map(({ card }) => card?.number))).toEqual(new Set([number + nth]));
    stream.close();
  }
});
