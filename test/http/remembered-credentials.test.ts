import { beforeAll, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { rotateCredential } from "../../src/actions/credentials/credentials.ts";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import { makeApi, type Api } from "../support/api.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { transaction } from "../../src/store/db/transaction.ts";

const world = useWorld();
/** Runs one call of a credential at a time; a call that is restarted must not count twice. */
let second: RunningService;
let board: TestBoard;
let other: TestBoard;
beforeAll(async () => {
  second = await startSecondService(world, { ...DEFAULT_LIMITS, callsAtOnce: 1 });
  board = await world.board();
  other = await world.board();
});

const clientIdOf = (api: Api): string => api.apiKey.split("_")[1] ?? "";
const db = () => world.service.deps.db;
const setCredential = (api: Api, sql: string) =>
  db().raw(`update credentials set ${sql} where client_id = ?`, [clientIdOf(api)]);
/** Simulates the passage of time: no trigger runs. */
const lapse = (api: Api, column: "expires_at" | "previous_until") =>
  transaction(db(), async (trx) => {
    await trx.raw("set local session_replication_role = replica");
    await trx("credentials")
      .where({ client_id: clientIdOf(api) })
      .update({ [column]: trx.raw("now() - interval '1 millisecond'") });
  });
const memberships = (api: Api) =>
  db()("memberships").where(
    "user_id",
    db()("credentials")
      .where({ client_id: clientIdOf(api) })
      .select("user_id"),
  );

/** A credential that the second service has cached, with the address of that service. */
async function cached(options: Parameters<TestBoard["as"]>[0]): Promise<Api> {
  const api = makeApi(second.baseUrl, (await board.as(options)).apiKey);
  expect((await api.get("/v1/me")).status).toBe(200);
  return api;
}

const reads: readonly [string, (api: Api) => ReturnType<Api["get"]>][] = [
  ["the account", (api) => api.get("/v1/me")],
  ["a board", (api) => api.get("/v1/board")],
  ["a card", (api) => api.get("/v1/cards/1")],
  ["a missing card", (api) => api.get("/v1/cards/999")],
  ["a card number that is not a number", (api) => api.get("/v1/cards/x")],
  ["a list", (api) => api.get("/v1/labels")],
  ["a write", (api) => api.post("/v1/labels", { name: "x", color: "red" })],
  ["a write without a key", (api) => api.post("/v1/labels", {}, { key: null })],
];

it.each(reads)(
  "a cached credential that another process revoked is refused by the next call: %s",
  async (_, call) => {
    const api = await cached({});
    await board.api.card();
    await call(api);
    await revokeCredential(db(), clientIdOf(api));
    expect((await call(api)).status).toBe(401);
  },
);

it("a cached credential accepts its new secret after a rotation, and the old one until it expires", async () => {
  const api = await cached({});
  const { deps } = world.service;
  const rotated = await rotateCredential(deps, { clientId: clientIdOf(api), keepMs: 60_000 });
  expect((await api.get("/v1/board")).status).toBe(200);
  await lapse(api, "previous_until");
  expect((await api.get("/v1/board")).status).toBe(401);
  const after = makeApi(second.baseUrl, rotated.apiKey);
  expect((await after.get("/v1/board")).status).toBe(200);
  await rotateCredential(deps, { clientId: clientIdOf(api), keepMs: 0 });
  expect((await after.get("/v1/board")).status).toBe(401);
});

it("a cached credential is refused after it expires", async () => {
  const api = await cached({});
  await setCredential(api, "expires_at = now() + interval '1 minute'");
  expect((await api.get("/v1/board")).status).toBe(200);
  await lapse(api, "expires_at");
  expect((await api.get("/v1/board")).status).toBe(401);
});

it("a cached credential has its changed role in all calls, replays included", async () => {
  const api = await cached({ role: "member" });
  const key = "a-write-while-a-member";
  const create = () => api.post("/v1/cards", { title: "x" }, { key });
  expect((await create()).status).toBe(201);
  await memberships(api).update({ role: "viewer" });
  expect((await create()).status).toBe(403);
  await memberships(api).update({ role: "member" });
  expect((await create()).headers.get("idempotent-replay")).toBe("true");
});

it("a cached credential without the scope `write` gets 403, and succeeds when it is back", async () => {
  const api = await cached({});
  const create = () => api.post("/v1/cards", { title: "x" });
  await setCredential(api, "scopes = '{read}'");
  expect((await create()).status).toBe(403);
  await setCredential(api, "scopes = '{read,write}'");
  expect((await create()).status).toBe(201);
});

it("a cached credential reaches a board after it was added, and not after it was removed", async () => {
  const api = await cached({});
  const ids = async (): Promise<unknown> =>
    (await api.get<{ boards: { workspaceId: string }[] }>("/v1/me")).body.boards.map(
      ({ workspaceId }) => workspaceId,
    );
  const on = (workspaceId: string) =>
    api.get("/v1/board", { headers: { "x-service-workspace": workspaceId } });
  const [user] = await memberships(api).select("user_id");
  expect((await on(other.workspaceId)).status).toBe(400);
  await db()("memberships").insert({ ...user, workspace_id: other.workspaceId, role: "viewer" });
  expect((await on(other.workspaceId)).status).toBe(200);
  expect((await api.get("/v1/board")).status).toBe(400);
  await memberships(api).where({ workspace_id: board.workspaceId }).delete();
  expect((await on(board.workspaceId)).status).toBe(400);
  expect(await ids()).toEqual([other.workspaceId]);
});

it("a write that restarts because its cached credential is stale has the body that was sent", async () => {
  const api = await cached({});
  await setCredential(api, "name = 'another'");
  const { body } = await api.post<{ title: string }>("/v1/cards", { title: "Sent once" });
  expect(body.title).toBe("Sent once");
  await setCredential(api, "name = 'a third'");
  expect((await api.post("/v1/cards", { title: "x".repeat(1_100_000) })).status).toBe(413);
});

it("no call that starts after a revocation succeeds, under load", async () => {
  const acceptedLate: number[] = [];
  const callAndRevoke = async (): Promise<void> => {
    const api = await cached({});
    const seen: Promise<unknown>[] = [];
    for (let call = 0; call < 5; call++) seen.push(api.get("/v1/board"));
    await revokeCredential(db(), clientIdOf(api));
    const { status } = await api.get("/v1/board");
    if (status !== 401) acceptedLate.push(status);
    await Promise.all(seen);
  };
  await Promise.all(Array.from({ length: 10 }, callAndRevoke));
  expect(acceptedLate).toEqual([]);
});
