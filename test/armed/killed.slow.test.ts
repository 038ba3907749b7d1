import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { CallMatch } from "../../sandbox/forge/control/match.ts";
import { startKillableWorld, type KillableWorld } from "../faults/support/killable-world.ts";
import { eventually } from "../support/api.ts";
import { allProcessedIn } from "../support/forge/deliveries.ts";
import { onForge } from "../support/forge/installations.ts";
import { expectConsistent } from "../support/invariants.ts";
import { push } from "../support/stories/repairing.ts";
import { cardWithCommit, type WorkedCard } from "../support/stories/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";
import { arm, armed, armedOf, mergedHeads, passCi, requireCi } from "./support/armed-cards.ts";

let world: KillableWorld;

const INSPECTION = { operation: "Inspect" };
const READY = { operation: "markPullRequestReadyForReview" };
const MERGE = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };

/** Where the process is killed: the response to this call does not arrive. */
interface Point {
  readonly match: CallMatch;
  readonly effect: "before" | "after";
  readonly skip?: number;
  /** The move is armed before, and fires when the process is killed. Otherwise it is being armed. */
  readonly isFiring: boolean;
  /** Somebody pushes while no process runs. */
  readonly isPushed?: boolean;
}

const POINTS: Readonly<Record<string, Point>> = {
  "before the inspection of the arming": { match: INSPECTION, effect: "before", isFiring: false },
  "after the inspection of the arming": { match: INSPECTION, effect: "after", isFiring: false },
  "before the inspection of the job": { match: INSPECTION, effect: "before", isFiring: true },
  "after the inspection of the job": { match: INSPECTION, effect: "after", isFiring: true },
  "after the inspection of the begun move": { match: INSPECTION, effect: "after", skip: 1, isFiring: true },
  "before marking ready": { match: READY, effect: "before", isFiring: false },
  "after marking ready": { match: READY, effect: "after", isFiring: false },
  "before merging": { match: MERGE, effect: "before", isFiring: true },
  "after merging": { match: MERGE, effect: "after", isFiring: true },
  "before merging, and a push": { match: MERGE, effect: "before", isFiring: true, isPushed: true },
};

interface Story extends WorkedCard {
  readonly board: TestBoard;
}
const stories = new Map<string, Story>();

/** A board with a draft that is armed or being armed, and the fault at which the process is killed. */
async function begin({ match, effect, skip = 0, isFiring }: Point): Promise<Story & { fault: number }> {
  const board = await world.board();
  await requireCi(board);
  const card = await cardWithCommit(board, "In progress");
  if (isFiring) await armed(board, card.number);
  await allProcessedIn(world);
  const { id: installationId } = onForge(world, board).installation;
  const fault = world.forge.control.faults.add({
    match: { ...match, installationId },
    fault: { kind: "hang", effect },
    skip,
    times: 1,
  });
  return { ...card, board, fault };
}

/** Kills the process at these points at once. A call to GitHub is given up after 12 seconds. */
async function killAt(points: readonly (readonly [string, Point])[]): Promise<void> {
  const { faults } = world.forge.control;
  const begun: (Point & Story & { name: string; fault: number })[] = [];
  for (const [name, point] of points) begun.push({ ...point, name, ...(await begin(point)) });
  const calls = begun.map(({ board, number, sha, isFiring }) =>
    isFiring ? passCi(board, sha) : arm(board, board.api, number).catch(() => null),
  );
  const ids = begun.map(({ fault }) => fault);
  await eventually(
    () => Promise.resolve(faults.list().filter(({ id, hits }) => ids.includes(id) && hits === 0)),
    ({ length }) => length === 0,
  );
  await world.kill();
  await Promise.all(calls);
  faults.clear();
  for (const { board, branchName, isPushed } of begun) if (isPushed) await push(board, branchName);
  await world.restart();
  for (const { name, ...story } of begun) stories.set(name, story);
}

beforeAll(async () => {
  world = await startKillableWorld();
  const points = Object.entries(POINTS);
  for (let at = 0; at < points.length; at += 3) await killAt(points.slice(at, at + 3));
}, 400_000);
afterAll(() => world.stop());

const namesOf = (isWanted: (point: Point) => boolean): string[] =>
  Object.keys(POINTS).filter((name) => isWanted(POINTS[name]!));

const eventsOf = async ({ board, number }: Story, ...kinds: string[]): Promise<string[]> =>
  (await board.api.timeline(number)).map(({ kind }) => kind).filter((kind) => kinds.includes(kind));

async function expectLandedOnce(story: Story): Promise<void> {
  const { board, number, sha } = story;
  await eventually(
    () => board.api.readCard(number),
    ({ statusId }) => statusId === board.stages.Done,
  );
  expect(await mergedHeads(board)).toEqual([sha]);
  expect(await armedOf(board.api, number)).toBeUndefined();
  await allProcessedIn(world);
  const kinds = ["armed", "disarmed", "pull_request_ready", "pull_request_merged"];
  expect(await eventsOf(story, ...kinds)).toEqual(["pull_request_ready", "armed", "pull_request_merged"]);
  await expectConsistent(world, board);
}

describe("a process killed", () => {
  // Fault: A13 The process is killed while arming or running a move => it lands once, or is disarmed
  it.each(namesOf(({ isFiring }) => !isFiring))("%s leaves a move that is armed once", async (name) => {
    const story = stories.get(name)!;
    const { board, number, sha } = story;
    await eventually(
      () => armedOf(board.api, number),
      (found) => found !== undefined,
    );
    const again = await arm(board, board.api, number);
    expect([again.status, again.body.armed]).toEqual([202, await armedOf(board.api, number)]);
    await passCi(board, sha);
    await expectLandedOnce(story);
  });

  it.each(namesOf(({ isFiring, isPushed }) => isFiring && !isPushed))(
    "%s leaves a move that lands once",
    async (name) => {
      await expectLandedOnce(stories.get(name)!);
    },
  );

  it.each(namesOf(({ isPushed }) => isPushed === true))("%s leaves a move that is disarmed", async (name) => {
    const { board, number } = stories.get(name)!;
    const disarmed = await eventually(
      async () => (await board.api.timeline(number)).filter(({ kind }) => kind === "disarmed"),
      ({ length }) => length > 0,
    );
    expect(disarmed.map(({ data }) => data["reason"])).toEqual(["head_moved"]);
    expect(await mergedHeads(board)).toEqual([]);
    await expectConsistent(world, board);
  });
});
