import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { resumeOrphans } from "../support/resume-orphans.ts";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import type { Db } from "../../src/store/db/connect.ts";
import { retryParked } from "../../src/store/forge/lanes.ts";
import { eventually } from "../support/api.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { itemsOf } from "../support/inbox.ts";
import { onForge } from "../support/forge/installations.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardReadyFor, FORGE_WRITES } from "../support/stories/forge-writes.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { complete, freeze, makeRelease, readRelease } from "../support/stories/releases.ts";
import { pushTo, cardWithCommit } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard } from "../support/world.ts";
import { startKillableWorld, type KillableWorld } from "./support/killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterAll(() => world.stop());

/** One more than the number of processes that may die with a move. */
const NAMES = ["web", "api", "docs", "app", "ios", "site"];

/** Skips the growing delays between attempts. */
const skipDelays = async (db: Db): Promise<void> => {
  await db("operations")
    .where({ state: "running" })
    .update({ updated_at: db.raw("now() - interval '1 hour'") });
};

/** Calls and kills the process at the first such write; later processes die after `passes` of them. */
async function dieAtEach(
  { match, effect, passes }: { match: CallMatch; effect: "before" | "after"; passes: number },
  act: () => Promise<unknown>,
): Promise<void> {
  const { faults } = world.forge.control;
  const hang = (skip: number): number =>
    faults.add({ match, fault: { kind: "hang", effect }, skip, times: 1 });
  let hanging = hang(0);
  const first = act().then(
    () => "answered",
    () => "cut off",
  );
  for (let life = 1; life <= NAMES.length; life++) {
    await eventually(
      () => Promise.resolve(faults.list()),
      (listed) => listed.find(({ id }) => id === hanging)?.hits === 1,
    );
    await world.kill();
    faults.clear();
    if (life < NAMES.length) hanging = hang(passes);
    await skipDelays(world.db);
    await world.restart();
  }
  expect(await first).toBe("cut off");
}

it.each(FORGE_WRITES)(
  "a process that dies at each call of $doing finishes one more repository each time without a retry",
  async (write) => {
    const { doing, match, to, timelineKinds } = write;
    // An existing branch is only found by another call to create it.
    const repeats = doing === "creating the branch" ? 1 : 0;
    const board = await world.board({ repositories: NAMES });
    const number = await cardReadyFor(board, write);
    await world.forge.waitUntilIdle();
    const { calls } = world.forge.control;
    calls.reset();
    await dieAtEach({ match, effect: "after", passes: repeats }, () =>
      board.api.move(number, board.stages[to]),
    );
    await eventually(
      () => board.api.readCard(number),
      ({ statusId }) => statusId === board.stages[to],
    );
    expect(calls.read().writes).toBe(NAMES.length * (1 + repeats));
    await expectConsistent(world, board);
    const kinds = (await kindsOf(board, number)).filter(
      (kind) => kind === "branch_created" || kind.startsWith("pull_request_"),
    );
    expect(kinds.toSorted()).toEqual(NAMES.flatMap(() => timelineKinds).toSorted());
  },
);

it("a process that dies at each GitHub release publishes one more repository each time", async () => {
  const { api, repositories } = await world.board({ repositories: NAMES });
  const { number } = await api.card({ repositoryIds: [] });
  const id = await makeRelease(api, "1.4", [number]);
  const versions = NAMES.map((name) => ({ repositoryId: repositories[name], tagName: "v1" }));
  const match = { method: "POST", path: "/repositories/*/releases" };
  await dieAtEach({ match, effect: "before", passes: 1 }, () => complete(api, id, versions));
  const released = await eventually(
    () => readRelease(api, id),
    ({ completedAt }) => completedAt !== null,
  );
  expect(released.tags.map(({ tagName, url }) => [tagName, url !== null])).toEqual(
    NAMES.map(() => ["v1", true]),
  );
});

const REFS: CallMatch = { method: "POST", path: "/repositories/*/git/refs" };

// Fault: A10 Five processes crash during the same work => it is abandoned and reported
it("work that five processes died with is abandoned and does not block other work", async () => {
  const { db, forge } = world;
  const { faults } = forge.control;
  const [moving, freezing, pushed, other] = [
    await world.board(),
    await world.board(),
    await world.board(),
    await world.board(),
  ];
  const { number } = await moving.api.card();
  const { number: otherNumber } = await other.api.card();
  const releaseId = await makeRelease(freezing.api, "1.4");
  const pushedCard = await cardWithCommit(pushed);
  await forge.waitUntilIdle();
  const hang = (board: TestBoard): number =>
    faults.add({
      match: { ...REFS, installationId: onForge(world, board).installation.id },
      fault: { kind: "hang", effect: "before" },
    });
  const poisons = [hang(moving), hang(freezing)];
  const once = hang(other);
  const killedCalls = Promise.allSettled([
    moving.api.move(number, moving.stages["In progress"]),
    freeze(freezing.api, releaseId),
    other.api.move(otherNumber, other.stages["In progress"]),
  ]);
  const hits = (): number[] =>
    faults
      .list()
      .filter(({ id }) => [...poisons, once].includes(id))
      .map((rule) => rule.hits);
  await whileLocked(
    db,
    async (trx) => {
      await trx.raw("set local idle_in_transaction_session_timeout = 0");
      await trx("cards").where({ number: pushedCard.number, project_id: pushed.projectId }).forUpdate();
    },
    async () => {
      await pushTo(pushed, pushedCard.branchName, "first.txt");
      await pushTo(pushed, pushedCard.branchName, "second.txt");
      for (let life = 1; life <= 5; life++) {
        await eventually(
          () => Promise.resolve(hits()),
          (counts) => counts.length > 0 && counts.slice(0, 2).every((count) => count >= life),
        );
        await untilWaitingForLock(db);
        if (life === 1)
          await eventually(
            () => Promise.resolve(hits()),
            (counts) => counts[2] === 1,
          );
        else
          await other.api.cardWhen(otherNumber, ({ statusId }) => statusId === other.stages["In progress"]);
        await world.kill();
        faults.remove(once);
        await db.raw(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()`,
        );
        await skipDelays(db);
        await world.restart();
      }
      await eventually(
        () => db("deliveries").where({ state: "parked" }).pluck("event"),
        (parked) => parked.length > 0,
      );
    },
  );
  expect((await killedCalls).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);

  // The move and the release can be started again.
  const { blocked } = await moving.api.cardWhen(number, (card) => card.blocked !== null);
  expect(blocked).toMatchObject({
    reason: "unknown",
    message: expect.stringContaining("ended 5 times in a row"),
    repository: `${moving.owner}/web`,
    statusId: moving.stages["In progress"],
  });
  expect(await itemsOf(moving.api, "promotion_blocked")).toHaveLength(1);
  await eventually(
    () => db("operations").where({ release_id: releaseId }).pluck("state"),
    ([state]) => state === "abandoned",
  );
  expect(hits()).toEqual([5, 5]);
  faults.clear();
  const moved = await moving.api.move(number, moving.stages["In progress"]);
  expect([moved.status, moved.body.task.blocked]).toEqual([200, null]);
  expect((await freeze(freezing.api, releaseId)).status).toBe(200);

  // The first push was parked, the second processed.
  const pushes = async (): Promise<number> =>
    (await kindsOf(pushed, pushedCard.number)).filter((kind) => kind === "pushed").length;
  const before = await eventually(pushes, (count) => count >= 2);
  expect(await db("deliveries").where({ state: "parked" }).pluck("event")).toEqual(["push"]);
  expect(await retryParked(db, null)).toBe(1);
  await eventually(pushes, (count) => count === before + 1);
  for (const board of [moving, freezing, pushed, other]) await expectConsistent(world, board);
});

it("a move that always fails internally is abandoned and does not block other moves", async () => {
  const own = await startWorld();
  try {
    const { db } = own.service.deps;
    const [poisoned, other] = [await own.board(), await own.board()];
    const { id, number } = await poisoned.api.card();
    const { number: otherNumber } = await other.api.card();
    await db.raw(`
      create function poison() returns trigger language plpgsql as $$
      begin if new.card_id = '${id}' and new.kind = 'branch_created' then raise exception 'poison'; end if; return new; end $$;
      create trigger poison before insert on timeline_items for each row execute function poison()`);
    expect((await poisoned.api.move(number, poisoned.stages["In progress"])).status).toBe(500);
    own.forge.control.faults.add({ fault: { kind: "response", status: 503 } });
    expect((await other.api.move(otherNumber, other.stages["In progress"])).status).toBe(503);
    own.forge.control.faults.clear();
    // A move that waits in a merge queue is resumed as often without a failure.
    await db("operations").where({ card_id: id }).update({ generation: 40 });
    const resume = async (): Promise<void> => {
      await skipDelays(db);
      for (const { workspaceId } of [poisoned, other]) await resumeOrphans(own.service.deps, workspaceId);
    };
    await resume();
    await other.api.cardWhen(otherNumber, ({ statusId }) => statusId === other.stages["In progress"]);
    const state = async (): Promise<string[]> => {
      await resume();
      return db("operations").where({ card_id: id }).pluck("state");
    };
    await eventually(state, ([only]) => only === "refused");
    expect(own.logged()).toMatch(/"level":50.*"isAbandoned":true/);
    expect(own.logged().match(/resuming an operation failed/g)).toHaveLength(8);
    const [blocking] = await itemsOf(poisoned.api, "promotion_blocked");
    expect(blocking?.card?.number).toBe(number);
    expect((await poisoned.api.readCard(number)).blocked).toMatchObject({
      reason: "unknown",
      message: expect.stringContaining("Move the card again"),
    });
    // After the cause is removed, a move continues with the existing branch.
    await db.raw("drop function poison() cascade");
    expect((await poisoned.api.move(number, poisoned.stages["In progress"])).status).toBe(200);
    for (const board of [poisoned, other]) await expectConsistent({ forge: own.forge, db }, board);
  } finally {
    await own.stop();
  }
});
