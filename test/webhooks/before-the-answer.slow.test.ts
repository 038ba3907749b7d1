/** The forge tells of what Trunkline did before it answers the call that did it. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { commentsOf, editComment, writeComment } from "../support/stories/comments.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { readInbox } from "../support/inbox.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { push } from "../support/stories/repairing.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

/** How long each answer is kept back: a webhook is worked sooner. */
const LATER_MS = 2_000;
const WRITES = [
  { method: "POST", path: "/repositories/**" },
  { method: "PUT", path: "/repositories/**" },
  { method: "PATCH", path: "/repositories/**" },
  { operation: "MarkReady" },
] as const;

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => expectAllConsistent(world));
afterAll(() => world.stop());

// Fault: B5 A webhook arrives before the response to its call => attributed to the caller, once
it("all of it is ours, and told once", async () => {
  const board = await world.board();
  const written = new Set<string>();
  world.forge.control.observe({
    onCall: ({ method, path, body }) => {
      const mutation = /mutation (\w+)/.exec(body.toString())?.[1];
      if (method !== "GET" && (mutation !== undefined || path.startsWith("/repositories/")))
        written.add(
          mutation ??
            `${method} ${path
              .split("/")
              .slice(3)
              .filter((part) => !/^\d+$/.test(part))
              .join("/")}`,
        );
    },
  });
  for (const match of WRITES) {
    world.forge.control.faults.add({ match, fault: { kind: "delay", ms: LATER_MS, effect: "after" } });
  }
  const { number } = await board.api.card();
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
  await push(board, (await board.api.readCard(number)).repositories[0]?.branchName ?? "");
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  await allProcessed(world);
  const comment = (await writeComment(board.api, number, "Said here")).body;
  await editComment(board.api, number, comment.id, "Said here, and better");
  expect((await board.api.move(number, board.stages["In review"])).status).toBe(200);
  expect((await board.api.move(number, board.stages["Done"])).status).toBe(200);
  await allProcessed(world);
  expect([...written].toSorted()).toEqual([
    "MarkReady",
    "PATCH issues/comments",
    "POST git/refs",
    "POST issues/comments",
    "POST pulls",
    "PUT pulls/merge-async",
  ]);
  const ours = ["branch_created", "pull_request_opened", "pull_request_ready", "pull_request_merged"];
  const told = (await board.api.timeline(number)).filter(({ kind }) => ours.includes(kind));
  expect(told.map(({ kind, actor }) => [kind, actor.login])).toEqual(ours.map((kind) => [kind, null]));
  expect((await commentsOf(board.api, number)).map(({ body, author }) => [body, author.login])).toEqual([
    ["Said here, and better", null],
  ]);
  expect(await readInbox(board.api)).toEqual([]);
}, 120_000);
