/** Deliveries that never arrived are found in GitHub's delivery log. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { saveJobProgress } from "../../src/store/ops/job-progress.ts";
import { retryParked } from "../../src/store/forge/lanes.ts";
import { recoverMissedDeliveries } from "../../src/webhooks/recover-missed-deliveries.ts";
import { allProcessed, cardWithStatuses, deliver, storedDeliveryWhen } from "../support/forge/deliveries.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const LIST = "GET /app/hook/deliveries";
const READ = "GET /app/hook/deliveries/{delivery_id}";
const ONE = "/app/hook/deliveries/{delivery_id}";
const UNREACHABLE = "http://127.0.0.1:9/nothing";

const world = useWorld({}, (tested) => expectAllConsistent(tested, forgetful));
// As after a read of the log.
beforeEach(() => repaired());
afterEach(() => {
  world.forge.control.webhooks.clear();
  world.forge.control.faults.clear();
  world.forge.setWebhookUrl(world.service.webhookUrl);
});
/** Boards of tests that delete recorded rows. */
const forgetful: TestBoard[] = [];

/** Reads the log and waits until its deliveries are processed. */
async function repaired(atOnce?: number): Promise<void> {
  await world.forge.waitUntilIdle();
  await recoverMissedDeliveries(world.service.deps, atOnce);
  await allProcessed(world);
}

const calls = (route: string): number => world.forge.requests.count((request) => request.route === route);

/** A card with a commit of its own, and a function that reports a check on it. */
async function cardWithChecks(board: TestBoard) {
  const { number, sha } = await cardWithCommit(board, "In progress");
  const fullName = `${board.owner}/web`;
  await allProcessed(world);
  const report = async (context: string, state = "failure"): Promise<void> => {
    const { status } = await board.person("ada", "POST", `/repos/${fullName}/statuses/${sha}`, {
      context,
      state,
    });
    expect(status).toBe(201);
  };
  const recorded = async () =>
    (await board.api.timeline(number))
      .filter(({ kind }) => kind === "checks_changed")
      .map(({ data }) => data["to"]);
  const reported = async () =>
    (await world.service.deps.db("check_reports").where({ sha }).select("name")).map(
      ({ name }) => name as string,
    );
  return { number, report, recorded, reported };
}

describe("a delivery that never arrived", () => {
  // Fault: B3 Deliveries are lost => found in GitHub's log or by hourly comparison
  it("is found in GitHub's log and processed", async () => {
    const board = await world.board();
    const { number, report, recorded } = await cardWithChecks(board);
    world.forge.control.webhooks.add({ fault: { kind: "drop" } });
    await report("ci");
    await world.forge.waitUntilIdle();
    world.forge.control.webhooks.clear();
    expect(await recorded()).toEqual([]);
    await repaired();
    expect(await recorded()).toEqual(["failing"]);
    const [item] = (await board.api.timeline(number)).filter(({ kind }) => kind === "checks_changed");
    expect(item?.actor.login).toMatch(/^ada/);
  });

  it("is stored once, and delivered ones are not read again", async () => {
    const { report, recorded } = await cardWithChecks(await world.board());
    await report("arrived", "success");
    world.forge.setWebhookUrl(UNREACHABLE);
    await report("missed");
    await world.forge.waitUntilIdle();
    world.forge.setWebhookUrl(world.service.webhookUrl);
    world.forge.requests.reset();
    await Promise.all([repaired(), repaired()]);
    await repaired();
    expect(calls(READ)).toBeLessThanOrEqual(2);
    expect(await recorded()).toEqual(["passing", "failing"]);
  });

  it("is found among more deliveries than fit into memory", async () => {
    const { report, reported } = await cardWithChecks(await world.board());
    world.forge.setWebhookUrl(UNREACHABLE);
    const names = Array.from({ length: 7 }, (_, at) => `check-${at}`);
    for (const name of names) await report(name);
    await world.forge.waitUntilIdle();
    world.forge.setWebhookUrl(world.service.webhookUrl);
    await repaired(3);
    expect((await reported()).toSorted()).toEqual(names);
  });

  it("is found after the log could not be read completely at first", async () => {
    const { report, reported } = await cardWithChecks(await world.board());
    world.forge.setWebhookUrl(UNREACHABLE);
    for (const name of ["one", "two", "three"]) await report(name);
    await world.forge.waitUntilIdle();
    world.forge.setWebhookUrl(world.service.webhookUrl);
    world.forge.control.faults.add({
      match: { path: ONE },
      skip: 1,
      times: 3,
      fault: { kind: "response", status: 502 },
    });
    await expect(recoverMissedDeliveries(world.service.deps)).rejects.toThrow("GitHub did not respond");
    await repaired();
    expect((await reported()).toSorted()).toEqual(["one", "three", "two"]);
  });

  it("whose payload is no longer in the log does not stop the others", async () => {
    const { report, reported } = await cardWithChecks(await world.board());
    world.forge.setWebhookUrl(UNREACHABLE);
    for (const name of ["gone", "here"]) await report(name);
    await world.forge.waitUntilIdle();
    world.forge.setWebhookUrl(world.service.webhookUrl);
    world.forge.control.script({ path: ONE }, [{ status: 404 }]);
    await repaired(1);
    expect(await reported()).toEqual(["here"]);
  });
});

describe("GitHub's log", () => {
  // Fault: B4 Trunkline is down for days => up to 3 days of GitHub's log are read
  it("is read back to the last read delivery", async () => {
    const { report } = await cardWithChecks(await world.board());
    for (let at = 0; at < 11; at++) {
      await Promise.all(Array.from({ length: 10 }, (_, more) => report(`check-${at}-${more}`, "success")));
    }
    await allProcessed(world);
    const { db } = world.service.deps;
    const readUntil = async (time: Date): Promise<void> => {
      await db("job_progress").delete();
      await saveJobProgress(db, "delivery_log", time.toISOString());
    };
    world.forge.requests.reset();
    await readUntil(new Date(Date.now() + 3_600_000));
    await recoverMissedDeliveries(world.service.deps);
    expect(calls(LIST)).toBe(1);
    world.forge.requests.reset();
    await readUntil(new Date(0));
    await recoverMissedDeliveries(world.service.deps);
    expect(calls(LIST)).toBeGreaterThan(1);
    expect(calls(READ)).toBe(0);
    await recoverMissedDeliveries(world.service.deps);
    expect(await db("job_progress").where({ name: "delivery_log" }).first()).toMatchObject({
      done_until: expect.any(Date),
    });
  });

  it("is not replayed for the time before this database if another one has the deliveries", async () => {
    const board = await world.board();
    forgetful.push(board);
    const { report, reported } = await cardWithChecks(board);
    await report("accepted");
    await allProcessed(world);
    const { db } = world.service.deps;
    const forget = () => db("deliveries").whereLike("payload", '%"context":"accepted"%').delete();
    expect(await forget()).toBe(1);
    await db("check_reports").where({ name: "accepted" }).delete();
    await db("job_progress").delete();
    await repaired();
    expect(await reported()).toEqual([]);
    // From now on the deliveries belong to this database.
    expect(await forget()).toBe(0);
    await repaired();
    expect(await reported()).toEqual(["accepted"]);
  });
});

// Fault: B12
it("parked deliveries are processed when an operator retries them", async () => {
  const { db } = world.service.deps;
  const board = await world.board();
  forgetful.push(board);
  const { status, sha } = await cardWithStatuses(world, board);
  const { guid } = await deliver(world, "status", status("failure"));
  await storedDeliveryWhen(world, guid, ({ state }) => state === "done");
  await db("check_reports").where({ sha }).delete();
  await db("deliveries").where({ guid }).update({ state: "parked", attempts: 8 });
  expect(await retryParked(db, "another")).toBe(0);
  expect(await retryParked(db, guid)).toBe(1);
  await storedDeliveryWhen(world, guid, ({ state }) => state === "done");
  expect(await db("check_reports").where({ sha })).toHaveLength(1);
  expect(await retryParked(db, null)).toBe(0);
});
