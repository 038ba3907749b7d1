/**
 * The least anyone could do on the same PostgreSQL: bare node:http and pg, one prepared statement for each call, no authentication, no idempotency,
 * no validation, no log. A process of its own; its arguments are the database and the board. It works on copies of the tables
 * with their indexes and without foreign keys and triggers.
 */
import { randomUUID, timingSafeEqual } from "node:crypto";
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { generateKeyBetween } from "fractional-indexing";
import { Pool } from "pg";
import { hookSignature } from "./hook.ts";
import { REPORT_FLOORS } from "./report-floors.ts";

const [connectionString, workspaceId, projectId, userId, doing, backlog] = process.argv.slice(2);
const pool = new Pool({ connectionString, max: 10 });

const statements = {
  ...REPORT_FLOORS,
  board: `
    select json_build_object('columns', json_agg(json_build_object(
             'statusId', s.id, 'name', s.name, 'kind', s.kind, 'minRole', s.min_role,
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
    with taken as (update floor.workspaces set next_card_number = next_card_number + 1 where id = $1
                   returning next_card_number - 1 as number),
         made as (insert into floor.cards (id, workspace_id, project_id, number, title, stage_id, rank, created_by)
                  select $2, $1, $3, number, $4, $5, 'z' || lpad(number::text, 9, '0'), $6 from taken returning id, number),
         told as (insert into floor.timeline_items (id, card_id, type, kind, actor_id)
                  select $7, id, 'event', 'created', $6 from made)
    select json_build_object('id', id, 'number', number, 'title', $4::text)::text as body from made`,
  update: `
    with changed as (update floor.cards set title = $3, updated_at = now() where workspace_id = $1 and number = $2
                     returning id, number, title),
         told as (insert into floor.timeline_items (id, card_id, type, kind, actor_id)
                  select $4, id, 'event', 'updated', $5 from changed)
    select json_build_object('id', id, 'number', number, 'title', title)::text as body from changed`,
  neighbours: `select rank from floor.cards where stage_id = $1 and deleted_at is null order by rank limit 1`,
  move: `
    with moved as (update floor.cards set stage_id = $3, rank = $4, updated_at = now()
                    where workspace_id = $1 and number = $2 returning id, number, stage_id),
         told as (insert into floor.timeline_items (id, card_id, type, kind, actor_id)
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

const ask = async (name: keyof typeof statements, values: unknown[]): Promise<string> =>
  (await pool.query<{ body: string }>({ name, text: statements[name], values })).rows[0]?.body ?? "";

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await answer(request);
  response.setHeader("Content-Type", "application/json");
  response.end(body);
}

const forgeAgent = new Agent({ keepAlive: true });

/** How long a call to the forge takes, in milliseconds. */
const askForge = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const from = performance.now();
    get(url, { agent: forgeAgent }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(performance.now() - from));
    }).on("error", reject);
  });

/** Ranks handed out here and nowhere else: this is the only writer. */
let top: string | null | undefined;
let first: Promise<string | null> | undefined;
let turn = 0;

async function answer(request: IncomingMessage): Promise<string> {
  const [, what = "", number = ""] = (request.url ?? "").split("/");
  if (what === "board" || what === "inbox" || what === "trunk") return ask(what, [projectId]);
  if (what === "forge") return JSON.stringify({ ms: await askForge(decodeURIComponent(number)) });
  if (what === "card") return ask("card", [workspaceId, Number(number)]);
  const bytes = await bytesOf(request);
  if (what === "hook") {
    const expected = Buffer.from(hookSignature(bytes));
    const given = Buffer.from(String(request.headers["x-hub-signature-256"]));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return "";
    const { "x-github-delivery": guid, "x-github-event": event } = request.headers;
    await ask("hook", [guid, event, bytes.toString("utf8")]);
    return "{}";
  }
  const body = JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
  switch (what) {
    case "create":
      return ask("create", [
        workspaceId,
        randomUUID(),
        projectId,
        body["title"],
        backlog,
        userId,
        randomUUID(),
      ]);
    case "update":
      return ask("update", [workspaceId, Number(number), body["title"], randomUUID(), userId]);
    case "move": {
      // Asked once, however many callers come first.
      first ??= pool
        .query<{ rank: string }>(statements.neighbours, [doing])
        .then(({ rows }) => rows[0]?.rank ?? null);
      const before = await first;
      top = generateKeyBetween(null, top === undefined ? before : top);
      const stage = turn++ % 2 === 0 ? doing : backlog;
      return ask("move", [workspaceId, Number(number), stage, top, randomUUID(), userId]);
    }
    default:
      return ask("comment", [workspaceId, Number(number), randomUUID(), body["body"], userId]);
  }
}

const server = createServer((request, response) => {
  void reply(request, response);
});
const hello = express();
hello.get("/hello", (_request, response) => {
  response.json({ hello: "world" });
});
const helloServer = hello.listen(0, "127.0.0.1", () => {
  server.listen(0, "127.0.0.1", () => {
    const portOf = (one: typeof server): number => (one.address() as AddressInfo).port;
    console.log(JSON.stringify({ port: portOf(server), helloPort: portOf(helloServer) }));
  });
});
