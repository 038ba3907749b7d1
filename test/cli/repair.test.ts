import { expect, it } from "@jest/globals";
import { commandLineOf } from "../support/processes/command-line.ts";
import { loseWebhooks, pullOf } from "../support/stories/repairing.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();

it("repair makes the running service reconcile immediately", async () => {
  const board = await world.board();
  const { number } = await cardWithCommit(board);
  const pull = await pullOf(board, number);
  loseWebhooks(world);
  await board.person("grace", "PATCH", `/repos/${board.owner}/web/pulls/${pull}`, { state: "closed" });
  const tasks = await commandLineOf(world).json<readonly { asked: string }[]>("repair");
  expect(tasks.map(({ asked }) => asked)).toContain("reconcile");
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "closed");
});
