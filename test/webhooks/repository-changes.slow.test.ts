/** Repositories that are granted, revoked, renamed, archived, deleted or transferred. */
import { describe, expect, it } from "@jest/globals";
import { setGranted } from "../../sandbox/forge/actions/change-installation.ts";
import { changeRepository, deleteRepository } from "../../sandbox/forge/actions/change-repository.ts";
import { eventually } from "../support/api.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { allProcessed, cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { brokenIn, brokenWhen, healthOf, onForge, repositoryOf } from "../support/forge/installations.ts";
import { openCard } from "../support/stories/open-card.ts";
import { loseWebhooks } from "../support/stories/repairing.ts";
import { granted, kindsOf, linksOf, ofProject, putRepositories } from "../support/forge/repositories.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld({}, expectAllConsistent);

describe("a repository", () => {
  it("that is no longer granted is in the inbox, refuses moves and can return", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const { number } = await openCard(world, board);
    const { context, by, installation } = onForge(world, board);
    const narrowed = setGranted(context, installation, by, [repositoryOf(world, board)], false);
    const [item] = await brokenWhen(board, 1);
    expect(item?.repository).toBe(`${board.owner}/web`);
    const refused = await board.api.move(number, board.stages["Done"]);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain("has no access to this repository");
    setGranted(context, narrowed, by, [repositoryOf(world, board)], true);
    await brokenWhen(board, 0);
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
  });

  it("that is deleted stays on its cards and can be removed despite its open pull request", async () => {
    const board = await world.board();
    await openCard(world, board);
    const { context, by } = onForge(world, board);
    await deleteRepository(context, repositoryOf(world, board), by);
    await brokenWhen(board, 1);
    const put = await board.api.put(`/v1/projects/${board.projectId}/repositories`, { repositories: [] });
    expect(put.status).toBe(200);
    expect(await brokenIn(board)).toEqual([]);
  });

  // Fault: D1
  it("has its new name and default branch, and old webhooks do not change them back", async () => {
    const board = await world.board();
    const { number, status, repositoryId, fullName } = await cardWithStatuses(world, board);
    const { context, by } = onForge(world, board);
    await world.forge.commit(fullName, "trunk", { "a.txt": "a\n" });
    await changeRepository(context, repositoryId, by, { name: "renamed", defaultBranch: "trunk" });
    await eventually(
      () => granted(board.api),
      ([repository]) => repository?.fullName === `${board.owner}/renamed`,
    );
    await deliver(world, "status", status("failure"));
    await board.api.eventWhen(number, ({ kind }) => kind === "checks_changed");
    const [now] = await granted(board.api);
    expect(now).toMatchObject({ fullName: `${board.owner}/renamed`, defaultBranch: "trunk" });
    expect((await board.api.move(number, board.stages["In review"])).body.blocked?.repository).toBe(
      `${board.owner}/renamed`,
    );
  });

  // Fault: D4 The repository is deleted, archived or revoked => refused before any change
  it("that is archived refuses a move before it changes others, until it is unarchived", async () => {
    const board = await world.board({ repositories: ["api", "web"] });
    const { number } = await openCard(world, board, ["api", "web"]);
    const { context, by } = onForge(world, board);
    await changeRepository(context, repositoryOf(world, board).id, by, { archived: true });
    const refused = await board.api.move(number, board.stages["Done"]);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ message: "Repository was archived so is read-only.", promoted: [] });
    await changeRepository(context, repositoryOf(world, board).id, by, { archived: false });
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await board.api.move(number, board.stages["Done"])).status).toBe(200);
  });

  it("that is archived without a webhook shows it in its health until it is unarchived", async () => {
    const board = await world.board();
    const { context, by } = onForge(world, board);
    const archive = (archived: boolean) =>
      changeRepository(context, repositoryOf(world, board).id, by, { archived });
    const healthWhen = (broken: string | null) =>
      eventually(
        () => healthOf(board),
        (health) => health?.["broken"] === broken,
      );
    for (const isRecorded of [true, false]) {
      const withRepair = async (act: () => Promise<unknown>): Promise<void> => {
        if (!isRecorded) loseWebhooks(world);
        await act();
        await world.forge.waitUntilIdle();
        world.forge.control.webhooks.clear();
        if (!isRecorded) await commandLineOf(world).json("repair");
      };
      await withRepair(() => archive(true));
      expect(await healthWhen("archived")).toMatchObject({ broken: "archived" });
      expect(await brokenIn(board)).toEqual([]);
      await withRepair(() => archive(false));
      expect(await healthWhen(null)).toMatchObject({ broken: null });
    }
  });

  it("that is archived can be removed although its pull request cannot be closed", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { context, by } = onForge(world, board);
    await changeRepository(context, repositoryOf(world, board).id, by, { archived: true });
    await eventually(
      () => healthOf(board),
      (health) => health?.["broken"] === "archived",
    );
    const reviews = await board.api.get<{ error: string | null }[]>(`/v1/cards/${number}/reviews`);
    expect(reviews.body).toMatchObject([{ error: null }]);
    expect((await putRepositories(board, [])).status).toBe(200);
    expect(await linksOf(board, number)).toEqual([]);
  });

  // Fault: D3
  it("that moves to another account with the App keeps only its past on the old board", async () => {
    const [from, to] = [await world.board(), await world.board({ repositories: ["other"] })];
    const { number } = await cardWithStatuses(world, from);
    const merged = (await openCard(world, from)).number;
    expect((await from.api.move(merged, from.stages["Done"])).status).toBe(200);
    await allProcessed(world);
    const row = repositoryOf(world, from);
    const { state } = world.forge.context;
    state.repositories.update(row.id, { ownerId: onForge(world, to).account.id });
    const repository = { id: row.id, full_name: `${to.owner}/web`, default_branch: "main" };
    const installation = { id: onForge(world, to).installation.id };
    await deliver(world, "repository", { action: "transferred", repository, installation });
    await eventually(
      () => ofProject(to),
      ({ length }) => length === 2,
    );
    expect(await ofProject(from)).toEqual([]);
    expect(await granted(from.api)).toEqual([]);
    expect(await linksOf(from, number)).toEqual([]);
    expect(await kindsOf(from, number)).toContain("repository_unlinked");
    expect((await from.api.readCard(merged)).repositories[0]?.fullName).toBe(`${from.owner}/web`);
    // Later changes belong to the new board.
    const before = await from.api.timeline(merged);
    const pull = {
      number: 2,
      node_id: "PR_2",
      head: { ref: "x", sha: "1".repeat(40), repo: { id: row.id } },
    };
    await deliver(world, "pull_request_review", {
      action: "submitted",
      review: { id: 1, state: "approved", submitted_at: "2026-11-20T10:00:00Z" },
      pull_request: pull,
      repository,
      installation,
    });
    await allProcessed(world);
    expect(await from.api.timeline(merged)).toEqual(before);
  });
});
