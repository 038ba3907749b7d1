import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { allProcessedIn } from "../support/forge/deliveries.ts";
import { eventually } from "../support/api.ts";
import {
  commentsOf,
  endStaleReads,
  forgeComments,
  runNextAttempt,
  writeComment,
} from "../support/stories/comments.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";
import { expectLastConsistent, startKillableWorld, type KillableWorld } from "./support/killable-world.ts";

let world: KillableWorld;
beforeAll(async () => {
  world = await startKillableWorld();
});
afterEach(() => expectLastConsistent(world));
afterAll(() => world.stop());

const WRITE = { method: "POST", path: "/repositories/*/issues/*/comments" };
/** The real number of comments, even while reads lag behind. */
function written(board: TestBoard): number {
  const { id } = world.forge.repository(`${board.owner}/web`);
  const { comments, pullRequests } = world.forge.context.state;
  return pullRequests.inGroup(id).flatMap((pull) => comments.inGroup(pull.id)).length;
}

/** Sends no webhook and makes reads lag behind. */
function goUnseen({ control }: KillableWorld["forge"]): void {
  control.setStaleReads({ seconds: 40 });
  control.webhooks.add({ match: { event: "issue_comment" }, fault: { kind: "drop", unlogged: true } });
}

describe("a process killed while mirroring a comment", () => {
  // Fault: A1
  // Fault: A2
  // Fault: C11
  it.each([
    ["before GitHub's write, without a retry", "before"],
    ["after GitHub's write, with a retry", "after"],
    ["after GitHub's write, with stale reads and a retry", "unseen"],
  ] as const)("%s leaves one comment in Trunkline and one on GitHub", async (_, moment) => {
    const board = await world.board();
    const { number } = await cardWithCommit(board);
    await allProcessedIn(world);
    const effect = moment === "before" ? "before" : "after";
    const key = `killed-comment-${moment}`;
    const { faults } = world.forge.control;
    if (moment === "unseen") goUnseen(world.forge);
    faults.add({ match: WRITE, fault: { kind: "hang", effect }, times: 1 });
    const first = writeComment(board.api, number, "Once", { key }).then(
      () => "answered",
      () => "cut off",
    );
    await eventually(
      async () => ({ hits: faults.list()[0]?.hits, there: written(board) }),
      ({ hits, there }) => hits === 1 && there === (effect === "after" ? 1 : 0),
    );
    await world.kill();
    expect(await first).toBe("cut off");
    faults.clear();
    await world.restart();
    if (effect === "after") await writeAgain(board, number, key);
    const [comment] = await commentsOf(board.api, number);
    await runNextAttempt(world.db, comment?.id ?? "");
    expect(written(board)).toBe(effect === "after" ? 1 : 0);
    world.forge.control.reset();
    await endStaleReads(world.db);
    await eventually(
      () => world.db("comment_mirrors").whereNull("shown_revision"),
      ({ length }) => length === 0,
    );
    await allProcessedIn(world);
    expect(await forgeComments(board)).toHaveLength(1);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "Once", author: { login: null } }]);
  });
});

async function writeAgain(board: TestBoard, number: number, key: string): Promise<void> {
  await eventually(
    () => writeComment(board.api, number, "Once", { key }),
    ({ status }) => status === 201,
  );
}
