/** A run of a lane takes several deliveries at once, and is as if it took each by itself. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { connect, rows } from "../../src/store/db/connect.ts";
import { insertDeliveries, nextDeliveries } from "../../src/store/forge/deliveries.ts";
import { addLaneJobs } from "../../src/store/forge/lanes.ts";
import {
  allProcessed,
  cardWithStatuses,
  storedDelivery,
  storedDeliveryWhen,
} from "../support/forge/deliveries.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { holdWebhooks, push, commentOnPull } from "../support/stories/repairing.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

const MOST_OCTETS = 1_000_000;

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
// Of lanes that nobody works.
afterEach(() => db()("deliveries").where({ event: "ping" }).delete());
afterAll(() => expectAllConsistent(world));
afterAll(() => world.stop());

const db = () => world.service.deps.db;

interface Told {
  readonly event: string;
  readonly payload: string;
}

/** Keeps deliveries in a lane, as one run will find them, and gives their guids. */
async function keep(lane: string, told: readonly Told[]): Promise<string[]> {
  const made = told.map((each) => ({ ...each, guid: randomUUID(), lane, source: "webhook" as const }));
  await insertDeliveries(db(), made);
  return made.map(({ guid }) => guid);
}

const ofSize = (octets: number): Told => ({ event: "ping", payload: "x".repeat(octets) });
const guidsOf = async (lane: string, worked: readonly string[], mostOctets = MOST_OCTETS) =>
  (await nextDeliveries(db(), lane, worked, mostOctets)).map(({ guid }) => guid);
const statesOf = async (guids: readonly string[]) =>
  Promise.all(guids.map(async (guid) => (await storedDelivery(world, guid))?.state));

it("up to 16 are taken in their order, and marked when the next are", async () => {
  const guids = await keep(
    "many",
    Array.from({ length: 20 }, () => ofSize(2)),
  );
  const first = await guidsOf("many", []);
  expect(first).toEqual(guids.slice(0, 16));
  expect(new Set(await statesOf(guids))).toEqual(new Set(["waiting"]));
  // What was not worked of those that were taken is taken again.
  expect(await guidsOf("many", first.slice(0, 15))).toEqual(guids.slice(15));
  expect(await statesOf(guids)).toEqual(guids.map((_, at) => (at < 15 ? "done" : "waiting")));
});

it("payloads taken at once have a megabyte together, and a larger one comes alone", async () => {
  const guids = await keep("large", [400_000, 500_000, 200_000, 3_000_000, 2].map(ofSize));
  expect(await guidsOf("large", [])).toEqual(guids.slice(0, 2));
  expect(await guidsOf("large", guids.slice(0, 2))).toEqual(guids.slice(2, 3));
  expect(await guidsOf("large", guids.slice(2, 3))).toEqual(guids.slice(3, 4));
  expect(await guidsOf("large", guids.slice(3, 4))).toEqual(guids.slice(4));
  const small = await keep("small", [2, 2].map(ofSize));
  expect(await guidsOf("small", [], 0)).toEqual(small.slice(0, 1));
});

it("nothing is taken behind one that may make a pull request known", async () => {
  const guids = await keep(
    "opened",
    ["ping", "pull_request", "ping", "pull_request"].map((event) => ({ event, payload: "{}" })),
  );
  try {
    expect(await guidsOf("opened", [])).toEqual(guids.slice(0, 2));
    expect(await guidsOf("opened", guids.slice(0, 2))).toEqual(guids.slice(2));
    expect(await guidsOf("opened", guids.slice(2, 3))).toEqual(guids.slice(3));
  } finally {
    await db()("deliveries").where({ lane: "opened" }).delete();
  }
});

it("the statement is planned once, whatever it is asked for and marks", async () => {
  // Many lanes, and in a few of them much that waits.
  for (const [lanes, count, state] of [
    [50, 20_000, "done"],
    [3, 3_000, "waiting"],
  ] as const)
    await db().raw(
      `insert into deliveries (guid, event, lane, payload, state)
       select gen_random_uuid(), 'ping', 'planned:' || n % :lanes, repeat('x', 600), :state from generate_series(1, :count) n`,
      { lanes, count, state },
    );
  await db().raw("analyze deliveries");
  const own = connect({ connectionString: world.databaseUrl, max: 1, onError: () => undefined });
  try {
    for (let turn = 0; turn < 10; turn++) await nextDeliveries(own, "nobody's", ["none"], MOST_OCTETS);
    const plans = await rows(
      own,
      "select custom_plans as custom, generic_plans as kept from pg_prepared_statements where statement like 'with marked%'",
    );
    expect(plans).toEqual([{ custom: 5, kept: 5 }]);
  } finally {
    await own.destroy();
  }
});

it("one that fails leaves those before it worked, and those behind it waiting", async () => {
  const board = await world.board();
  const { lane, status } = await cardWithStatuses(world, board);
  const told = (context: string): Told => ({
    event: "status",
    payload: JSON.stringify(status("success", context)),
  });
  // No table can hold the third: PostgreSQL's text has no NUL.
  const guids = await keep(lane, ["one", "two", "ci\0", "three"].map(told));
  const poison = guids[2] ?? "";
  await addLaneJobs(db(), [lane]);
  await storedDeliveryWhen(world, poison, ({ attempts }) => attempts === 1);
  expect(await statesOf(guids)).toEqual(["done", "done", "waiting", "waiting"]);
  await db()("deliveries").where({ guid: poison }).update({ attempts: 7 });
  await storedDeliveryWhen(world, poison, ({ state }) => state === "parked");
  await allProcessed(world);
  expect(await statesOf(guids)).toEqual(["done", "done", "parked", "done"]);
  expect(await db()("deliveries").where({ lane, attempts: 0 }).whereIn("guid", guids)).toHaveLength(3);
});

it("what was said on a pull request before it was known is worked before what came after its opening", async () => {
  const board = await world.board();
  const { number, branchName, lane, status } = await cardWithStatuses(world, board);
  holdWebhooks(world);
  const sha = await push(board, branchName);
  const opened = await board.person("grace", "POST", `/repos/${board.owner}/web/pulls`, {
    title: "Mine",
    head: branchName,
    base: "main",
  });
  await commentOnPull(board, Number(opened.body["number"]), "Why?");
  await world.forge.waitUntilIdle();
  const { webhooks } = world.forge.control;
  const held = webhooks.held().map(({ event, body }): Told => ({ event, payload: body }));
  webhooks.clear();
  webhooks.discard();
  const isEarly = ({ event }: Told): boolean => event === "issue_comment";
  const statuses = (["pending", "failure", "success"] as const).map((state) => ({
    event: "status",
    payload: JSON.stringify({ ...status(state), sha }),
  }));
  await keep(lane, [...held.filter(isEarly), ...held.filter((each) => !isEarly(each)), ...statuses]);
  await addLaneJobs(db(), [lane]);
  await allProcessed(world);
  const { id } = await board.api.readCard(number);
  const items = await db()("timeline_items").where({ card_id: id }).orderBy("seq").select("type", "kind");
  const told = items.map(({ type, kind }) => String(kind ?? type));
  expect(told.slice(told.indexOf("pull_request_opened"))).toEqual([
    "pull_request_opened",
    "comment",
    "checks_changed",
    "checks_changed",
    "checks_changed",
  ]);
});
