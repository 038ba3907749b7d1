/**
 * The floors: minimal implementations on the same PostgreSQL with bare node:http and pg, one
 * prepared statement per call, without authentication, idempotency, validation and log. They use
 * copies of the tables with indexes, without foreign keys and triggers. Arguments: the connection
 * string and the boards as JSON.
 */
import { randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { generateKeyBetween } from "fractional-indexing";
import { Pool } from "pg";
import { listCardsSql } from "../src/store/cards/card-list.ts";
import { SEARCH } from "../src/store/cards/search.ts";
import { INBOX } from "../src/store/inbox/list-inbox.ts";
import { TRUNK_REPORT } from "../src/store/forge/trunk-report.ts";
import { webhookSignature } from "./webhook-signature.ts";
import type { BenchBoard } from "./seed.ts";

/** A statement with SQL instead of its bindings. */
const bound = (sql: string, bindings: Readonly<Record<string, string>>): string =>
  sql.replaceAll(/(?<!:):([A-Za-z]\w*)/g, (found, name: string) => bindings[name] ?? found);

const statements = {
  search: `
    select coalesce(json_agg(r), '[]')::text as body from (${bound(SEARCH, {
      workspaceId: "$1::uuid",
      query: `'"word17"'`,
      isPrefix: "false",
      scope: `('''=' || $1::uuid || ''' & (''=card'' | ''=page'' | ''=comment'')')`,
      cardNumber: "0",
      limit: "20",
    })}) r`,
  "cards-filtered": `
    select coalesce(json_agg(r), '[]')::text as body
      from (${bound(listCardsSql({ statusId: "", assigneeIds: [] }, "number", false), {
        workspaceId: "$1",
        statusId: "$2",
        limit: "50",
      })}) r`,
  inbox: `
    select coalesce(json_agg(i order by i.at desc, i.id desc), '[]')::text as body
      from (${INBOX.replaceAll(":projectId", "$1")}) i`,
  trunk: `
    select row_to_json(report)::text as body
      from (${TRUNK_REPORT.replaceAll(":projectId", "$1")
        .replaceAll(":begin", "date_trunc('day', now()) - interval '30 days'")
        .replaceAll(":end", "date_trunc('day', now()) + interval '1 day'")}) report`,
  board: `
    select json_build_object('columns', json_agg(json_build_object(
             'statusId', s.id, 'name', s.name, 'kind', s.kind, 'minRole', s.min_role,
             'rule', json_build_object('type', s.rule_type, 'into', s.rule_into),
             'tasks', coalesce((
               select json_agg(json_build_object(
                        'id', c.id, 'number', c.number, 'title', c.title, 'projectId', c.project_id,
                        'statusId', c.stage_id, 'priority', c.priority,
                        'assignee', case when a.id is null then null else json_build_object(
                          'id', a.id, 'name', a.name, 'avatarUrl', a.avatar_url, 'kind', a.kind) end,
                        'labels', coalesce((
                          select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color))
                            from card_labels cl join labels l on l.id = cl.label_id where cl.card_id = c.id), '[]'))
                      order by c.rank)
                 from floor.cards c left join users a on a.id = c.assignee_id
                where c.stage_id = s.id and c.deleted_at is null), '[]'))
           order by s.position))::text as body
      from stages s where s.project_id = $1 and s.kind <> 'backlog'`,
  card: `
    select json_build_object(
             'id', c.id, 'projectId', c.project_id, 'number', c.number, 'title', c.title, 'description', c.description,
             'statusId', c.stage_id,
             'position', (select count(*) from floor.cards above
                           where above.stage_id = c.stage_id and above.deleted_at is null and above.rank < c.rank),
             'priority', c.priority,
             'assignee', case when a.id is null then null else json_build_object(
               'id', a.id, 'name', a.name, 'avatarUrl', a.avatar_url, 'kind', a.kind) end,
             'labels', coalesce((
               select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color))
                 from card_labels cl join labels l on l.id = cl.label_id where cl.card_id = c.id), '[]'),
             'createdBy', json_build_object('id', b.id, 'name', b.name, 'avatarUrl', b.avatar_url, 'kind', b.kind),
             'blocked', c.blocked, 'repositories', '[]'::json, 'featureId', c.feature_id, 'dueDate', c.due_date,
             'hotfix', c.hotfix, 'createdAt', c.created_at, 'updatedAt', c.updated_at)::text as body
      from floor.cards c join users b on b.id = c.created_by left join users a on a.id = c.assignee_id
     where c.workspace_id = $1 and c.number = $2 and c.deleted_at is null`,
  create: `
    with counter as (update floor.workspaces set next_card_number = next_card_number + 1 where id = $1
                   returning next_card_number - 1 as number),
         inserted as (insert into floor.cards (id, workspace_id, project_id, number, title, stage_id, rank, created_by)
                  select $2, $1, $3, number, $4, $5, 'z' || lpad(number::text, 9, '0'), $6 from counter returning id, number),
         recorded as (insert into floor.timeline_items (id, card_id, type, kind, actor_id)
                  select $7, id, 'event', 'created', $6 from inserted)
    select json_build_object('id', id, 'number', number, 'title', $4::text)::text as body from inserted`,
  update: `
    with changed as (update floor.cards set title = $3, updated_at = now() where workspace_id = $1 and number = $2
                     returning id, number, title),
         recorded as (insert into floor.timeline_items (id, card_id, type, kind, actor_id)
                  select $4, id, 'event', 'updated', $5 from changed)
    select json_build_object('id', id, 'number', number, 'title', title)::text as body from changed`,
  top: `select rank as body from floor.cards where stage_id = $1 and deleted_at is null order by rank limit 1`,
  move: `
    with moved as (update floor.cards set stage_id = $3, rank = $4, updated_at = now()
                    where workspace_id = $1 and number = $2 returning id, number, stage_id),
         recorded as (insert into floor.timeline_items (id, card_id, type, kind, actor_id)
                  select $5, id, 'event', 'status_changed', $6 from moved)
    select json_build_object('task', json_build_object('number', number, 'statusId', stage_id, 'blocked', null),
                             'promoted', '[]'::json)::text as body from moved`,
  comment: `
    insert into floor.timeline_items (id, card_id, type, actor_id, body)
    select $3, id, 'comment', $5, $4 from floor.cards where workspace_id = $1 and number = $2
    returning json_build_object('id', id, 'body', body, 'at', at)::text as body`,
  hook: `
    insert into floor.deliveries (guid, event, lane, payload) values ($1, $2, 'floor', $3) on conflict do nothing`,
} as const;

const [connectionString = "", boardsJson = "[]"] = process.argv.slice(2);
const pool = new Pool({ connectionString, max: 10 });

const query = async (name: keyof typeof statements, values: unknown[]): Promise<string> =>
  (await pool.query<{ body: string }>({ name, text: statements[name], values })).rows[0]?.body ?? "";

/** Adds the rank at the top of the first column. This process is the only writer of the boards. */
async function withTop(board: BenchBoard): Promise<BenchBoard & { top: string | null }> {
  return { ...board, top: (await query("top", [board.stages[1]?.id])) || null };
}

const boards = new Map(
  (await Promise.all((JSON.parse(boardsJson) as BenchBoard[]).map(withTop))).map((board) => [
    board.projectId,
    board,
  ]),
);

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function acceptHook(request: IncomingMessage): Promise<string> {
  const bytes = await bytesOf(request);
  const expected = Buffer.from(webhookSignature(bytes));
  const given = Buffer.from(String(request.headers["x-hub-signature-256"]));
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Error("The signature is wrong.");
  const { "x-github-delivery": guid, "x-github-event": event } = request.headers;
  await query("hook", [guid, event, bytes.toString("utf8")]);
  return "{}";
}

/** Responds to `/<statement>/<project>/<card>`. */
async function handle(request: IncomingMessage): Promise<string> {
  const [, what = "", projectId = "", number = ""] = (request.url ?? "").split("/");
  if (what === "hook") return acceptHook(request);
  const board = boards.get(projectId);
  if (!board) throw new Error(`There is no board ${projectId}.`);
  const { workspaceId, userId, stages } = board;
  if (what === "board" || what === "inbox" || what === "trunk") return query(what, [projectId]);
  if (what === "search") return query(what, [workspaceId]);
  if (what === "cards-filtered") return query(what, [workspaceId, stages[1]?.id]);
  if (what === "card") return query("card", [workspaceId, number]);
  const body = JSON.parse((await bytesOf(request)).toString("utf8")) as Record<string, unknown>;
  const id = randomUUID();
  switch (what) {
    case "create": {
      const backlog = stages[0]?.id;
      return query("create", [workspaceId, randomUUID(), projectId, body["title"], backlog, userId, id]);
    }
    case "update":
      return query("update", [workspaceId, number, body["title"], id, userId]);
    case "move":
      board.top = generateKeyBetween(null, board.top);
      return query("move", [workspaceId, number, body["statusId"], board.top, id, userId]);
    case "comment":
      return query("comment", [workspaceId, number, id, body["body"], userId]);
    default:
      throw new Error(`There is no floor ${what}.`);
  }
}

const server = createServer((request, response) => {
  handle(request).then(
    (body) => response.setHeader("Content-Type", "application/json").end(body),
    (error: unknown) => {
      response.statusCode = 500;
      response.end(String(error));
    },
  );
});
const hello = createServer(
  express().get("/hello", (_request, response) => {
    response.json({ hello: "world" });
  }),
);
const ports = [server, hello].map(async (each) => {
  await once(each.listen(0, "127.0.0.1"), "listening");
  return (each.address() as AddressInfo).port;
});
console.log(JSON.stringify(await Promise.all(ports)));
