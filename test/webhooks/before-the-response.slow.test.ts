/** GitHub sends the webhooks of a write before its response. */
import { expect, it } from "@jest/globals";
import { commentsOf, editComment, writeComment } from "../support/stories/comments.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { readInbox } from "../support/inbox.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { push } from "../support/stories/repairing.ts";
import { useWorld } from "../support/use-world.ts";

/** The delay of each response, longer than the processing of a webhook. */
const DELAY_MS = 2_000;
const WRITES = [
  { method: "POST", path: "/repositories/**" },
  { method: "PUT", path: "/repositories/**" },
  { method: "PATCH", path: "/repositories/**" },
  { operation: "MarkReady" },
] as const;

const world = useWorld({}, expectAllConsistent);

// Fault: B5 A webhook arrives before the response to its call => attributed to the caller, once
it("webhooks that arrive before the response are recorded once, as Trunkline's", async () => {
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
    world.forge.control.faults.add({ match, fault: { kind: "delay", ms: DELAY_MS, effect: "after" } });
  }
  const { number } = await board.api.card();
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
  await push(board, (await board.api.readCard(number)).repositories[0]?.branchName ?? "");
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  await allProcessed(world);
  const comment = (await writeComment(board.api, number, "Said here")).body;
  await editComment(board.api, number, comment.id, "An edited comment");
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
  const recorded = (await board.api.timeline(number)).filter(({ kind }) => ours.includes(kind));
  expect(recorded.map(({ kind, actor }) => [kind, actor.login])).toEqual(ours.map((kind) => [kind, null]));
  expect((await commentsOf(board.api, number)).map(({ body, author }) => [body, author.login])).toEqual([
    ["An edited comment", null],
  ]);
  expect(await readInbox(board.api)).toEqual([]);
});
