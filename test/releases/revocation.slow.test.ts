/** Work that a credential started ends after its revocation. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { resumeOrphans } from "../support/resume-orphans.ts";
import { resumeOperation } from "../../src/actions/resume-operation.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import { setMembership } from "../../src/store/tenancy/memberships.ts";
import { eventually, type Api } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { cardInReview, headOf } from "../support/stories/merged-card.ts";
import { branchOf, pushTo } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
/** Its writes to GitHub are a second apart. */
let pacedWorld: TestWorld;
let paced: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  board = await world.board();
  pacedWorld = await startWorld({ paceWrites: true });
  paced = await pacedWorld.board();
});
afterEach(() => world.forge.control.faults.clear());
afterEach(() => leaveConsistent(world));
afterAll(async () => {
  await world.stop();
  await pacedWorld.stop();
});

const clientIdOf = ({ apiKey }: Api): string => apiKey.split("_")[1] ?? "";
const revoke = (api: Api): Promise<boolean> => revokeCredential(board.db, clientIdOf(api));

const MERGES = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };

interface Promotion {
  readonly pending: readonly number[];
  readonly promoted: readonly { readonly number: number }[];
  readonly skipped: readonly { readonly number: number; readonly reason: string }[];
}

describe("a promotion whose credential is", () => {
  it.each<[string, (api: Api) => Promise<unknown>]>([
    ["revoked", revoke],
    [
      "reduced to the viewer role",
      async (api) => {
        const { user_id: userId } = await board
          .db("credentials")
          .where({ client_id: clientIdOf(api) })
          .first("user_id");
        await setMembership(board.db, { workspaceId: board.workspaceId, userId, role: "viewer" });
      },
    ],
  ])("%s merges no further card", async (what, end) => {
    const member = await board.as({ role: "member" });
    const numbers: number[] = [];
    for (const at of [1, 2, 3])
      numbers.push(await cardInReview(world, board, { web: { [`${what}-${at}.txt`]: "work\n" } }));
    const { projectId, stages, api } = board;
    const { id } = (await api.post<{ id: string }>(`/v1/releases?projectId=${projectId}`, { name: what }))
      .body;
    await api.put(`/v1/releases/${id}/cards`, { taskNumbers: numbers });
    const held = world.forge.control.faults.add({ match: MERGES, fault: { kind: "hold" } });
    const promoting = member.post(`/v1/releases/${id}/promote`, { statusId: stages.Done });
    await eventually(
      () => Promise.resolve(world.forge.control.faults.list()),
      (rules) => rules.some(({ id: rule, hits }) => rule === held && hits > 0),
    );
    await end(member);
    world.forge.control.faults.clear();
    await promoting;
    const { id: actionId } = await board.db("operations").where({ release_id: id }).first("id");
    const { body } = await eventually(
      () => api.get<Promotion>(`/v1/operations/${actionId}`),
      ({ body: operation }) => operation.pending.length === 0,
    );
    const [first, ...others] = numbers;
    expect(body).toMatchObject({
      promoted: [{ number: first }],
      skipped: others.map((number) => ({ number, reason: "not_permitted" })),
    });
    const cards = await Promise.all(numbers.map((number) => api.readCard(number)));
    expect(cards.map(({ statusId }) => statusId === stages.Done)).toEqual([true, false, false]);
    await api.delete(`/v1/releases/${id}`);
  });
});

it("a move that is resumed after the revocation merges nothing and blocks its card with the reason", async () => {
  const member = await board.as({ role: "member" });
  const number = await cardInReview(world, board, { web: { "resumed.txt": "work\n" } });
  const main = await headOf(board, "web", "main");
  world.forge.control.faults.add({ match: MERGES, fault: { kind: "response", status: 503 } });
  expect((await member.move(number, board.stages.Done)).status).toBe(503);
  world.forge.control.faults.clear();
  await revoke(member);
  // A move is resumed a moment after its last attempt.
  const { blocked, statusId } = await eventually(
    async () => {
      await resumeOrphans(world.service.deps, board.workspaceId);
      return board.api.readCard(number);
    },
    (card) => card.blocked !== null,
  );
  expect(blocked).toMatchObject({ reason: "not_permitted" });
  expect(statusId).toBe(board.stages["In review"]);
  expect(await headOf(board, "web", "main")).toBe(main);
});

it("another caller can finish the unfinished move of a revoked one", async () => {
  const member = await board.as({ role: "member" });
  const number = await cardInReview(world, board, { web: { "taken-over.txt": "work\n" } });
  world.forge.control.faults.add({ match: MERGES, fault: { kind: "response", status: 503 } });
  expect((await member.move(number, board.stages.Done)).status).toBe(503);
  await revoke(member);
  world.forge.control.faults.clear();
  expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
});

it("a step whose response is lost is not sent again after the revocation", async () => {
  const member = await board.as({ role: "member" });
  const { number } = await board.api.card({ title: "Lost response" });
  await board.api.move(number, board.stages["In progress"]);
  const branch = await branchOf(board, number);
  // In the backlog, no rule opens the pull request.
  await board.api.move(number, board.stages.Backlog);
  await pushTo(board, branch, "lost-response.txt");
  await allProcessed(world);
  const OPENS = { method: "POST", path: "/repositories/*/pulls" };
  const fault = { kind: "response", status: 502, effect: "before" } as const;
  const rule = world.forge.control.faults.add({ match: OPENS, fault, times: 1 });
  let revoking: Promise<boolean> | undefined;
  let sent = 0;
  const stop = world.forge.control.observe({
    onCall: ({ method, path }) => void (sent += Number(method === "POST" && path.endsWith("/pulls"))),
    onResponse: ({ path }, { status }) => {
      if (path.endsWith("/pulls") && status === 502) revoking = revoke(member);
    },
  });
  expect((await member.move(number, board.stages["In review"])).status).toBe(503);
  expect(await revoking).toBe(true);
  expect(world.forge.control.faults.list().find(({ id }) => id === rule)?.hits).toBe(1);
  const { blocked } = await eventually(
    async () => {
      await resumeOrphans(world.service.deps, board.workspaceId);
      return board.api.readCard(number);
    },
    (card) => card.blocked !== null,
  );
  stop();
  expect(blocked).toMatchObject({ reason: "not_permitted" });
  expect(sent).toBe(1);
});

it("a merge that waits for its turn is not sent after the revocation", async () => {
  const member = await paced.as({ role: "member" });
  const number = await cardInReview(pacedWorld, paced, { web: { "paced.txt": "work\n" } });
  const main = await headOf(paced, "web", "main");
  await paced.db("forge_turns").update({ next_write_at: paced.db.raw("now() + interval '4 seconds'") });
  const moving = member.move(number, paced.stages.Done);
  await eventually(
    () => paced.db("forge_intents").where({ kind: "merge" }),
    ({ length }) => length === 1,
  );
  await revokeCredential(paced.db, clientIdOf(member));
  expect((await moving).status).toBe(503);
  const { blocked } = await eventually(
    async () => {
      await resumeOrphans(pacedWorld.service.deps, board.workspaceId);
      return paced.api.readCard(number);
    },
    (card) => card.blocked !== null,
  );
  expect(blocked).toMatchObject({ reason: "not_permitted" });
  expect(await headOf(paced, "web", "main")).toBe(main);
});

describe("a freeze in two repositories whose credential is revoked after the first branch", () => {
  const CREATE = { method: "POST", path: "/repositories/*/git/refs" };

  async function halfFrozen() {
    const both = await world.board({ repositories: ["web", "api"] });
    const maintainer = await both.as({ role: "maintainer" });
    const { body } = await both.api.post<{ id: string }>(`/v1/releases?projectId=${both.projectId}`, {
      name: "1.0",
    });
    const freeze = `/v1/releases/${body.id}/freeze`;
    const first = holdCalls(world, CREATE, "after");
    const freezing = maintainer.post(freeze);
    await first.arrived();
    await revokeCredential(both.db, clientIdOf(maintainer));
    first.resume();
    expect((await freezing).status).toBe(503);
    const frozen = async () => {
      const { body: release } = await both.api.get<{ frozenAt: string | null }>(`/v1/releases/${body.id}`);
      const heads = [await headOf(both, "web", "release/1-0"), await headOf(both, "api", "release/1-0")];
      return { isFrozen: release.frozenAt !== null, branches: heads.filter((head) => head !== null).length };
    };
    const { id: actionId } = await both.db("operations").where({ release_id: body.id }).first("id");
    return { both, freeze, frozen, actionId: String(actionId) };
  }

  it("is undone", async () => {
    const { frozen, actionId } = await halfFrozen();
    expect(await frozen()).toEqual({ isFrozen: false, branches: 1 });
    await resumeOperation(world.service.deps, actionId);
    expect(await frozen()).toEqual({ isFrozen: false, branches: 0 });
  });

  it("is finished by another caller", async () => {
    const { both, freeze, frozen } = await halfFrozen();
    expect((await both.api.post(freeze)).status).toBe(200);
    expect(await frozen()).toEqual({ isFrozen: true, branches: 2 });
  });
});

it("a write that waits for a lock commits before a revocation is complete, or not at all", async () => {
  const member = await board.as({ role: "member" });
  const { number } = await board.api.card({ repositoryIds: [] });
  const waiting = (count: number) =>
    eventually(
      () => board.db("pg_stat_activity").where({ wait_event_type: "Lock" }),
      ({ length }) => length === count,
    );
  const trx = await beginTransaction(board.db);
  await trx("cards").where({ workspace_id: board.workspaceId, number }).forUpdate();
  const writing = member.patch(`/v1/cards/${number}`, { title: "Changed" });
  await waiting(1);
  const atRevocation = revoke(member).then(() => board.api.readCard(number));
  await waiting(2);
  await trx.commit();
  expect((await writing).status).toBe(200);
  expect(await atRevocation).toMatchObject({ title: "Changed" });
  expect((await member.patch(`/v1/cards/${number}`, { title: "Again" })).status).toBe(401);
});
