/** More deliveries than can be worked as they come, at two processes. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { eventually } from "../support/api.ts";
import { cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

const REPOSITORIES = 10;
const OF_EACH = 500;
/** Every so many is about a card: most of what a forge tells is about nothing that is tracked. */
const ABOUT_A_CARD = 5;
/** Every so many is sent twice, to both processes. */
const TWICE = 10;
const PATIENCE_MS = 300_000;
const WORDS = { pending: "pending", failure: "failing", success: "passing" } as const;
const STATES = ["pending", "failure", "success"] as const;
const stateOf = (turn: number) => STATES[turn % STATES.length] ?? "pending";
const OTHER_SHA = "5".repeat(40);

let world: TestWorld;
let second: RunningService;
beforeAll(async () => {
  world = await startWorld();
  second = await startSecondService(world);
});
afterAll(() => expectAllConsistent(world));
afterAll(async () => {
  await second.stop();
  await world.stop();
});

// Fault: B1
// Fault: B10 5,000 deliveries arrive together => all processed, in order per repository
it(`${REPOSITORIES * OF_EACH} at once are all taken, worked in each repository's order, and told once`, async () => {
  const places = [];
  for (let count = 0; count < REPOSITORIES; count++) {
    const board = await world.board();
    places.push({ board, ...(await cardWithStatuses(world, board)) });
  }
  const urls = [world.service.webhookUrl, second.webhookUrl];
  const burst = places.map(async ({ status }) => {
    const answers: number[] = [];
    for (let turn = 0; turn < OF_EACH; turn++) {
      const told = status(stateOf(turn));
      const isAboutCard = turn % ABOUT_A_CARD === 0;
      const payload = JSON.stringify(isAboutCard ? told : { ...told, sha: OTHER_SHA, branches: [] });
      const url = urls[turn % urls.length] ?? "";
      const sent = await deliver(world, "status", payload, { url });
      answers.push(sent.status);
      if (turn % TWICE > 0) continue;
      const again = await deliver(world, "status", payload, {
        guid: sent.guid,
        url: urls[(turn + 1) % 2] ?? "",
      });
      answers.push(again.status);
    }
    return answers;
  });
  expect(new Set((await Promise.all(burst)).flat())).toEqual(new Set([202]));

  const { db } = world.service.deps;
  const undone = () => db("deliveries").whereNot({ state: "done" }).limit(3).select("guid", "state", "error");
  expect(await eventually(undone, ({ length }) => length === 0, PATIENCE_MS)).toEqual([]);
  const kept = await db("deliveries")
    .where({ event: "status", attempts: 0 })
    .groupBy("lane")
    .select("lane")
    .count();
  const each = (lane: string) => ({ lane, count: OF_EACH });
  expect(new Set(kept)).toEqual(new Set(places.map(({ lane }) => each(lane))));
  const sent = Array.from(
    { length: OF_EACH / ABOUT_A_CARD },
    (_, turn) => WORDS[stateOf(turn * ABOUT_A_CARD)],
  );
  for (const { board, number } of places) {
    const told = (await board.api.timeline(number)).filter(({ kind }) => kind === "checks_changed");
    expect(told.map(({ data }) => data["to"])).toEqual(sent);
  }
}, 600_000);
