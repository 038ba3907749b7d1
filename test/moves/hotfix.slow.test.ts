import { afterEach, describe, expect, it } from "@jest/globals";
import { backMergeCard, sweepBackMerges } from "../../src/actions/releases/back-merge.ts";
import { recordIntent } from "../../src/store/ops/intents.ts";
import { eventually } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { clearedWhen, itemsOf, itemWhen } from "../support/inbox.ts";
import { kindsOf, work } from "../support/forge/repositories.ts";
import { branchesOf, branchHas, twoTargets } from "../support/stories/two-targets.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { JOBS } from "../../src/store/jobs.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

/** A hotfix with a commit and an open pull request. */
async function hotfix(board: TestBoard): Promise<{ number: number; branchName: string; id: string }> {
  const { number, id } = await board.api.card({ title: "Stop the leak", hotfix: true });
  await board.api.move(number, board.stages["In progress"]);
  await work(board, number);
  return { number, id, branchName: await branchOf(board, number) };
}

const openPulls = async (board: TestBoard): Promise<{ number: number; base: string; head: string }[]> => {
  const pulls = await board.person("ada", "GET", `/repos/${board.owner}/web/pulls?state=open`);
  return (pulls.body as unknown as { number: number; base: { ref: string }; head: { ref: string } }[]).map(
    ({ number, base, head }) => ({ number, base: base.ref, head: head.ref }),
  );
};
const merge = (board: TestBoard, number: number, body: object = {}) =>
  board.person("ada", "PUT", `/repos/${board.owner}/web/pulls/${number}/merge`, body);

/** Waits until all deliveries are processed and no back-merge job is waiting. */
async function untilNoJobWaits(): Promise<void> {
  await allProcessed(world);
  await eventually(
    () =>
      world.service.deps
        .db("graphile_worker.jobs")
        .where({ task_identifier: JOBS.backMerge.name })
        .select("key"),
    ({ length }) => length === 0,
  );
}

describe("a hotfix", () => {
  // Contract: Cards: The branch of a hotfix starts at the last target of the flow
  // Contract: Inbox: `backmerge_open`: a branch lacks the commits of a hotfix or pick
  it("starts at the last target, merges into it, and gets a back-merge pull request into the earlier target", async () => {
    const { board } = await twoTargets(world);
    const { number, branchName } = await hotfix(board);
    expect(await branchHas(board, branchName, "develop.txt")).toBe(false);
    expect(await openPulls(board)).toEqual([{ number: 1, base: "main", head: branchName }]);
    const done = await board.api.move(number, board.stages.Done);
    expect(done.body.promoted).toMatchObject([{ targetBranch: "main", prNumber: 1 }]);
    const event = await board.api.eventWhen(number, ({ kind }) => kind === "backmerge_opened");
    expect(event).toMatchObject({
      actor: { login: null, user: { kind: "machine" } },
      repositoryFullName: `${board.owner}/web`,
      data: { prNumber: 2, targetBranch: "develop", branchName: `backmerge/${number}-develop` },
    });
    const item = await itemWhen(board.api, "backmerge_open");
    expect(item).toMatchObject({
      card: { number },
      repository: `${board.owner}/web`,
      dismissible: false,
      data: { targetBranch: "develop", prNumber: 2 },
    });
    expect(item.detail).toContain("#2");
    expect(await openPulls(board)).toEqual([
      { number: 2, base: "develop", head: `backmerge/${number}-develop` },
    ]);
    // The card still shows its own pull request, not the back-merge.
    expect((await board.api.readCard(number)).repositories[0]).toMatchObject({
      prNumber: 1,
      prState: "merged",
    });
    await merge(board, 2);
    await clearedWhen(board.api, "backmerge_open");
    expect(await branchHas(board, "develop", `${number}.txt`)).toBe(true);
    await allProcessed(world);
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "backmerge_opened")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "pull_request_merged")).toHaveLength(1);
  });

  it("is merged back when a person merged it on GitHub", async () => {
    const { board } = await twoTargets(world);
    const { number } = await hotfix(board);
    await board.api.move(number, board.stages["In review"]);
    await merge(board, 1);
    await board.api.eventWhen(number, ({ kind }) => kind === "backmerge_opened");
    expect(await openPulls(board)).toMatchObject([{ base: "develop" }]);
  });

  it("needs no back-merge after a push or a squash merge brought its commits", async () => {
    const { board } = await twoTargets(world);
    for (const how of ["push", "squash"]) {
      const { number } = await hotfix(board);
      await board.api.move(number, board.stages.Done);
      const { data } = await itemWhen(board.api, "backmerge_open");
      if (how === "squash") await merge(board, Number(data["prNumber"]), { merge_method: "squash" });
      else {
        const clone = await board.clone();
        await clone.checkout("develop");
        await clone.git("merge", "-q", "--no-edit", "origin/main");
        await clone.push();
        await clone.remove();
      }
      expect(await clearedWhen(board.api, "backmerge_open")).toEqual([]);
    }
  });

  it("is checked by a periodic job when the webhook of its back-merge is lost", async () => {
    const { board } = await twoTargets(world);
    const { number } = await hotfix(board);
    await board.api.move(number, board.stages.Done);
    await itemWhen(board.api, "backmerge_open");
    await untilNoJobWaits();
    world.forge.control.webhooks.add({ fault: { kind: "drop" } });
    await merge(board, 2);
    await allProcessed(world);
    expect(await itemsOf(board.api, "backmerge_open")).toHaveLength(1);
    const { db } = world.service.deps;
    await db("backmerges").update({ checked_at: db.raw("now() - interval '2 hours'") });
    await sweepBackMerges(world.service.deps);
    await clearedWhen(board.api, "backmerge_open");
  });

  it("gets one back-merge pull request despite lost responses and concurrent jobs", async () => {
    const { board } = await twoTargets(world);
    const { number, id } = await hotfix(board);
    for (const path of ["/repositories/*/git/refs", "/repositories/*/pulls"]) {
      const fault = { kind: "response", status: 502, effect: "after" } as const;
      world.forge.control.faults.add({ match: { method: "POST", path }, fault, times: 1 });
    }
    await board.api.move(number, board.stages.Done);
    await itemWhen(board.api, "backmerge_open");
    await Promise.all([1, 2, 3].map(() => backMergeCard(world.service.deps, id)));
    expect(await openPulls(board)).toHaveLength(1);
    const kinds = await kindsOf(board, number);
    expect(kinds.filter((kind) => kind === "backmerge_opened")).toHaveLength(1);
    expect((await branchesOf(board)).filter((name) => name.startsWith("backmerge/"))).toHaveLength(1);
  });

  it("needs no back-merge into a branch that has its commits or does not exist", async () => {
    const { board, staging } = await twoTargets(world, { repositories: ["web"] });
    const first = await hotfix(board);
    await board.api.move(first.number, staging);
    await board.api.move(first.number, board.stages.Done);
    const { db } = world.service.deps;
    await eventually(
      () => db("backmerges").where({ card_id: first.id }).whereNotNull("cleared_at"),
      ({ length }) => length === 1,
    );
    const second = await hotfix(board);
    await board.person("ada", "DELETE", `/repos/${board.owner}/web/git/refs/heads/develop`);
    await board.api.move(second.number, board.stages.Done);
    await eventually(
      () => db("backmerges").where({ card_id: second.id }).whereNotNull("cleared_at"),
      ({ length }) => length === 1,
    );
    expect(await itemsOf(board.api, "backmerge_open")).toEqual([]);
    expect(await kindsOf(board, first.number)).not.toContain("backmerge_opened");
    expect(await openPulls(board)).toEqual([]);
  });

  it("has an inbox item with GitHub's message if its back-merge fails, and leaves a foreign branch alone", async () => {
    const { board } = await twoTargets(world);
    const { number, id } = await hotfix(board);
    const foreign = await world.forge.commit(`${board.owner}/web`, `backmerge/${number}-develop`, {
      "theirs.txt": "theirs\n",
    });
    const message = "Resource not accessible by integration";
    // Until it is removed: more than one job may try.
    const { faults } = world.forge.control;
    const refusing = faults.add({
      match: { method: "POST", path: "/repositories/*/pulls" },
      fault: { kind: "response", status: 403, body: { message } },
    });
    await board.api.move(number, board.stages.Done);
    const refused = await itemWhen(board.api, "backmerge_open");
    expect(refused).toMatchObject({ detail: message, data: { prNumber: null } });
    await untilNoJobWaits();
    faults.remove(refusing);
    await backMergeCard(world.service.deps, id);
    const opened = await itemWhen(board.api, "backmerge_open");
    expect(opened).toMatchObject({
      id: refused.id,
      data: { prNumber: 2, branchName: `backmerge/${number}-develop-2` },
    });
    const clone = await board.clone();
    const there = await clone.git("rev-parse", `origin/backmerge/${number}-develop`);
    await clone.remove();
    expect(there).toBe(foreign);
  });

  it("leaves a foreign branch alone whose name a dead process had stored as an intent", async () => {
    const { board } = await twoTargets(world);
    const { number, id } = await hotfix(board);
    const { db } = world.service.deps;
    const branchName = `backmerge/${number}-develop`;
    const foreign = await world.forge.commit(`${board.owner}/web`, branchName, { "theirs.txt": "theirs\n" });
    const card = await db("cards").where({ id }).first("created_by as actorId");
    const link = await db("card_repositories").where({ card_id: id }).first("repository_id as repositoryId");
    await recordIntent(db, { ...link, ...card, kind: "create_branch", subject: branchName, cardId: id });
    await board.api.move(number, board.stages.Done);
    const event = await board.api.eventWhen(number, ({ kind }) => kind === "backmerge_opened");
    expect(event.data).toMatchObject({ prNumber: 2, branchName: `${branchName}-2` });
    expect(await openPulls(board)).toMatchObject([{ number: 2, base: "develop", head: `${branchName}-2` }]);
    const clone = await board.clone();
    expect(await clone.git("rev-parse", `origin/${branchName}`)).toBe(foreign);
    await clone.remove();
  });

  it("reuses its own back-merge branch after a person pushed to it", async () => {
    const { board } = await twoTargets(world);
    const { number, id } = await hotfix(board);
    const branchName = `backmerge/${number}-develop`;
    const refusing = world.forge.control.faults.add({
      match: { method: "POST", path: "/repositories/*/pulls" },
      fault: { kind: "response", status: 403, body: { message: "Resource not accessible by integration" } },
    });
    await board.api.move(number, board.stages.Done);
    await itemWhen(board.api, "backmerge_open");
    await world.forge.commit(`${board.owner}/web`, branchName, { "resolved.txt": "resolved\n" });
    await untilNoJobWaits();
    world.forge.control.faults.remove(refusing);
    await backMergeCard(world.service.deps, id);
    expect(await openPulls(board)).toMatchObject([{ number: 2, base: "develop", head: branchName }]);
  });

  it("is like any other card in a flow with one target", async () => {
    const board = await world.board();
    const { number, id } = await hotfix(board);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    await backMergeCard(world.service.deps, id);
    expect(await itemsOf(board.api, "backmerge_open")).toEqual([]);
  });
});
