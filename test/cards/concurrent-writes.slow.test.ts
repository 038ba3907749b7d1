import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { rows, type Db, type Trx } from "../../src/store/db/connect.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import {
  eventually,
  makeApi,
  type Api,
  type ApiResponse,
  type ApiCard,
  type CallOptions,
} from "../support/api.ts";
import { databaseContent, settled } from "../support/database/database-content.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let second: RunningService;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  second = await startSecondService(world);
  board = await world.board();
});
afterAll(() => world.stop());

type Write = (api: Api, number: number, options?: CallOptions) => Promise<ApiResponse>;

/** The most frequent writes of agents. */
const writes: readonly [string, Write][] = [
  [
    "a comment",
    (api, number, options) => api.post(`/v1/cards/${number}/comments`, { body: 'é 😀 "\\' }, options),
  ],
  [
    "an update",
    (api, number, options) =>
      api.patch(`/v1/cards/${number}`, { title: '"ü"', priority: "low", dueDate: "2026-11-30" }, options),
  ],
  [
    "a new card",
    (api, _, options) =>
      api.post(
        "/v1/cards",
        { title: '"ü"', description: "A\nB", priority: "high", dueDate: "2026-11-30", hotfix: true },
        options,
      ),
  ],
  [
    "a move to the top of a column",
    (api, number, options) => api.move(number, board.stages["To do"], 0, options),
  ],
  [
    "a move beyond the end of a column",
    (api, number, options) => api.move(number, board.stages["To do"], 1_000, options),
  ],
  ["a move between others", (api, number, options) => api.move(number, board.stages.Backlog, 1, options)],
];

/** Locks what every change of the card and every new card needs. */
const lockCard = (number: number) => async (trx: Trx) => {
  await trx("cards").where({ workspace_id: board.workspaceId, number }).forUpdate();
  await trx("workspaces").where({ id: board.workspaceId }).forUpdate();
};

/** Takes the lock that a write with this key holds. */
const lockKey = (key: string) => (trx: Trx) =>
  rows(
    trx,
    `select pg_advisory_xact_lock(hashtextextended(concat_ws(':', 'key', cast(id as text), cast(:key as text)), 0))
       from credentials where client_id = :clientId`,
    { key, clientId: board.api.apiKey.split("_")[1] },
  );

/** Locks the table that every lookup of a key reads. */
const lockCredentials = (trx: Trx) => trx.raw("lock table credentials in access exclusive mode");

/** Ends the connection that has waited longest for a lock. */
const endFirstWaiting = (db: Db) =>
  db.raw(
    `select pg_terminate_backend(pid) from (
       select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
        order by query_start limit 1) first`,
  );

/** Repeats a request as long as another one with its key is running. */
const untilNotBusy = (send: () => Promise<ApiResponse>): Promise<ApiResponse> =>
  eventually(send, ({ status, headers }) => status !== 409 || headers.get("retry-after") === null);

/** Sends two requests with one key; `end` may end the first one before the second reads the key. */
async function endBeforeLookup(write: Write, end: (db: Db) => PromiseLike<unknown>) {
  const { number } = await board.api.card();
  const key = `key-${randomUUID()}`;
  const responses: Promise<ApiResponse>[] = [];
  const locks: Promise<void>[] = [];
  await whileLocked(board.db, lockCard(number), async () => {
    responses.push(write(board.api, number, { key }));
    await untilWaitingForLock(board.db);
    // This lock waits for the first request to end, and the second request waits for this lock.
    locks.push(whileLocked(board.db, lockCredentials, () => Promise.resolve()));
    await untilWaitingForLock(board.db, 2);
    // PostgreSQL frees the locks of an ended connection one after the other: the key's may be held a moment longer.
    responses.push(untilNotBusy(() => write(board.api, number, { key })));
    await untilWaitingForLock(board.db, 3);
    await end(board.db);
  });
  const [first, second] = await Promise.all(responses);
  await Promise.all(locks);
  if (!first || !second) throw new Error("no request was sent");
  return { number, key, first, second };
}

describe.each(writes)("%s", (_, write) => {
  it("is executed once per key when many calls arrive together", async () => {
    const cards = await Promise.all(Array.from({ length: 8 }, () => board.api.card()));
    const numbers = cards.map(({ number }) => number);
    // Each card is written twice, and the first call is repeated with its key.
    const calls = [...numbers, ...numbers].map((number) => ({ number, key: `key-${randomUUID()}` }));
    const [first = { number: 0, key: "" }] = calls;
    const untilDone = ({ number, key }: typeof first) =>
      untilNotBusy(() => write(board.api, number, { key }));
    const [, ...responses] = await Promise.all([
      write(board.api, 999_999),
      untilDone(first),
      ...calls.map(untilDone),
    ]);
    expect(responses.map(({ status }) => status < 300)).toEqual([first, ...calls].map(() => true));
    for (const [at, call] of [first, ...calls].entries()) {
      const again = await untilDone(call);
      expect([again.text, again.headers.get("idempotent-replay")]).toEqual([responses[at]?.text, "true"]);
    }
  });

  it("returns 409 with Retry-After while the same request is running, and is executed once", async () => {
    const { number } = await board.api.card();
    const key = `key-${randomUUID()}`;
    const responses: Promise<ApiResponse>[] = [];
    await whileLocked(board.db, lockCard(number), async () => {
      responses.push(write(board.api, number, { key }));
      await untilWaitingForLock(board.db);
      const second = await write(board.api, number, { key });
      expect(second).toMatchObject({ status: 409, body: { error: "Conflict" } });
      expect(second.headers.get("retry-after")).toBe("1");
    });
    const [first] = await Promise.all(responses);
    const again = await write(board.api, number, { key });
    expect([again.text, again.headers.get("idempotent-replay")]).toEqual([first?.text, "true"]);
  });

  it("is executed once when two processes receive the same request, and both return its response", async () => {
    const { number } = await board.api.card();
    const key = `key-${randomUUID()}`;
    const apis = [board.api, makeApi(second.baseUrl, board.api.apiKey)];
    const responses = await Promise.all(
      [...apis, ...apis].map((api) =>
        eventually(
          () => write(api, number, { key }),
          ({ status }) => status !== 409,
        ),
      ),
    );
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers.get("idempotent-replay") === null)).toHaveLength(1);
  });

  it("is replayed to a second request that reads the key just after the first one ended", async () => {
    const { first, second } = await endBeforeLookup(write, () => Promise.resolve());
    expect(second.headers.get("idempotent-replay")).toBe("true");
    expect([second.status, second.text]).toEqual([first.status, first.text]);
  });

  it("is executed by a second request that reads the key just after the first one failed", async () => {
    const { number, key, first, second } = await endBeforeLookup(write, endFirstWaiting);
    expect([first.status, second.status < 300]).toEqual([503, true]);
    expect(second.headers.get("idempotent-replay")).toBeNull();
    const again = await write(board.api, number, { key });
    expect([again.text, again.headers.get("idempotent-replay")]).toEqual([second.text, "true"]);
  });

  it("is replayed while another request holds the lock of its key", async () => {
    const { number } = await board.api.card();
    const key = `key-${randomUUID()}`;
    const first = await write(board.api, number, { key });
    await whileLocked(board.db, lockKey(key), async () => {
      const again = await write(board.api, number, { key });
      expect([again.text, again.headers.get("idempotent-replay")]).toEqual([first.text, "true"]);
      expect((await write(board.api, number, { key: `${key}-not-done` })).status).toBeLessThan(300);
    });
  });

  it("returns 401 and changes nothing for a credential that was revoked after the process cached it", async () => {
    const api = await board.as({ role: "member" });
    const { number } = await board.api.card();
    expect((await write(api, number)).status).toBeLessThan(300);
    await revokeCredential(board.db, api.apiKey.split("_")[1] ?? "");
    await settled(world);
    const before = await databaseContent(world.service);
    expect((await write(api, number)).status).toBe(401);
    expect(await databaseContent(world.service)).toEqual(before);
  });

  it("returns 503 when its database connection is lost, and the retry executes it", async () => {
    const { number } = await board.api.card();
    const key = `key-${randomUUID()}`;
    const responses: Promise<ApiResponse>[] = [];
    await whileLocked(board.db, lockCard(number), async () => {
      responses.push(write(board.api, number, { key }));
      await untilWaitingForLock(board.db);
      await board.db.raw(
        "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      expect((await Promise.all(responses))[0]?.status).toBe(503);
    });
    const retried = await write(board.api, number, { key });
    expect([retried.status < 300, retried.headers.get("idempotent-replay")]).toEqual([true, null]);
  });
});

it("concurrent updates of several cards each have their own response and timeline event", async () => {
  const { api } = board;
  const cards = await Promise.all(Array.from({ length: 8 }, () => api.card()));
  const [labelled = 0, deleted = 0, wronglyAssigned = 0, twice = 0, ...plain] = cards.map(
    ({ number }) => number,
  );
  const label = await api.post<{ id: string }>("/v1/labels", { name: "Label" });
  await api.patch(`/v1/cards/${labelled}`, { labelIds: [label.body.id] });
  await api.delete(`/v1/cards/${deleted}`);
  const foreign = await world.board();
  const theirs = await foreign.api.post<{ createdBy: { id: string } }>("/v1/cards", { title: "Theirs" });
  const revoked = await board.as({ role: "member" });
  await revoked.patch(`/v1/cards/${twice}`, { title: "Before" });
  await revokeCredential(board.db, revoked.apiKey.split("_")[1] ?? "");

  const changes = [
    { title: '{"ü", NULL}' },
    { dueDate: "2026-11-30", title: "Due" },
    { priority: "high" },
    { dueDate: null, priority: "low" },
    { title: "Only another title" },
    { priority: "urgent", title: "\\" },
  ];
  const done = [labelled, twice, ...plain].map((number, at) => ({ number, change: changes[at] ?? {} }));
  const responses: ApiResponse[] = await Promise.all([
    revoked.patch(`/v1/cards/${twice}`, { title: "After" }),
    api.patch(`/v1/cards/${deleted}`, { title: "Gone" }),
    api.patch(`/v1/cards/${wronglyAssigned}`, { assigneeId: theirs.body.createdBy.id }),
    ...done.map(({ number, change }) => api.patch(`/v1/cards/${number}`, change)),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([401, 404, 400, ...done.map(() => 200)]);

  const updatesOf = async (number: number): Promise<unknown[]> =>
    (await api.timeline(number)).filter(({ kind }) => kind === "updated");
  for (const [at, { number, change }] of done.entries()) {
    const card = await api.get(`/v1/cards/${number}`);
    expect(card.body).toEqual(responses[at + 3]?.body);
    expect(card.body).toMatchObject({ ...change, number });
    expect((await updatesOf(number)).at(-1)).toMatchObject({
      data: { fields: Object.keys(change) },
    });
  }
  expect((await api.get(`/v1/cards/${labelled}`)).body).toMatchObject({ labels: [{ name: "Label" }] });
  const counts = [wronglyAssigned, labelled, twice, ...plain].map(
    async (number) => (await updatesOf(number)).length,
  );
  expect(await Promise.all(counts)).toEqual([0, 2, 2, ...plain.map(() => 1)]);
});

it("concurrent new cards each have their own response, with consecutive numbers and positions", async () => {
  interface CreatedCard extends ApiCard {
    readonly createdBy: { readonly id: string };
  }
  const create = (by: Api, input: object, options?: CallOptions) =>
    by.post<CreatedCard>("/v1/cards", input, options);
  const { api } = board;
  const theirs = await create((await world.board()).api, { title: "Theirs" });
  const revoked = await board.as({ role: "member" });
  await revoked.card();
  await revokeCredential(board.db, revoked.apiKey.split("_")[1] ?? "");
  const mine = await create(api, { title: "Mine" });

  const key = `key-${randomUUID()}`;
  const inputs = [
    { title: '{"ü", NULL}', description: "A\nB\\" },
    { title: "Due", dueDate: "2026-11-30", hotfix: true },
    { title: "Not linked", repositoryIds: [], priority: "high" },
    { title: "Assigned", assigneeId: mine.body.createdBy.id },
    { title: "In a given project", projectId: board.projectId },
    ...Array.from({ length: 5 }, (_, at) => ({ title: `Plain ${at}` })),
  ];
  const responses: ApiResponse<CreatedCard>[] = await Promise.all([
    create(revoked, { title: "Revoked" }),
    create(api, { title: "Wrongly assigned", assigneeId: theirs.body.createdBy.id }),
    create(api, { title: "Repeated" }, { key }),
    ...inputs.map((input) => create(api, input)),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([401, 400, 201, ...inputs.map(() => 201)]);
  const again = await create(api, { title: "Repeated" }, { key });
  expect([again.text, again.headers.get("idempotent-replay")]).toEqual([responses[2]?.text, "true"]);

  const created = responses.slice(3).map(({ body }) => body);
  for (const [at, card] of created.entries()) {
    const {
      repositoryIds,
      projectId: _,
      assigneeId,
      ...plain
    } = { repositoryIds: null, projectId: "", assigneeId: null, ...inputs[at] };
    expect(card).toMatchObject({
      ...plain,
      assignee: assigneeId === null ? null : { id: assigneeId },
      repositories: repositoryIds === null ? mine.body.repositories : [],
    });
    expect((await api.get(`/v1/cards/${card.number}`)).body).toEqual(card);
    const timeline = await api.timeline(card.number);
    expect(timeline).toMatchObject([{ kind: "created", data: { number: card.number } }]);
  }
  const all = responses.slice(2).map(({ body: { number, position } }) => ({ number, position }));
  const { number, position } = mine.body;
  expect(all.toSorted((a, b) => a.number - b.number)).toEqual(
    all.map((_, at) => ({ number: number + 1 + at, position: position + 1 + at })),
  );
});

it("a new card is placed after a last card with an unusual rank", async () => {
  const last = await board.api.card();
  await board
    .db("cards")
    .where({ id: last.id })
    .update({ rank: "z".repeat(27) });
  const next = await board.api.card();
  expect(next).toMatchObject({ number: last.number + 1, position: last.position + 1 });
  const after = await board.api.card();
  expect(after).toMatchObject({ number: next.number + 1, position: next.position + 1 });
});

it("statements prepared on small tables use indexes after the tables grow", async () => {
  const another = await startWorld();
  try {
    const { api } = await another.board();
    const { number } = (await api.post("/v1/cards", { title: "First" })).body as { number: number };
    const numbers = [number, number + 1, number + 2, number + 3];
    for (const _ of numbers.slice(1)) await api.post("/v1/cards", { title: "One more" });
    const { db } = another.service.deps;
    // Deletes by index: a sequential scan of this delete could be reported after `before` is read.
    await db.raw("delete from idempotency_keys k using credentials c where k.credential_id = c.id");
    await db.raw("analyze");
    const tables = ["cards", "idempotency_keys", "timeline_items", "card_labels"];
    const reads = async (): Promise<{ table: string; whole: number; entries: number }[]> =>
      rows(
        db,
        `select t.relname as "table", t.seq_scan as whole,
                (select cast(sum(i.idx_tup_read) as bigint) from pg_stat_user_indexes i where i.relid = t.relid) as entries
           from pg_stat_user_tables t where t.schemaname = 'public' and t.relname = any(:tables) order by t.relname`,
        { tables },
      );
    const before = await reads();
    const service = await startSecondService(another);
    const there = makeApi(service.baseUrl, api.apiKey);
    const callAll = async (turn: number): Promise<void> => {
      await there.post("/v1/cards", { title: "Another" });
      await there.patch(`/v1/cards/${number}`, { title: `Title ${turn}` });
      await Promise.all(numbers.map((each) => there.patch(`/v1/cards/${each}`, { title: `Turn ${turn}` })));
      await Promise.all(numbers.map(() => there.post("/v1/cards", { title: "One of several" })));
      await there.post(`/v1/cards/${number}/comments`, { body: "Hello" });
      await there.get(`/v1/cards/${number}`);
    };
    // Often enough for PostgreSQL to switch to generic plans.
    for (let turn = 0; turn < 8; turn++) await callAll(turn);
    // The tables grow without `analyze`. A single full read would read 10,000 entries, as often as
    // the foreign key of the new cards' claims reads them.
    await db.raw(
      `insert into cards (id, workspace_id, project_id, number, title, stage_id, rank, created_by)
       select gen_random_uuid(), c.workspace_id, c.project_id, c.number + 10000 + n, '', s.id, 'a' || n || 'V', c.created_by
         from cards c join stages s on s.project_id = c.project_id and s.name = 'Done', generate_series(1, 10000) n where c.number = ?`,
      [number],
    );
    await db.raw(
      `insert into idempotency_keys (credential_id, key, fingerprint, state, status, body)
       select c.id, 'grown-' || n, '', 'done', 200, '' from credentials c, generate_series(1, 10000) n`,
    );
    for (let turn = 0; turn < 4; turn++) await callAll(turn);
    // PostgreSQL reports what a connection has read at its end.
    await service.stop();
    const after = await reads();
    expect(after.map(({ whole }) => whole)).toEqual(before.map(({ whole }) => whole));
    const read = after.map(({ table, entries }, at) => [table, entries - (before[at]?.entries ?? 0)]);
    expect(read.filter(([, entries]) => Number(entries) > 20_000)).toEqual([]);
  } finally {
    await another.stop();
  }
});
