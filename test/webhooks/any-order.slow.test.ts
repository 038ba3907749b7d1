/** Deliveries about a pull request give the same card in any order, even if some are repeated. */
import { randomUUID } from "node:crypto";
import { expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { insertDeliveries } from "../../src/store/forge/deliveries.ts";
import { processLane } from "../../src/webhooks/process-lane.ts";
import { eventually } from "../support/api.ts";
import { allProcessed, deliver } from "../support/forge/deliveries.ts";
import {
  setPullState,
  merge,
  push,
  review,
  commentOnPull,
  editPullComment,
} from "../support/stories/repairing.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { forgetTimelines } from "../support/stories/duplicate-events.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const ORDERS = 500;
const RECORDED_KINDS = [
  "pushed",
  "pull_request_opened",
  "pull_request_ready",
  "pull_request_closed",
  "pull_request_reopened",
  "pull_request_merged",
  "review_submitted",
];

const world = useWorld({}, expectAllConsistent);

interface Delivered {
  readonly event: string;
  readonly payload: string;
}

/** Runs the life of a pull request on a card's branch and returns its deliveries. */
async function runPullRequestLife(board: TestBoard, branchName: string): Promise<Delivered[]> {
  const delivered: Delivered[] = [];
  const { context, control } = world.forge;
  control.webhooks.add({ fault: { kind: "hold" } });
  const path = `/repos/${board.owner}/web`;
  for (let count = 0; count < 3; count++) await push(board, branchName, `first-${count}.txt`);
  const opened = await board.person("grace", "POST", `${path}/pulls`, {
    title: "Mine",
    head: branchName,
    base: "main",
  });
  const pull = Number(opened.body["number"]);
  await push(board, branchName, "second.txt");
  const reviewId = await review(board, pull, "REQUEST_CHANGES");
  const first = await commentOnPull(board, pull, "Why?");
  const gone = await commentOnPull(board, pull, "Never mind");
  await commentOnPull(board, pull, "I see");
  await editPullComment(board, first, "Why so?");
  await board.person("ada", "DELETE", `${path}/issues/comments/${gone}`);
  await board.person("ada", "PUT", `${path}/pulls/${pull}/reviews/${reviewId}/dismissals`, {
    message: "Seen to",
  });
  await review(board, pull, "APPROVE");
  await setPullState(board, pull, "closed");
  await setPullState(board, pull, "open");
  await push(board, branchName, "third.txt");
  expect((await merge(board, pull)).status).toBe(200);
  await world.forge.waitUntilIdle();
  for (const { event, body } of control.webhooks.held()) delivered.push({ event, payload: body });
  control.webhooks.clear();
  control.webhooks.discard();
  expect(context.webhooks.url).not.toBeNull();
  return delivered;
}

/** A card whose deliveries can be processed again and again from the same start. */
async function replayable() {
  const board = await world.board();
  const { db } = world.service.deps;
  const { number, id: cardId } = await board.api.card();
  // In this stage, the card has its branch and no webhook causes further work.
  await board.api.move(number, board.stages["In progress"]);
  await board.api.move(number, board.stages["To do"]);
  const [link] = await db("card_repositories").where({ card_id: cardId });
  const branchName = String(link?.branch_name);
  await allProcessed(world);
  const life = await runPullRequestLife(board, branchName);
  const seen = await db("timeline_items").where({ card_id: cardId }).max("seq as last").first();
  const lane = `repository:${world.forge.repository(`${board.owner}/web`).id}`;

  const reset = async (): Promise<void> => {
    forgetTimelines();
    await db("timeline_items").where({ card_id: cardId }).where("seq", ">", seen?.["last"]).delete();
    await db("pull_requests").where({ card_id: cardId }).delete();
    await db("deliveries").where({ lane }).delete();
    await db("last_reactions").where({ card_id: cardId }).delete();
    await db("card_repositories").where({ card_id: cardId }).update({ head_sha: link?.head_sha });
  };
  const allHeard = async (): Promise<void> => {
    // A job that was added again while it runs has no key until it ends.
    const keys = [`process-lane:${lane}`, `replay-deferred-events:${board.repositories["web"]}:%`];
    await eventually(
      () =>
        db("graphile_worker.jobs")
          .whereIn("task_identifier", ["replay-deferred-events", "process-lane"])
          .whereRaw("(key is null or key like any(?))", [keys])
          .select("id"),
      ({ length }) => length === 0,
    );
  };
  const outcomeOf = async (deliveries: readonly Delivered[]) => {
    await reset();
    const row = ({ event, payload }: Delivered) => ({
      guid: randomUUID(),
      event,
      lane,
      payload,
      source: "webhook" as const,
    });
    await insertDeliveries(db, deliveries.map(row));
    await processLane(world.service.deps, lane);
    await allHeard();
    expect(
      await db("deliveries").where({ lane }).whereNot({ state: "done" }).select("event", "error"),
    ).toEqual([]);
    const { repositories } = await board.api.readCard(number);
    const [now] = await db("card_repositories").where({ card_id: cardId }).select("head_sha");
    const items = (await board.api.timeline(number))
      .filter(({ type, kind }) => type === "comment" || RECORDED_KINDS.includes(kind))
      .map((item) => JSON.stringify({ ...item, id: null }));
    const turns = await db("last_reactions")
      .where({ card_id: cardId })
      .orderBy("user_id")
      .select("user_id", "works", "acted_at");
    return { turns, repositories, head: now?.head_sha as string, recorded: items.toSorted() };
  };
  return { life, outcomeOf };
}

/** Random orders of this many deliveries, up to four of them repeated. */
function ordersOf(length: number, seed: number): number[][] {
  const places = Array.from({ length }, (_, at) => at);
  const anyOrder = fc
    .tuple(
      fc.shuffledSubarray(places, { minLength: length }),
      fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 4 }),
    )
    .map(([order, twice]) =>
      twice.reduce(
        (deliveries, [what, at]) => deliveries.toSpliced(at % deliveries.length, 0, what % length),
        order,
      ),
    );
  return fc.sample(anyOrder, { numRuns: ORDERS, seed });
}

// Fault: B2 Deliveries arrive in any order => the result is the same; a merge is final
it(`${ORDERS} orders have the same result`, async () => {
  const seed = Date.now();
  // Each spends most of its time waiting for PostgreSQL.
  const cards = [await replayable(), await replayable(), await replayable()];
  const orders = ordersOf(cards[0]?.life.length ?? 0, seed).entries();
  await Promise.all(
    cards.map(async ({ life, outcomeOf }) => {
      const inOrder = await outcomeOf(life);
      expect(inOrder.repositories[0]?.prState).toBe("merged");
      expect(inOrder.recorded.length).toBeGreaterThan(9);
      for (const [at, order] of orders) {
        const outcome = await outcomeOf(order.flatMap((place) => life[place] ?? []));
        expect({ seed, at, order, ...outcome }).toEqual({ seed, at, order, ...inOrder });
      }
    }),
  );
}, 1_800_000);

// Fault: B1
it("a delivery that two processes handle concurrently is recorded once", async () => {
  const board = await world.board();
  const { db } = world.service.deps;
  const { number, id: cardId } = await board.api.card();
  await board.api.move(number, board.stages["In progress"]);
  await board.api.move(number, board.stages["To do"]);
  const [link] = await db("card_repositories").where({ card_id: cardId });
  await allProcessed(world);
  const life = await runPullRequestLife(board, String(link?.branch_name));
  await Promise.all(
    life.flatMap(({ event, payload }) => {
      const guid = randomUUID();
      return Array.from({ length: 5 }, () => deliver(world, event, payload, { guid }));
    }),
  );
  const lane = `repository:${world.forge.repository(`${board.owner}/web`).id}`;
  await Promise.all([processLane(world.service.deps, lane), processLane(world.service.deps, lane)]);
  await allProcessed(world);
  const recorded = (await board.api.timeline(number))
    .filter(({ kind }) => RECORDED_KINDS.includes(kind))
    .map(({ kind, at, data }) => JSON.stringify([kind, at, data]));
  expect(new Set(recorded).size).toBe(recorded.length);
  expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("merged");
});
