import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { killedTogether, type KilledCall } from "../faults/support/kill-during.ts";
import { startKillableWorld, type KillableWorld } from "../faults/support/killable-world.ts";
import { eventually, type ApiResponse, type MoveResponse } from "../support/api.ts";
import { readAudit } from "./support/read-audit.ts";
import { cardReadyFor, FORGE_WRITES } from "../support/stories/forge-writes.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterAll(() => world.stop());

interface Story extends KilledCall {
  readonly number: number;
  /** The ids of its calls; the first one is cut off. */
  readonly userAgents: readonly string[];
  readonly act: () => Promise<ApiResponse<MoveResponse>>;
}

const merging = FORGE_WRITES.find(({ doing }) => doing === "merging it")!;
const { match } = merging;

const storyOf = killedTogether<Story>(
  () => world,
  {
    before: { match, effect: "before" },
    after: { match, effect: "after" },
    "alone before": { match, effect: "before" },
    "alone after": { match, effect: "after" },
  },
  async (held, name) => {
    const board = await world.board();
    const number = await cardReadyFor(board, merging);
    await world.forge.waitUntilIdle();
    const userAgents: string[] = [];
    const key = `killed-audit-${board.owner}`;
    const act = () => {
      userAgents.push(randomUUID());
      const headers = { "user-agent": userAgents.at(-1) ?? "" };
      return board.api.move(number, board.stages["Done"], 0, { key, headers });
    };
    return { board, number, held, act, userAgents, isLeft: name.startsWith("alone") };
  },
);

/** The attempts of a story, once those of the dead process have ended and their events are numbered. */
async function attemptsOf({ board, number, userAgents }: Story) {
  await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages["Done"]);
  const attempts = await eventually(
    async () => (await readAudit(board.api)).filter((entry) => userAgents.includes(entry.userAgent ?? "")),
    (found) => {
      const linked = found.flatMap(({ events }) => events).length;
      return found.length >= userAgents.length && linked >= 2;
    },
  );
  expect(attempts.map(({ userAgent }) => userAgent ?? "").toSorted()).toEqual(userAgents.toSorted());
  return attempts.toSorted(
    (a, b) => userAgents.indexOf(a.userAgent ?? "") - userAgents.indexOf(b.userAgent ?? ""),
  );
}

const merge = (owner: string) => ({
  method: "PUT /pulls/{pull_number}/merge-async",
  ref: `${owner}/web#1`,
  result: "ok",
});

it.each(["before", "after"])(
  "a process killed %s a merge leaves one row for the call and one for each retry",
  async (effect) => {
    const story = storyOf(effect);
    const attempts = await attemptsOf(story);
    expect(attempts[0]?.outcome).toEqual({ status: null, problem: "interrupted", replay: false });
    const finished = attempts.filter(({ outcome }) => outcome.status === 200);
    expect(finished).toHaveLength(1);
    // A retry merges, or a job that continues the move before it.
    expect(attempts.flatMap(({ calls }) => calls)).toEqual(
      effect === "before" ? [merge(story.board.owner)] : [],
    );
  },
);

it.each(["before", "after"])(
  "a job that continues after a process was killed %s a merge adds to the row of the call",
  async (effect) => {
    const story = storyOf(`alone ${effect}`);
    const attempts = await attemptsOf(story);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({
      outcome: { status: null, problem: "interrupted" },
      calls: effect === "before" ? [merge(story.board.owner)] : [],
    });
  },
);
