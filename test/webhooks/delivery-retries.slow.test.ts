import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { addJob } from "../../src/store/db/jobs.ts";
import { eventually } from "../support/api.ts";
import {
  cardWithStatuses,
  deliver,
  POISON,
  refusePoison,
  storedDelivery,
  storedDeliveryWhen,
} from "../support/forge/deliveries.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld({}, expectAllConsistent);

const db = () => world.service.deps.db;

beforeAll(() => refusePoison(db()));

/** Makes recording of checks fail meanwhile. */
async function whileChecksCannotBeStored(act: () => Promise<void>): Promise<void> {
  await db().raw("alter table check_reports rename to elsewhere");
  try {
    await act();
  } finally {
    await db().raw("alter table elsewhere rename to check_reports");
  }
}

/** Waits until no worker processes the lane and its next attempt is in the future. */
async function untilLaneIsDelayed(lane: string): Promise<void> {
  const job = () =>
    db()("graphile_worker.jobs")
      .where({ key: `process-lane:${lane}`, locked_at: null })
      .whereRaw("run_at > now()");
  await eventually(job, ({ length }) => length === 1);
}

describe("deliveries", () => {
  it("of one repository are processed in order", async () => {
    const board = await world.board();
    const { number, status } = await cardWithStatuses(world, board);
    const states = ["pending", "failure", "success", "pending", "success", "failure", "success"] as const;
    for (const state of states) await deliver(world, "status", status(state));
    await board.api.eventWhen(number, () => true);
    const recorded = async () =>
      (await board.api.timeline(number))
        .filter(({ kind }) => kind === "checks_changed")
        .map(({ data }) => data["to"]);
    const words = { pending: "pending", failure: "failing", success: "passing" };
    const all = await eventually(recorded, ({ length }) => length === states.length);
    expect(all).toEqual(states.map((state) => words[state]));
  });

  // Fault: A8 The process is killed after accepting webhooks => each is processed once
  it("that a process stored before it died are found", async () => {
    const guid = randomUUID();
    await db()("deliveries").insert({ guid, event: "ping", lane: "forgotten", payload: "{}" });
    await addJob(db(), "wake-waiting-lanes", {});
    expect(await storedDeliveryWhen(world, guid, ({ state }) => state === "done")).toMatchObject({
      attempts: 0,
    });
  });

  it("that fail are retried until they succeed, and later ones wait", async () => {
    const board = await world.board();
    const { number, status } = await cardWithStatuses(world, board);
    let first = "";
    let second = "";
    await whileChecksCannotBeStored(async () => {
      first = (await deliver(world, "status", status("pending"))).guid;
      await storedDeliveryWhen(world, first, ({ attempts }) => attempts >= 1);
      second = (await deliver(world, "status", status("success"))).guid;
      expect(await storedDelivery(world, second)).toMatchObject({ state: "waiting", attempts: 0 });
    });
    await storedDeliveryWhen(world, second, ({ state }) => state === "done");
    expect(await storedDelivery(world, first)).toMatchObject({ state: "done" });
    const recorded = (await board.api.timeline(number)).filter(({ kind }) => kind === "checks_changed");
    expect(recorded.map(({ data }) => data["to"])).toEqual(["pending", "passing"]);
  });

  // Fault: B12 Processing a delivery fails => retried; parked after 8 failures
  it("that always fail are parked, and later ones continue", async () => {
    const board = await world.board();
    const { number, status } = await cardWithStatuses(world, board);
    const poison = await deliver(world, "status", status("failure", POISON));
    await storedDeliveryWhen(world, poison.guid, ({ attempts }) => attempts === 1);
    const next = await deliver(world, "status", status("success"));
    await db()("deliveries").where({ guid: poison.guid }).update({ attempts: 7 });
    await storedDeliveryWhen(world, poison.guid, ({ state }) => state === "parked");
    await storedDeliveryWhen(world, next.guid, ({ state }) => state === "done");
    await board.api.eventWhen(
      number,
      ({ kind, data }) => kind === "checks_changed" && data["to"] === "passing",
    );
    const logged = world
      .logged()
      .split("\n")
      .find((line) => line.includes("was parked") && line.includes(poison.guid));
    expect(logged).toContain('"level":50');
  });

  it("of other repositories do not wait for a failing one", async () => {
    const [failing, sound] = [await world.board(), await world.board()];
    const one = await cardWithStatuses(world, failing);
    const other = await cardWithStatuses(world, sound);
    const poison = await deliver(world, "status", one.status("failure", POISON));
    await storedDeliveryWhen(world, poison.guid, ({ attempts }) => attempts === 1);
    await deliver(world, "status", other.status("success"));
    await sound.api.eventWhen(other.number, ({ kind }) => kind === "checks_changed");
    expect(await storedDelivery(world, poison.guid)).toMatchObject({ state: "waiting" });
  });

  it("that keep arriving do not use up the attempts of a failing one", async () => {
    const board = await world.board();
    const { lane, status } = await cardWithStatuses(world, board);
    const guids: string[] = [];
    await whileChecksCannotBeStored(async () => {
      for (let round = 0; round < 12; round++) {
        guids.push((await deliver(world, "status", status("success", `ci-${round}`))).guid);
        await untilLaneIsDelayed(lane);
      }
      expect(await storedDelivery(world, guids[0] ?? "")).toMatchObject({ state: "waiting" });
    });
    for (const guid of guids) await storedDeliveryWhen(world, guid, ({ state }) => state === "done");
  });

  it("that were parked are processed when GitHub sends them again", async () => {
    const board = await world.board();
    const { number, status } = await cardWithStatuses(world, board);
    const payload = status("failure");
    let guid = "";
    await whileChecksCannotBeStored(async () => {
      ({ guid } = await deliver(world, "status", payload));
      await storedDeliveryWhen(world, guid, ({ attempts }) => attempts === 1);
      await db()("deliveries").where({ guid }).update({ attempts: 7 });
      await storedDeliveryWhen(world, guid, ({ state }) => state === "parked");
    });
    expect(await deliver(world, "status", payload, { guid })).toMatchObject({
      status: 202,
      body: { accepted: true },
    });
    await board.api.eventWhen(number, ({ kind }) => kind === "checks_changed");
    await storedDeliveryWhen(world, guid, ({ state }) => state === "done");
  });

  it("that need an unavailable forge wait for it without using up their attempts", async () => {
    const board = await world.board();
    const { branchName, sha, repositoryId, fullName } = await cardWithStatuses(world, board);
    const fault = world.forge.control.faults.add({ fault: { kind: "reset" } });
    const { guid } = await deliver(world, "push", {
      ref: `refs/heads/${branchName}`,
      before: "1".repeat(40),
      after: sha,
      created: false,
      deleted: false,
      forced: false,
      commits: [],
      repository: { id: repositoryId, full_name: fullName, default_branch: "main", pushed_at: 1_800_000_000 },
      sender: { id: 1, login: "ada", type: "User" },
    });
    await storedDeliveryWhen(world, guid, ({ attempts }) => attempts === 1);
    await db()("deliveries").where({ guid }).update({ attempts: 7 });
    const row = await storedDeliveryWhen(world, guid, ({ attempts }) => attempts === 8);
    expect(row?.state).toBe("waiting");
    world.forge.control.faults.remove(fault);
  });
});
