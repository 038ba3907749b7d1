import { afterEach, describe, expect, it } from "@jest/globals";
import {
  commentsOf,
  mirrorsOf,
  endStaleReads,
  shown,
  untilMirrored,
  writeComment,
} from "../support/stories/comments.ts";
import { openCard } from "../support/stories/open-card.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { settled } from "../support/database/database-content.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

describe.each([
  [100, 1],
  [101, 2],
])("%d entries are read in %d calls:", (count, calls) => {
  const numbered = (name: string): string[] => Array.from({ length: count }, (_, at) => `${name}-${at}`);

  it("checks of a card", async () => {
    const board = await world.board();
    const { number, heads } = await openCard(world, board);
    for (const context of numbered("job")) {
      const path = `/repos/${board.owner}/web/statuses/${heads["web"]}`;
      await board.person("ada", "POST", path, { state: "success", context });
    }
    await settled(world);
    world.forge.requests.reset();
    const { body } = await board.api.get<{ runs: { name: string }[] }[]>(`/v1/cards/${number}/checks`);
    expect(body[0]?.runs.map(({ name }) => name)).toEqual(numbered("job"));
    expect(world.forge.requests.count(({ route }) => route === "POST /graphql")).toBe(calls);
  });

  it("reviews of a card", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    for (const text of numbered("review")) {
      const path = `/repos/${board.owner}/web/pulls/1/reviews`;
      await board.person("grace", "POST", path, { event: "COMMENT", body: text });
    }
    await settled(world);
    world.forge.requests.reset();
    const { body } = await board.api.get<{ reviews: { body: string }[] }[]>(`/v1/cards/${number}/reviews`);
    expect(body[0]?.reviews.map((review) => review.body)).toEqual(numbered("review"));
    expect(world.forge.requests.count(({ route }) => route === "POST /graphql")).toBe(calls);
  });
});

// Fault: C3 GitHub never responds => handled as a lost response after a timeout
describe("when GitHub never responds", () => {
  it.each([
    ["Checks", "checks", "runs"],
    ["Reviews", "reviews", "reviews"],
  ])("%s: the response has an entry with the error", async (operation, path, field) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    world.forge.control.faults.add({ match: { operation }, fault: { kind: "hang" } });
    const { status, body } = await board.api.get(`/v1/cards/${number}/${path}`);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: [{ [field]: null, error: "GitHub did not respond" }],
    });
  });

  it.each([
    ["without writing it", { kind: "hang" }],
    ["after writing it", { kind: "hang", effect: "after" }],
  ] as const)("to a new comment, %s: the comment is stored and mirrored once", async (_, fault) => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const match = { method: "POST", path: "/repositories/*/issues/*/comments" };
    world.forge.control.faults.add({ match, fault, times: 1 });
    const { status, body } = await writeComment(board.api, number, "Once");
    expect(status).toBe(201);
    expect(await commentsOf(board.api, number)).toMatchObject([{ body: "Once" }]);
    await endStaleReads(world.service.deps.db);
    await untilMirrored(world, body.id);
    expect(await mirrorsOf(world, board)).toEqual([shown("Once")]);
    expect(await commentsOf(board.api, number)).toHaveLength(1);
  });
});
