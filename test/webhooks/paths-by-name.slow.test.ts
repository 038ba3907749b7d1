/** A GitHub without `/repositories/{id}`, which its documentation lacks. */
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { changeRepository } from "../../sandbox/forge/actions/change-repository.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { callsByBot, onForge, repositoryOf } from "../support/forge/installations.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { loseWebhooks } from "../support/stories/repairing.ts";
import { branchOf, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
beforeEach(() => {
  world.forge.requests.reset();
  world.forge.settings.hasPathsById = false;
});
afterEach(() => leaveConsistent(world));

/** The paths by name of the service's successful writes. */
const writtenByName = (): string[] =>
  callsByBot(world)
    .filter(({ method, status }) => method !== "GET" && status < 300)
    .flatMap(
      ({ method, path }) =>
        /^\/repos\/[^/]+\/(.+)/
          .exec(path)
          ?.slice(1)
          .map((rest) => `${method} ${rest}`) ?? [],
    );

it("moves create the branch and merge, and the webhook of the first push opens the draft", async () => {
  const board = await world.board();
  const { number } = await board.api.card({ title: "Say hello" });
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
  await writeFile(board, "web", await branchOf(board, number), "hello.txt", "hello\n");
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  expect((await board.api.move(number, board.stages["In review"])).status).toBe(200);
  expect(await board.api.move(number, board.stages.Done)).toMatchObject({
    status: 200,
    body: { promoted: [{ fullName: `${board.owner}/web`, prNumber: 1 }] },
  });
  expect(writtenByName()).toEqual(
    expect.arrayContaining(["POST web/git/refs", "POST web/pulls", "PUT web/pulls/1/merge-async"]),
  );
});

it("a renamed repository is found by its former name", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  await allProcessed(world);
  const { context, by } = onForge(world, board);
  loseWebhooks(world);
  await changeRepository(context, repositoryOf(world, board).id, by, { name: "renamed" });
  expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  expect(writtenByName()).toContain("PUT renamed/pulls/1/merge-async");
});

// Fault: D2
it("a repository with the former name gets no calls", async () => {
  const board = await world.board();
  const { number } = await board.api.card({ title: "Say hello" });
  await allProcessed(world);
  const { context, by } = onForge(world, board);
  loseWebhooks(world);
  await changeRepository(context, repositoryOf(world, board).id, by, { name: "renamed" });
  await world.forge.createRepository(board.owner, "web");
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(409);
  expect(writtenByName()).toEqual([]);
});
