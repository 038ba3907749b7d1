/** A lane processes several deliveries together with the same result as one by one. */
import { randomUUID } from "node:crypto";
import { afterEach, expect, it } from "@jest/globals";
import { connect, rows } from "../../src/store/db/connect.ts";
import { insertDeliveries, nextDeliveries } from "../../src/store/forge/deliveries.ts";
import { addLaneJobs } from "../../src/store/forge/lanes.ts";
import {
  allProcessed,
  cardWithStatuses,
  POISON,
  refusePoison,
  storedDelivery,
  storedDeliveryWhen,
} from "../support/forge/deliveries.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { holdWebhooks, push, commentOnPull } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";

const MOST_OCTETS = 1_000_000;

const world = useWorld({}, expectAllConsistent);
// Lanes that no worker processes.
afterEach(() => db()("deliveries").where({ event: "ping" }).delete());

const db = () => world.service.deps.db;

interface StatusEvent {
  readonly event: string;
  readonly payload: string;
}

/** Stores deliveries in a lane for one run and returns their guids. */
async function keep(lane: string, recorded: readonly StatusEvent[]): Promise<string[]> {
  const made = recorded.map((each) => ({ ...each, guid: randomUUID(), lane, source: "webhook" as const }));
  await insertDeliveries(db(), made);
  return made.map(({ guid }) => guid);
}

const ofSize = (octets: number): StatusEvent => ({ event: "ping", payload: "x".repeat(octets) });
const guidsOf = async (lane: string, worked: readonly string[], mostOctets = MOST_OCTETS) =>
  (await nextDeliveries(db(), lane, worked, mostOctets)).map(({ guid }) => guid);
const statesOf = async (guids: readonly string[]) =>
  Promise.all(guids.map(async (guid) => (await storedDelivery(world, guid))?.state));

it("up to 16 deliveries are read in order and marked as done when the next are read", async () => {
  const guids = await keep(
    "many",
    Array.from({ length: 20 }, () => ofSize(2)),
  );
  const first = await guidsOf("many", []);
  expect(first).toEqual(guids.slice(0, 16));
  expect(new Set(await statesOf(guids))).toEqual(new Set(["waiting"]));
  // Deliveries that were read but not processed are read again.
  expect(await guidsOf("many", first.slice(0, 15))).toEqual(guids.slice(15));
  expect(await statesOf(guids)).toEqual(guids.map((_, at) => (at < 15 ? "done" : "waiting")));
});

it("payloads that are read together have at most a megabyte; a larger one is read alone", async () => {
  const guids = await keep("large", [400_000, 500_000, 200_000, 3_000_000, 2].map(ofSize));
  expect(await guidsOf("large", [])).toEqual(guids.slice(0, 2));
  expect(await guidsOf("large", guids.slice(0, 2))).toEqual(guids.slice(2, 3));
  expect(await guidsOf("large", guids.slice(2, 3))).toEqual(guids.slice(3, 4));
  expect(await guidsOf("large", guids.slice(3, 4))).toEqual(guids.slice(4));
  const small = await keep("small", [2, 2].map(ofSize));
  expect(await guidsOf("small", [], 0)).toEqual(small.slice(0, 1));
});

it("no delivery is read after one that may link a pull request", async () => {
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

it("the statement is planned once for all parameters", async () => {
  // Many lanes, a few of them with many waiting deliveries.
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
    for (let turn = 0; turn < 10; turn++) await nextDeliveries(own, "no-such-lane", ["none"], MOST_OCTETS);
    const plans = await rows(
      own,
      "select custom_plans as custom, generic_plans as kept from pg_prepared_statements where statement like 'with marked%'",
    );
    expect(plans).toEqual([{ custom: 5, kept: 5 }]);
  } finally {
    await own.destroy();
  }
});

it("a failing delivery does not affect earlier ones, and later ones wait", async () => {
  const board = await world.board();
  const { lane, status } = await cardWithStatuses(world, board);
  const recorded = (context: string): StatusEvent => ({
    event: "status",
    payload: JSON.stringify(status("success", context)),
  });
  await refusePoison(db());
  const guids = await keep(lane, ["one", "two", POISON, "three"].map(recorded));
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

it("deliveries about a new pull request are processed in order, before and after its link", async () => {
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
  const held = webhooks.held().map(({ event, body }): StatusEvent => ({ event, payload: body }));
  webhooks.clear();
  webhooks.discard();
  const isEarly = ({ event }: StatusEvent): boolean => event === "issue_comment";
  const statuses = (["pending", "failure", "success"] as const).map((state) => ({
    event: "status",
    payload: JSON.stringify({ ...status(state), sha }),
  }));
  await keep(lane, [...held.filter(isEarly), ...held.filter((each) => !isEarly(each)), ...statuses]);
  await addLaneJobs(db(), [lane]);
  await allProcessed(world);
  const { id } = await board.api.readCard(number);
  const items = await db()("timeline_items").where({ card_id: id }).orderBy("seq").select("type", "kind");
  const recorded = items.map(({ type, kind }) => String(kind ?? type));
  expect(recorded.slice(recorded.indexOf("pull_request_opened"))).toEqual([
    "pull_request_opened",
    "comment",
    "checks_changed",
    "checks_changed",
    "checks_changed",
  ]);
});

it("lanes with a backlog let the delivery of another repository in between, and stay in order", async () => {
  const statusOf = (id: number): StatusEvent => ({
    event: "status",
    payload: JSON.stringify({
      id,
      sha: "c".repeat(40),
      context: "ci",
      state: "success",
      created_at: "2026-01-01T00:00:00Z",
      branches: [],
      repository: { id, full_name: `acme/${id}`, default_branch: "main" },
      sender: { id: 1, login: "ada", type: "User" },
    }),
  });
  const busy = Array.from({ length: 4 }, (_, at) => 2_000_000_000 + at);
  for (const id of busy)
    for (let part = 0; part < 16; part++) {
      await keep(
        `repository:${id}`,
        Array.from({ length: 250 }, () => statusOf(id)),
      );
    }
  await addLaneJobs(
    db(),
    busy.map((id) => `repository:${id}`),
  );
  const waiting = async (id: number) =>
    Number(
      (
        await db()("deliveries")
          .where({ lane: `repository:${id}`, state: "waiting" })
          .count()
      )[0]?.["count"],
    );
  const [other] = await keep("repository:1", [statusOf(1)]);
  await addLaneJobs(db(), ["repository:1"]);
  await storedDeliveryWhen(world, other ?? "", ({ state }) => state === "done");
  const left = await Promise.all(busy.map(waiting));
  expect(left.map((count) => count > 0)).toEqual([true, true, true, true]);
  await allProcessed(world);
  const outOfOrder = await rows(
    db(),
    `select seq from (select seq, processed_at < lag(processed_at) over (partition by lane order by seq) as is_late
                        from deliveries where lane like 'repository:200000000_') d where is_late`,
  );
  expect(outOfOrder).toEqual([]);
});
