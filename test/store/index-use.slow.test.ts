import { beforeAll, expect, it } from "@jest/globals";
import { seedHistory } from "../../bench/seed-history.ts";
import type { BenchBoard } from "../../bench/seed.ts";
import { makeCredentialKey } from "../../src/actions/credentials/credential-key.ts";
import { CARD_SORTS } from "../../src/store/cards/card-list.ts";
import { connect, rows } from "../../src/store/db/connect.ts";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { allProcessed, cardWithStatuses, deliver } from "../support/forge/deliveries.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";

/** Cards of the board under test, and of each other board in the same tables. */
const CARDS = 240;
const CARDS_OF_OTHER_BOARDS = 60;
const OTHER_BOARDS = 120;

/** Tables that grow with use. */
const GROWING_TABLES = [
  "board_changes",
  "card_labels",
  "card_repositories",
  "cards",
  "check_reports",
  "credentials",
  "deliveries",
  "idempotency_keys",
  "landings",
  "operations",
  "pull_requests",
  "release_cards",
  "release_tags",
  "releases",
  "search_texts",
  "timeline_items",
];

/** Rows that calls, deliveries and moves create. */
const CREATED_ROWS = [
  `insert into idempotency_keys (credential_id, key, fingerprint, state, status, body)
   select c.id, 'key-' || n, '', 'done', 201, '{}' from credentials c, generate_series(1, 100) n`,
  `insert into credentials (id, client_id, user_id, name, scopes, secret_hash)
   select gen_random_uuid(), 'c' || n || u.id, u.id, 'old', '{read}', '' from users u, generate_series(1, 100) n`,
  `insert into deliveries (guid, event, lane, payload, state)
   select gen_random_uuid(), 'push', 'repository:' || n % 50, '{}', 'done' from generate_series(1, 20000) n`,
  `insert into operations (id, workspace_id, kind, card_id, stage_id, input, actor_id, state)
   select gen_random_uuid(), c.workspace_id, 'move', c.id, c.stage_id, '{}', c.created_by, 'done' from cards c`,
  `insert into check_reports (repository_id, sha, source, name, forge_id, outcome)
   select p.repository_id, p.head_sha, 'status', 'ci-' || n, n, 'passing' from pull_requests p, generate_series(1, 2) n`,
  `insert into board_changes (project_id, xid)
   select p.id, cast(cast(n as text) as xid8) from projects p, generate_series(1, 300) n on conflict do nothing`,
];

const world = useWorld();
let board: BenchBoard;
beforeAll(async () => {
  await world.board();
  const seeding = connect({ connectionString: urlFor("seeding"), onError: () => undefined });
  board = await seedHistory(seeding, CARDS);
  for (let other = 1; other <= OTHER_BOARDS; other++)
    await seedHistory(seeding, CARDS_OF_OTHER_BOARDS + other);
  for (const sql of CREATED_ROWS) await seeding.raw(sql);
  await seeding.raw("analyze");
  await seeding.destroy();
  await untilDisconnected("seeding");
});

/** The database URL for connections with this application name. */
function urlFor(name: string): string {
  const url = new URL(world.databaseUrl);
  url.searchParams.set("application_name", name);
  return url.href;
}

/** Waits for the end of these connections, because they report their statistics then at the latest. */
async function untilDisconnected(name: string): Promise<void> {
  const left = () =>
    rows(world.service.deps.db, "select 1 from pg_stat_activity where application_name = :name", { name });
  await eventually(left, (found) => found.length === 0);
}

/** Common calls. Each is repeated until PostgreSQL uses one plan for all values. */
const calls: Readonly<Record<string, (api: Api, turn: number) => Promise<{ readonly status: number }>>> = {
  "creating a card": (api) => api.post("/v1/cards", { title: "New" }),
  "changing a card": (api, turn) => api.patch(`/v1/cards/${turn + 1}`, { title: `Title ${turn}` }),
  "a move to the top": (api, turn) => api.move(4 * turn + 1, stage(1), 0),
  "a move down a column": (api, turn) => api.move(4 * turn + 1, stage(1), 20 + turn),
  "a move to another column": (api, turn) => api.move(turn + 1, stage(1 + (turn % 4)), 3),
  "a comment": (api, turn) => api.post(`/v1/cards/${turn + 1}/comments`, { body: "Hello" }),
  "reading a card": (api, turn) => api.get(`/v1/cards/${turn * 25 + 1}`),
  "reading a timeline": (api, turn) => api.get(`/v1/cards/${turn + 1}/timeline`),
  "the backlog": (api) => api.get("/v1/backlog?limit=50"),
  "a list of cards": (api, turn) => api.get(`/v1/cards?sort=${CARD_SORTS[turn % 5]}&limit=50`),
  "a list of the cards of a stage": (api, turn) =>
    api.get(`/v1/cards?statusId=${stage(1)}&assignee=none&sort=${CARD_SORTS[turn % 5]}`),
  "a list of cards with a word": (api, turn) => api.get(`/v1/cards?q=word${turn}`),
  "a search for a word of all boards": (api) => api.get("/v1/search?q=card"),
  "a search for texts without a word": (api) => api.get("/v1/search?q=-missing"),
  "the board": (api) => api.get("/v1/board"),
  "the inbox": (api) => api.get("/v1/inbox"),
  "the trunk report": (api) => api.get("/v1/trunk"),
  "the releases": (api) => api.get("/v1/releases"),
  "the labels": (api) => api.get("/v1/labels"),
  "the pages": (api) => api.get("/v1/docs"),
  "a wrong API key": ({ baseUrl }) => makeApi(baseUrl, makeCredentialKey().text).get("/v1/me"),
  "a repeated idempotency key": (api) => api.post("/v1/labels", { name: "bug", color: "red" }),
};
const stage = (at: number): string => board.stages[at]?.id ?? "";
const REPETITIONS = 8;
/** The largest part of a table that one call may read. The board has a sixtieth of the rows. */
const MAX_PART = 1 / 15;

/** What was read of a table so far: the full scans, and the rows and index entries. */
interface Read {
  readonly scans: number;
  readonly entries: number;
  readonly rows: number;
}

async function readSoFar(): Promise<Map<string, Read>> {
  const found = await rows<Read & { readonly table: string }>(
    world.service.deps.db,
    `select t.relname as "table", t.seq_scan as scans, t.n_live_tup as rows,
            cast(t.seq_tup_read + (select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) as bigint) as entries
       from pg_stat_user_tables t where t.schemaname = 'public' and t.relname = any(cast(:tables as text[]))`,
    { tables: GROWING_TABLES },
  );
  expect(found).toHaveLength(GROWING_TABLES.length);
  return new Map(found.map(({ table, ...read }) => [table, read]));
}

/** Full scans, and reads of many rows of other boards, by a process that does this work. */
async function readOfOthers(work: (baseUrl: string, webhookUrl: string) => Promise<void>): Promise<string[]> {
  const before = await readSoFar();
  const measured = { ...world, databaseUrl: urlFor("measured") };
  const service = await startSecondService(measured, undefined, { followsTimetable: false });
  try {
    await work(service.baseUrl, service.webhookUrl);
  } finally {
    await service.stop();
  }
  await untilDisconnected("measured");
  const after = await readSoFar();
  return GROWING_TABLES.flatMap((table) => {
    const [was, is] = [before.get(table), after.get(table)];
    if (!was || !is) return [];
    if (is.scans > was.scans) return [`all of ${table}`];
    const each = Math.round((is.entries - was.entries) / REPETITIONS);
    return each > MAX_PART * is.rows ? [`${each} of ${is.rows} ${table}`] : [];
  });
}

it.each(Object.keys(calls))("%s reads only rows of its board, by an index", async (name) => {
  const read = await readOfOthers(async (baseUrl) => {
    const api = makeApi(baseUrl, board.apiKey);
    for (let turn = 0; turn < REPETITIONS; turn++) {
      expect((await calls[name]?.(api, turn))?.status).toBeLessThan(500);
    }
  });
  expect(read).toEqual([]);
});

it("a webhook and its processing read only rows of its card", async () => {
  const other = await world.board();
  const { status } = await cardWithStatuses(world, other);
  const read = await readOfOthers(async (_, url) => {
    for (let turn = 0; turn < REPETITIONS; turn++) {
      const payload = status(turn % 2 === 0 ? "failure" : "success");
      expect((await deliver(world, "status", payload, { url })).status).toBe(202);
    }
    await allProcessed(world);
  });
  expect(read).toEqual([]);
});
