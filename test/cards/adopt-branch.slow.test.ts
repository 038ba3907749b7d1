import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { clearedWhen, itemWhen, readInbox, type InboxItem } from "../support/inbox.ts";
import { branchOf, deleteBranch, loginOf, pushTo, cardWithCommit } from "../support/stories/work-on-card.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

/** A card and a branch that the inbox suggests for it. */
async function suggested(
  board: TestBoard,
  number = 1,
): Promise<{ item: InboxItem; sha: string; branchName: string }> {
  const card = await board.api.card({ title: "Say hello" });
  expect(card.number).toBe(number);
  const branchName = `card/${number}-hello`;
  const sha = await pushTo(board, branchName, `${number}.txt`);
  return { item: await itemWhen(board.api, "branch_suggestion"), sha, branchName };
}

const adopt = (board: TestBoard, { id }: InboxItem, query = "", key?: string) =>
  board.api.post<{ message: string }>(
    `/v1/inbox/${id}/adopt${query}`,
    undefined,
    key === undefined ? {} : { key },
  );

describe("POST /v1/inbox/{id}/adopt", () => {
  // Contract: Inbox: Adopting a suggestion gives the card, or `card`, the branch
  it("gives the branch to the card, which records its pushes and merges it", async () => {
    const board = await world.board();
    const { item, sha, branchName } = await suggested(board);
    const key = `adopt-${randomUUID()}`;
    expect(await adopt(board, item, "", key)).toMatchObject({ status: 204, text: "" });
    expect((await board.api.readCard(1)).repositories).toMatchObject([{ branchName, prNumber: null }]);
    expect(await readInbox(board.api)).toEqual([]);
    expect(await board.api.eventWhen(1, ({ kind }) => kind === "branch_adopted")).toMatchObject({
      actor: { login: null, user: { kind: "machine" } },
      repositoryFullName: `${board.owner}/web`,
      data: { branchName, sha, prNumber: null },
    });
    const replay = await adopt(board, item, "", key);
    expect([replay.status, replay.headers.get("idempotent-replay")]).toEqual([204, "true"]);
    expect((await adopt(board, item)).status).toBe(404);
    const later = await pushTo(board, branchName, "later.txt", "grace");
    expect(await board.api.eventWhen(1, ({ kind }) => kind === "pushed")).toMatchObject({
      actor: { login: loginOf(board, "grace") },
      data: { before: sha, after: later },
    });
    expect((await board.api.move(1, board.stages["In review"])).status).toBe(200);
    expect((await board.api.move(1, board.stages.Done)).body).toMatchObject({ promoted: [{ prNumber: 1 }] });
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("opens the draft pull request that the card's stage requires", async () => {
    const board = await world.board();
    const { branchName } = await cardWithCommit(board, "In progress");
    await deleteBranch(board, branchName);
    await itemWhen(board.api, "branch_deleted");
    await pushTo(board, "card/1-new", "new.txt");
    const item = await itemWhen(board.api, "branch_suggestion");
    expect((await adopt(board, item)).status).toBe(204);
    await board.api.cardWhen(
      1,
      ({ repositories: [link] }) => link?.prNumber === 2 && link.prState === "draft",
    );
    await allProcessed(world);
    expect(await readInbox(board.api)).toEqual([]);
  });

  it("keeps the merge of the card's deleted branch in the timeline", async () => {
    const board = await world.board();
    const { branchName } = await cardWithCommit(board, "In review");
    await board.person("ada", "PUT", `/repos/${board.owner}/web/pulls/1/merge`, {});
    await board.api.eventWhen(1, ({ kind }) => kind === "pull_request_merged");
    await deleteBranch(board, branchName);
    await pushTo(board, "card/1-new", "new.txt");
    expect((await adopt(board, await itemWhen(board.api, "branch_suggestion"))).status).toBe(204);
    await board.api.cardWhen(1, ({ repositories: [link] }) => link?.branchName === "card/1-new");
    expect(await kindsOf(board, 1)).toContain("pull_request_merged");
  });

  it("links the branch's open pull request with its current state", async () => {
    const board = await world.board();
    const { item, branchName } = await suggested(board);
    await board.person("ada", "POST", `/repos/${board.owner}/web/pulls`, {
      title: "Hello",
      head: branchName,
      base: "main",
    });
    const sha = await pushTo(board, branchName, "more.txt");
    const status = `/repos/${board.owner}/web/statuses/${sha}`;
    for (const [context, state] of [
      ["lint", "success"],
      ["unit", "failure"],
    ] as const) {
      await board.person("ada", "POST", status, { context, state });
    }
    await allProcessed(world);
    await board.api.move(1, board.stages["To do"]);
    expect((await adopt(board, item)).status).toBe(204);
    expect((await board.api.readCard(1)).repositories).toMatchObject([
      { branchName, prNumber: 1, prState: "open", checksState: "failing" },
    ]);
    await board.api.move(1, board.stages["In review"]);
    expect(await itemWhen(board.api, "checks_broken")).toMatchObject({ data: { sha, failing: ["unit"] } });
    await board.person("ada", "POST", status, { context: "unit", state: "success" });
    await clearedWhen(board.api, "checks_broken");
    expect(await board.api.eventWhen(1, ({ kind }) => kind === "branch_adopted")).toMatchObject({
      data: { branchName, sha, prNumber: 1 },
    });
    await allProcessed(world);
    expect((await board.api.move(1, board.stages.Done)).body).toMatchObject({ promoted: [{ prNumber: 1 }] });
  });

  // Contract: Inbox: Adopting a suggestion gives the card, or `card`, the branch
  it("gives the branch to the card in `?card=` and links that card to the repository", async () => {
    const board = await world.board();
    const { item, branchName } = await suggested(board);
    const { number } = await board.api.card({ title: "The right one", repositoryIds: [] });
    expect((await adopt(board, item, `?card=${number}`)).status).toBe(204);
    expect((await board.api.readCard(number)).repositories).toMatchObject([{ branchName }]);
    expect((await board.api.readCard(1)).repositories).toMatchObject([{ branchName: null }]);
    expect(await kindsOf(board, number)).toEqual(["created", "repository_linked", "branch_adopted"]);
  });

  it("returns 409 if the card already has a branch there, and keeps the item for another card", async () => {
    const board = await world.board();
    const { item, branchName } = await suggested(board);
    await board.api.move(1, board.stages["In progress"]);
    const own = await branchOf(board, 1);
    const refused = await adopt(board, item);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `Card 1 has the branch ${own} in ${board.owner}/web already.`,
    ]);
    const { number } = await board.api.card();
    expect((await adopt(board, item, `?card=${number}`)).status).toBe(204);
    expect((await board.api.readCard(number)).repositories).toMatchObject([{ branchName }]);
  });

  it("returns 409 if the branch was deleted, even before the webhook", async () => {
    const board = await world.board();
    const { item, branchName } = await suggested(board);
    world.forge.control.webhooks.add({ fault: { kind: "hold" } });
    await deleteBranch(board, branchName);
    const refused = await adopt(board, item);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `${board.owner}/web has no branch ${branchName}. Push it, and make the call again.`,
    ]);
    await world.forge.waitUntilIdle();
    world.forge.control.webhooks.clear();
    await world.forge.control.webhooks.release();
    await clearedWhen(board.api, "branch_suggestion");
    expect(await kindsOf(board, 1)).toEqual(["created"]);
  });

  it("returns 409 if the item suggests no branch", async () => {
    const board = await world.board();
    await board.api.card();
    await board.api.move(1, board.stages["In review"]);
    const refused = await adopt(board, await itemWhen(board.api, "promotion_blocked"));
    expect([refused.status, refused.body.message]).toEqual([
      409,
      "An item of the kind promotion_blocked suggests no branch: there is nothing to adopt.",
    ]);
  });

  it("succeeds for one of several concurrent callers, whichever card they name", async () => {
    const board = await world.board();
    const { item, branchName } = await suggested(board);
    await board.api.card();
    const responses = await Promise.all(
      ["", "?card=2", "", "?card=2", "?card=1"].map((query) => adopt(board, item, query)),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      204, 404, 404, 404, 404,
    ]);
    const owners = await Promise.all(
      [1, 2].map(async (number) => (await board.api.readCard(number)).repositories),
    );
    expect(owners.flat().filter((link) => link.branchName === branchName)).toHaveLength(1);
    const adopted = [...(await kindsOf(board, 1)), ...(await kindsOf(board, 2))];
    expect(adopted.filter((kind) => kind === "branch_adopted")).toHaveLength(1);
  });

  it("returns 503 and changes nothing while GitHub is unavailable, and succeeds after it", async () => {
    const board = await world.board();
    const { item } = await suggested(board);
    const outage = world.forge.control.faults.add({ fault: { kind: "reset" } });
    const key = `adopt-${randomUUID()}`;
    expect((await adopt(board, item, "", key)).status).toBe(503);
    expect(await readInbox(board.api)).toEqual([item]);
    world.forge.control.faults.remove(outage);
    expect((await adopt(board, item, "", key)).status).toBe(204);
    expect((await kindsOf(board, 1)).filter((kind) => kind === "branch_adopted")).toHaveLength(1);
  });

  it("adopts the branch of a deleted card", async () => {
    const board = await world.board();
    await board.api.card();
    await pushTo(board, "card/1-2-hello", "a.txt");
    await adopt(board, await itemWhen(board.api, "branch_suggestion"));
    await board.api.delete("/v1/cards/1");
    await board.api.card({ title: "Next" });
    const flow = await readFlow(board);
    await putFlow(board, { ...flow, branchPattern: "card/1-{number}-{slug}" });
    await pushTo(board, "card/1-2-hello", "b.txt");
    const item = await itemWhen(board.api, "branch_suggestion");
    expect(item.card).toMatchObject({ number: 2 });
    expect((await adopt(board, item)).status).toBe(204);
    expect((await board.api.readCard(2)).repositories).toMatchObject([{ branchName: "card/1-2-hello" }]);
  });

  it("returns 404 for items and cards of another board", async () => {
    const [board, otherBoard] = [await world.board(), await world.board()];
    const { item } = await suggested(board);
    await otherBoard.api.card();
    await otherBoard.api.card();
    for (const query of ["", "?card=1", "?card=2"])
      expect((await adopt(otherBoard, item, query)).status).toBe(404);
    expect(await adopt(board, item, "?card=2")).toMatchObject({
      status: 404,
      body: { message: "There is no card 2 on this board." },
    });
    for (const query of ["?card=x", "?card=1.5", "?card="])
      expect((await adopt(board, item, query)).status).toBe(400);
    const viewer = await board.as({ role: "viewer" });
    expect((await viewer.post(`/v1/inbox/${item.id}/adopt`)).status).toBe(403);
    const other = await board.api.post<{ id: string }>("/v1/projects", { name: "Second" });
    const cardThere = await board.api.card({ projectId: other.body.id });
    expect(await adopt(board, item, `?card=${cardThere.number}`)).toMatchObject({
      status: 400,
      body: { issues: [{ path: "query.card" }] },
    });
    expect(await readInbox(board.api, board.projectId)).toEqual([item]);
  });
});
