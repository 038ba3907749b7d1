/** More deliveries than two processes can handle as they arrive. */
import { beforeAll, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { eventually } from "../support/api.ts";
import { cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";

const REPOSITORIES = 10;
const PER_REPOSITORY = 500;
/** One of this many is about a card; most deliveries are about objects that are not tracked. */
const CARD_INTERVAL = 5;
/** One of this many is sent twice, to both processes. */
const DUPLICATE_INTERVAL = 10;
const PATIENCE_MS = 300_000;
const WORDS = { pending: "pending", failure: "failing", success: "passing" } as const;
const STATES = ["pending", "failure", "success"] as const;
const stateOf = (turn: number) => STATES[turn % STATES.length] ?? "pending";
const OTHER_SHA = "5".repeat(40);

const world = useWorld({}, expectAllConsistent);
let second: RunningService;
beforeAll(async () => {
  second = await startSecondService(world);
});

// Fault: B1
// Fault: B10 5,000 deliveries arrive together => processed in order per repository
it(`${REPOSITORIES * PER_REPOSITORY} concurrent deliveries are processed in order per repository, once`, async () => {
  const places = [];
  for (let count = 0; count < REPOSITORIES; count++) {
    const board = await world.board();
    places.push({ board, ...(await cardWithStatuses(world, board)) });
  }
  const urls = [world.service.webhookUrl, second.webhookUrl];
  const burst = places.map(async ({ status }) => {
    const responses: number[] = [];
    for (let turn = 0; turn < PER_REPOSITORY; turn++) {
      const recorded = status(stateOf(turn));
      const isAboutCard = turn % CARD_INTERVAL === 0;
      const payload = JSON.stringify(isAboutCard ? recorded : { ...recorded, sha: OTHER_SHA, branches: [] });
      const url = urls[turn % urls.length] ?? "";
      const sent = await deliver(world, "status", payload, { url });
      responses.push(sent.status);
      if (turn % DUPLICATE_INTERVAL > 0) continue;
      const again = await deliver(world, "status", payload, {
        guid: sent.guid,
        url: urls[(turn + 1) % 2] ?? "",
      });
      responses.push(again.status);
    }
    return responses;
  });
  expect(new Set((await Promise.all(burst)).flat())).toEqual(new Set([202]));

  const { db } = world.service.deps;
  const undone = () => db("deliveries").whereNot({ state: "done" }).limit(3).select("guid", "state", "error");
  expect(await eventually(undone, ({ length }) => length === 0, PATIENCE_MS)).toEqual([]);
  // A busy machine may fail an attempt, which is rolled back and repeated.
  const kept = await db("deliveries").where({ event: "status" }).groupBy("lane").select("lane").count();
  const each = (lane: string) => ({ lane, count: PER_REPOSITORY });
  expect(new Set(kept)).toEqual(new Set(places.map(({ lane }) => each(lane))));
  const sent = Array.from(
    { length: PER_REPOSITORY / CARD_INTERVAL },
    (_, turn) => WORDS[stateOf(turn * CARD_INTERVAL)],
  );
  for (const { board, number } of places) {
    const recorded = (await board.api.timeline(number)).filter(({ kind }) => kind === "checks_changed");
    expect(recorded.map(({ data }) => data["to"])).toEqual(sent);
  }
}, 600_000);
