import { beforeAll, expect, it } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { commentsOf } from "../support/stories/comments.ts";
import {
  cardWithStatuses,
  deliver,
  storedDelivery,
  storedDeliveryWhen,
} from "../support/forge/deliveries.ts";
import { openCard } from "../support/stories/open-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const ada = { id: 1, login: "ada", type: "User" };
const repository = () => {
  const full_name = `${board.owner}/web`;
  return { id: world.forge.repository(full_name).id, full_name, default_branch: "main" };
};

/** Delivers a webhook and waits until it is processed or has failed. */
async function process(event: string, payload: object): Promise<void> {
  const { guid } = await deliver(world, event, payload);
  await storedDeliveryWhen(world, guid, ({ state, attempts }) => state !== "waiting" || attempts > 0);
  expect(await storedDelivery(world, guid)).toMatchObject({ state: "done", attempts: 0 });
}

it.each(["[[a ", "`", "> ", "x"])("a comment of ten megabytes of %j is cut visibly", async (unit) => {
  const { number } = await openCard(world, board);
  const { repositories } = await board.api.readCard(number);
  const at = new Date().toISOString();
  await process("issue_comment", {
    action: "created",
    repository: repository(),
    issue: { number: repositories[0]?.prNumber, pull_request: {} },
    comment: { id: number, body: `Long ${unit.repeat(10_000_000 / unit.length)}`, user: ada, created_at: at },
    sender: ada,
  });
  const [comment] = await commentsOf(board.api, number);
  expect(comment?.body).toHaveLength(65_536);
  expect(comment?.body).toMatch(/^Long .*…$/);
});

it("a check with a name that no index takes is stored, its name cut visibly", async () => {
  const { sha, status } = await cardWithStatuses(world, board);
  await process("status", status("failure", randomBytes(10_000).toString("hex")));
  const [name = ""] = (await board.db("check_reports").where({ sha }).pluck("name")) as string[];
  expect(name).toMatch(/^[0-9a-f]{499}…$/);
});
