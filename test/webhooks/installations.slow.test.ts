/** Installations and their repositories: installed, suspended, renamed, transferred. */
import { afterEach, describe, expect, it } from "@jest/globals";
import {
  storeInstallation,
  syncInstallation,
  syncInstallations,
} from "../../src/actions/installations/sync-installation.ts";
import {
  acceptPermissions,
  install,
  setSuspended,
  uninstall,
} from "../../sandbox/forge/actions/change-installation.ts";
import { readClock } from "../../src/store/forge/installations.ts";
import { eventually } from "../support/api.ts";
import { allProcessed, cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { brokenIn, brokenWhen, callsByBot, healthOf, onForge } from "../support/forge/installations.ts";
import { granted, kindsOf } from "../support/forge/repositories.ts";
import { openCard } from "../support/stories/open-card.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld({}, expectAllConsistent);
afterEach(() => {
  world.forge.control.webhooks.clear();
  world.forge.control.faults.clear();
});

describe("a suspended installation", () => {
  // Contract: Inbox: `connection_broken`: the installation is suspended or GitHub refuses it
  // Fault: C13
  it("stops all calls immediately, is in the inbox, and recovers automatically", async () => {
    const board = await world.board();
    const { number } = await openCard(world, board);
    const { context, by, installation } = onForge(world, board);
    setSuspended(context, installation, by, true);
    const [item] = await brokenWhen(board, 1);
    expect(item).toMatchObject({ repository: null, dismissible: false });
    expect(item?.detail).toContain("suspended");
    expect(await healthOf(board)).toMatchObject({ broken: "suspended" });
    expect((await board.api.delete(`/v1/inbox/${item?.id}`)).status).toBe(409);
    await allProcessed(world);

    world.forge.requests.reset();
    const refused = await board.api.move(number, board.stages["Done"]);
    expect(refused.status).toBe(409);
    expect(refused.body.blocked).toMatchObject({ reason: "not_permitted", repository: `${board.owner}/web` });
    expect(refused.body.message).toContain("suspended");
    const reviews = await board.api.get<{ error: string | null }[]>(`/v1/cards/${number}/reviews`);
    expect(reviews.body[0]?.error).not.toBeNull();
    expect(callsByBot(world)).toEqual([]);

    setSuspended(context, installation, by, false);
    await brokenWhen(board, 0);
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await board.api.move(number, board.stages["Done"])).status).toBe(200);

    setSuspended(context, installation, by, true);
    const [again] = await brokenWhen(board, 1);
    expect(again?.id).not.toBe(item?.id);
  });

  it("gets no calls because of a late webhook", async () => {
    const board = await world.board();
    const { number, branchName } = await cardWithStatuses(world, board);
    world.forge.control.webhooks.add({ match: { event: "push" }, fault: { kind: "hold" } });
    const clone = await board.clone();
    await clone.checkout(branchName);
    await clone.commit("Late", { "late.txt": "late\n" });
    await clone.push();
    await clone.remove();
    await world.forge.waitUntilIdle();
    const { context, by, installation } = onForge(world, board);
    setSuspended(context, installation, by, true);
    await brokenWhen(board, 1);
    world.forge.requests.reset();
    world.forge.control.webhooks.clear();
    await world.forge.control.webhooks.release();
    await allProcessed(world);
    await board.api.eventWhen(number, ({ kind }) => kind === "pushed");
    await eventually(
      () => world.service.deps.db("graphile_worker.jobs").where({ task_identifier: "catch-up-card" }),
      ({ length }) => length === 0,
    );
    expect(callsByBot(world)).toEqual([]);
  });
});

it("an uninstalled App makes no calls to the account until it is installed again", async () => {
  const board = await world.board();
  const { number } = await openCard(world, board);
  const { context, account, by, installation } = onForge(world, board);
  uninstall(context, installation, by);
  const [item] = await brokenWhen(board, 1);
  expect(item?.detail).toContain("Install it again");
  const connectedNow = async () =>
    (await board.api.get<{ connected: boolean }[]>("/v1/repositories")).body.map(
      ({ connected }) => connected,
    );
  expect(await connectedNow()).toEqual([false]);
  expect((await board.api.move(number, board.stages["Done"])).body.message).toContain("Install it again");
  install(context, account, "all", by);
  await brokenWhen(board, 0);
  await board.api.cardWhen(number, ({ blocked }) => blocked === null);
  expect((await board.api.move(number, board.stages["Done"])).status).toBe(200);
  expect(await connectedNow()).toEqual([true]);
  expect(await healthOf(board)).toMatchObject({ broken: null, lastWebhookAt: expect.any(String) });
});

it("an installed App creates organization, board, project, flow and repositories", async () => {
  const { context } = world.forge;
  world.forge.createOrganization("newcomers");
  await world.forge.createRepository("newcomers", "only");
  const [row] = context.state.accounts.inGroup("newcomers");
  install(context, row!, "all", row!);
  const { db } = world.service.deps;
  const made = () =>
    db("organizations as o")
      .join("workspaces as w", "w.organization_id", "o.id")
      .join("projects as p", "p.workspace_id", "w.id")
      .join("repositories as r", "r.project_id", "p.id")
      .where("o.slug", "newcomers")
      .select("r.full_name", "r.link_by_default");
  const rows = await eventually(made, ({ length }) => length > 0);
  expect(rows).toEqual([{ full_name: "newcomers/only", link_by_default: true }]);
});

describe("an account that GitHub refuses", () => {
  // Contract: Inbox: `connection_broken`: the installation is suspended or GitHub refuses it
  // Fault: C12
  it.each([
    [401, 503, "does not accept our credentials", { reason: "outage" }],
    [403, 409, "Go away", null],
    [404, 409, "Go away", null],
  ])(
    "with %i is in the inbox from the first refusal until access returns",
    async (status, answered, words, unavailable) => {
      const board = await world.board();
      const { number } = await openCard(world, board);
      await allProcessed(world);
      const { installation } = onForge(world, board);
      const { faults } = world.forge.control;
      faults.add({
        match: { path: `/app/installations/${installation.id}/access_tokens` },
        fault: { kind: "response", status, body: { message: "Go away" } },
      });
      faults.add({ match: { installationId: installation.id }, fault: { kind: "response", status: 401 } });
      expect((await board.api.move(number, board.stages["Done"])).status).toBe(answered);
      const [item] = await brokenIn(board);
      expect(item?.detail).toContain(words);
      expect(item?.data).toMatchObject({ broken: "refused", unavailable });
      expect(await healthOf(board)).toMatchObject({ broken: "refused", unavailable });
      const { db } = world.service.deps;
      const looks = () => db("graphile_worker.jobs").where({ task_identifier: "check-refused-installation" });
      const [waiting] = await eventually(looks, ([job]) => job?.run_at > Date.now() + 30_000);
      expect((await brokenIn(board)).map(({ id }) => id)).toEqual([item?.id]);
      const again = await board.api.move(number, board.stages["Done"]);
      expect(again.body.blocked).toMatchObject({ reason: "not_permitted" });

      faults.clear();
      await db.raw("select graphile_worker.reschedule_jobs(array[?::bigint], run_at := now())", [waiting.id]);
      await brokenWhen(board, 0);
      await board.api.cardWhen(number, ({ blocked }) => blocked === null);
      expect((await board.api.move(number, board.stages["Done"])).status).toBe(200);
      expect(await eventually(looks, ({ length }) => length === 0)).toEqual([]);
    },
  );
});

it("a missing permission is reported until it is granted", async () => {
  const board = await world.board();
  expect(await healthOf(board)).toMatchObject({ missingPermissions: [] });
  const { context, by, installation } = onForge(world, board);
  const { workflows: _left, ...fewer } = installation.permissions;
  acceptPermissions(context, installation, by, { ...fewer, contents: "read" });
  await eventually(
    () => healthOf(board),
    (health) => Array.isArray(health?.["missingPermissions"]) && health["missingPermissions"].length > 0,
  );
  expect(await healthOf(board)).toMatchObject({
    missingPermissions: ["contents: write", "workflows: write"],
  });
  acceptPermissions(context, installation, by, installation.permissions);
  await eventually(
    () => healthOf(board),
    (health) => Array.isArray(health?.["missingPermissions"]) && health["missingPermissions"].length === 0,
  );
});

// Fault: B11 The installation or repository is unknown => 2xx and no change
it("events of another account's installation or an unknown one change nothing", async () => {
  const [board, stranger] = [await world.board(), await world.board()];
  const { number, status } = await cardWithStatuses(world, board);
  for (const id of [onForge(world, stranger).installation.id, 987_654_321]) {
    const { status: code } = await deliver(world, "status", { ...status("failure"), installation: { id } });
    expect(code).toBe(202);
  }
  await deliver(world, "installation", { action: "deleted", installation: { id: 987_654_321 } });
  await allProcessed(world);
  expect(await kindsOf(board, number)).not.toContain("checks_changed");
  await deliver(world, "status", {
    ...status("failure"),
    installation: { id: onForge(world, board).installation.id },
  });
  await board.api.eventWhen(number, ({ kind }) => kind === "checks_changed");
});

it("an older response does not replace a newer one", async () => {
  const board = await world.board();
  const { context, account, by, installation } = onForge(world, board);
  const askedAt = await readClock(world.service.deps.db);
  const suspended = setSuspended(context, installation, by, true);
  await brokenWhen(board, 1);
  world.forge.control.webhooks.add({ fault: { kind: "drop" } });
  setSuspended(context, suspended, by, false);
  const before = {
    installationId: installation.id,
    account: { forgeId: account.id, login: account.login },
    suspended: false,
    missingPermissions: [],
  };
  await storeInstallation(world.service.deps, before, askedAt);
  expect(await brokenIn(board)).toHaveLength(1);
});

describe("accounts", () => {
  // Fault: D1
  it("that exchange their names keep their boards, whichever webhook arrives first", async () => {
    const [one, two] = [await world.board(), await world.board()];
    const { state } = world.forge.context;
    const [first, second] = [onForge(world, one), onForge(world, two)];
    state.accounts.update(first.account.id, { login: `${two.owner}-x` });
    state.accounts.update(second.account.id, { login: one.owner });
    await deliver(world, "installation_target", {
      action: "renamed",
      account: { id: second.account.id, login: one.owner },
      changes: { login: { from: two.owner } },
      target_type: "Organization",
      installation: { id: second.installation.id },
    });
    const slug = async (board: TestBoard) =>
      (await board.api.get<{ slug: string }[]>("/v1/organizations")).body[0]?.slug;
    await eventually(
      () => slug(two),
      (now) => now === one.owner,
    );
    await syncInstallation(world.service.deps, first.installation.id);
    expect(await slug(one)).toBe(`${two.owner}-x`);
    expect((await granted(two.api))[0]?.fullName).toBe(`${one.owner}/web`);
  });

  // Fault: C18 One account or repository is unreadable => the others are unaffected
  it("that cannot be read do not stop the sync of others", async () => {
    const [poor, sound] = [await world.board(), await world.board()];
    const { context, by, installation } = onForge(world, sound);
    world.forge.control.webhooks.add({ fault: { kind: "drop" } });
    setSuspended(context, installation, by, true);
    await world.forge.waitUntilIdle();
    world.forge.control.faults.add({
      match: { path: "/installation/repositories", installationId: onForge(world, poor).installation.id },
      fault: { kind: "response", status: 500 },
    });
    await expect(syncInstallations(world.service.deps)).rejects.toThrow("GitHub did not respond");
    expect(await brokenIn(sound)).toHaveLength(1);
    expect(await brokenIn(poor)).toEqual([]);
  });
});
