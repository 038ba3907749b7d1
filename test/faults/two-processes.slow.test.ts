import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { issueCredential } from "../../src/actions/issue-credential.ts";
import { createLog } from "../../src/log.ts";
import type { CallMatch } from "../../src/sandbox/forge/control/match.ts";
import { startService, type RunningService } from "../../src/service.ts";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { startDatabaseProxy, type DatabaseProxy } from "../support/database-proxy.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardBefore, FORGE_WRITES } from "../support/one-move-away.ts";
import { kindsOf } from "../support/repositories.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let proxy: DatabaseProxy;
/** A second process of the service, whose way to the database can be cut. */
let other: RunningService;
beforeAll(async () => {
  world = await startWorld();
  proxy = await startDatabaseProxy(world.databaseUrl);
  const { apiUrl, app } = world.forge;
  other = await startService({
    databaseUrl: proxy.url,
    host: "127.0.0.1",
    port: 0,
    github: {
      apiUrl,
      appId: app.id,
      privateKey: app.privateKey,
      webhookSecrets: [app.webhookSecret],
      paceWrites: false,
    },
    followsTimetable: false,
    log: createLog("silent"),
  });
});
afterEach(() => world.forge.control.reset());
afterAll(async () => {
  proxy.restore();
  await other.stop();
  await proxy.stop();
  await world.stop();
});

/** One credential at both processes. */
async function apisOf(board: TestBoard): Promise<readonly [here: Api, there: Api]> {
  const { apiKey } = await issueCredential(world.service.deps, {
    name: "twice",
    boards: [{ workspaceId: board.workspaceId, role: "maintainer" }],
    scopes: ["read", "write"],
    expiresAt: null,
  });
  return [makeApi(world.service.baseUrl, apiKey), makeApi(other.baseUrl, apiKey)];
}

/** As after fifteen seconds without a word of the second process. */
const silenceOther = () =>
  world.service.deps
    .db("instances")
    .where({ id: other.deps.instanceId })
    .update({ seen_at: world.service.deps.db.raw("now() - interval '1 minute'") });

const reached = (match: CallMatch, fault: { kind: "delay"; ms: number; effect: "before" | "after" }) => {
  const id = world.forge.control.faults.add({ match, fault, times: 1 });
  return eventually(
    () => Promise.resolve(world.forge.control.faults.list()),
    (faults) => faults.find((each) => each.id === id)?.hits === 1,
  );
};

/** Everything meant to be done was done, and told once. */
async function expectDoneOnce(
  board: TestBoard,
  number: number,
  to: keyof TestBoard["stages"],
): Promise<void> {
  await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages[to]);
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
  const told = (await kindsOf(board, number)).filter((kind) => kind !== "pushed");
  const once = told.filter((kind) => kind === "branch_created" || kind.startsWith("pull_request_"));
  expect(new Set(once).size).toBe(once.length);
  expect(told).not.toContain("promotion_refused");
  const { id } = await board.api.readCard(number);
  expect(await world.service.deps.db("forge_intents").where({ card_id: id, done: false })).toEqual([]);
}

describe.each(FORGE_WRITES)("while one process is $doing", (write) => {
  const { match, to } = write;

  it.each(["before", "after"] as const)(
    "and the forge has its call, it loses the database (%s the effect): the other finishes the move, and what comes late changes nothing",
    async (effect) => {
      const board = await world.board();
      const number = await cardBefore(board, write);
      const [here, there] = await apisOf(board);
      const key = `split-${randomUUID()}`;
      const isReached = reached(match, { kind: "delay", ms: 4_000, effect });
      const late = there.move(number, board.stages[to], 0, { key });
      await isReached;
      proxy.cut();
      await silenceOther();
      const moved = await here.move(number, board.stages[to], 0, { key });
      proxy.restore();
      expect(moved).toMatchObject({ status: 200, body: { task: { statusId: board.stages[to] } } });
      const answer = await late;
      expect(answer.status).toBeGreaterThanOrEqual(409);
      await expectDoneOnce(board, number, to);
      const again = await here.move(number, board.stages[to], 0, { key });
      expect([again.status, again.text]).toEqual([200, moved.text]);
    },
    60_000,
  );

  it("and is only slow, but taken for dead: it stops before its next call", async () => {
    const board = await world.board();
    const number = await cardBefore(board, write);
    const [here, there] = await apisOf(board);
    const key = `slow-${randomUUID()}`;
    const isReached = reached({ operation: "Inspect" }, { kind: "delay", ms: 3_000, effect: "after" });
    const late = there.move(number, board.stages[to], 0, { key });
    await isReached;
    const moved = await eventually(
      async () => {
        await silenceOther();
        return here.move(number, board.stages[to], 0, { key });
      },
      ({ status }) => status === 200,
    );
    const { writes } = world.forge.control.calls.read();
    expect((await late).status).toBe(409);
    expect(world.forge.control.calls.read().writes).toBe(writes);
    await expectDoneOnce(board, number, to);
    const again = await here.move(number, board.stages[to], 0, { key });
    expect([again.status, again.text]).toEqual([200, moved.text]);
  }, 60_000);
});
