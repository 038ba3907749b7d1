import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { firstRow, rows, type Db } from "../db/connect.ts";
import { STAMP, type CachedCredential } from "../tenancy/credentials.ts";
import { kindOn } from "../tenancy/users.ts";

/**
 * A project's board as JSON text, in SQL: columns in flow order without the backlog, cards in their
 * order. `project` and `workspace` are expressions, never input. Concatenating text, and rendering
 * each assignee and label once, takes half the time of json_agg or less (500 cards: 3.3 ms for 6.8,
 * 5,000: 25 for 95).
 */
const boardText = (project: string, workspace: string): string => `(
  with people as materialized (
    select u.id, json_build_object('id', u.id, 'name', u.name, 'avatarUrl', u.avatar_url,
                                   'kind', ${kindOn(workspace, "u")})::text as json
      from users u
     where u.id in (select c.assignee_id from cards c where c.project_id = ${project} and c.deleted_at is null)),
  marks as materialized (
    select l.id, l.folded_name, json_build_object('id', l.id, 'name', l.name, 'color', l.color)::text as json
      from labels l where l.workspace_id = ${workspace})
  select '{"columns":[' || coalesce(string_agg(
           '{"statusId":"' || s.id || '","name":' || to_json(s.name) || ',"kind":"' || s.kind
           || '","minRole":"' || s.min_role || '","rule":{"type":"' || s.rule_type
           || '","into":' || coalesce(to_json(s.rule_into)::text, 'null') || '},"tasks":[' || coalesce((
             select string_agg(
                      '{"id":"' || c.id || '","number":' || c.number || ',"title":' || to_json(c.title)
                      || ',"projectId":"' || c.project_id || '","statusId":"' || c.stage_id
                      || '","priority":"' || c.priority || '","assignee":' || coalesce(a.json, 'null')
                      || ',"labels":[' || coalesce((
                        select string_agg(m.json, ',' order by m.folded_name)
                          from card_labels cl join marks m on m.id = cl.label_id where cl.card_id = c.id), '')
                      || ']}', ',' order by c.rank)
               from cards c left join people a on a.id = c.assignee_id
              where c.stage_id = s.id and c.deleted_at is null), '')
           || ']}', ',' order by s.position), '') || ']}'
    from stages s where s.project_id = ${project} and s.kind <> 'backlog')`;

/** The bytes of an answer in JSON and their strong ETag. */
export class ReadyAnswer {
  readonly body: Buffer;
  readonly etag: string;

  constructor(json: string) {
    this.body = Buffer.from(json);
    this.etag = `"${createHash("sha256").update(this.body).digest("base64url").slice(0, 27)}"`;
  }
}

interface BoardQuestion {
  readonly workspaceId: string;
  /** Null means the board's only project. */
  readonly projectId: string | null;
}

export interface ReadyBoards {
  /**
   * The board's bytes: from the cache when no transaction has changed what they show, otherwise
   * from PostgreSQL. Null unless exactly one project matches. Either statement confirms the
   * credential.
   */
  read(db: Db, cached: CachedCredential, question: BoardQuestion): Promise<ReadyAnswer | null>;
}

/** A cached board, valid until a transaction outside its snapshot changes it. */
interface Kept {
  readonly projectId: string;
  /** What the board was read in. */
  readonly snapshot: string;
  /** Identifies the server process: another one may reuse the snapshot's transaction ids. */
  readonly server: string;
  readonly answer: ReadyAnswer;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Shorter than the time for which changes are kept. */
const KEPT_MS = 30 * 60_000;
const CHANGES_KEPT = "interval '2 hours'";

export function createReadyBoards(): ReadyBoards {
  const kept = new LRUCache<string, Kept>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ answer }) => answer.body.byteLength,
    ttl: KEPT_MS,
  });

  async function readAnew(
    db: Db,
    clientId: string,
    key: string,
    question: BoardQuestion,
  ): Promise<Read | null> {
    const start = performance.now();
    const found = await readBoard(db, clientId, question);
    if (!found) return null;
    const { stamp, text, ...rest } = found;
    if (text === null) return { stamp, answer: null };
    const answer = new ReadyAnswer(text);
    kept.set(key, { ...rest, answer }, { start });
    return { stamp, answer };
  }

  const join = createJoin();

  return {
    async read(db, cached, question) {
      const { clientId } = cached.credential;
      const key = `${question.workspaceId} ${question.projectId ?? ""}`;
      const known = kept.get(key);
      if (known) {
        const { server, snapshot } = known;
        const ask = () => askWhether(db, clientId, question, known);
        const found = await join(`${clientId} ${key} ${server} ${snapshot}`, ask);
        if (found) cached.confirm(found.stamp);
        if (found?.holds) return known.answer;
      }
      const board = await join(`${clientId} ${key}`, () => readAnew(db, clientId, key, question));
      if (!board) return null;
      cached.confirm(board.stamp);
      return board.answer;
    },
  };
}

interface Stamped {
  readonly stamp: string | null;
}

/** What was read for a credential; without an answer where not one project is meant. */
interface Read extends Stamped {
  readonly answer: ReadyAnswer | null;
}

const IS_GOOD = `
  select ${STAMP} as stamp, p.id as "projectId",
         pg_postmaster_start_time()::text = :server
         and not exists (select 1 from board_changes b
                       where b.project_id = p.id and b.xid >= pg_snapshot_xmin(:snapshot::pg_snapshot)
                         and not pg_visible_in_snapshot(b.xid, :snapshot::pg_snapshot)) as holds
    from projects p
   where p.workspace_id = :workspaceId and (:projectId::uuid is null or p.id = :projectId) limit 2`;

/**
 * Whether the cached board is the requested one and no transaction outside its snapshot has changed
 * it. A separate statement: planning one that also renders the board takes twice as long.
 */
async function askWhether(
  db: Db,
  clientId: string,
  { workspaceId, projectId }: BoardQuestion,
  known: Kept,
): Promise<(Stamped & { readonly holds: boolean }) | null> {
  const { snapshot, server } = known;
  const found = await rows<Stamped & { readonly projectId: string; readonly holds: boolean }>(db, IS_GOOD, {
    workspaceId,
    projectId,
    snapshot,
    server,
    clientId,
  });
  const [first, second] = found;
  if (!first) return null;
  const { stamp } = first;
  return { stamp, holds: !second && first.projectId === known.projectId && first.holds };
}

const READ_BOARD = `
  select ${STAMP} as stamp, p.id as "projectId", pg_current_snapshot()::text as snapshot,
         pg_postmaster_start_time()::text as server,
         case when p.candidates = 1 then ${boardText("p.id", "p.workspace_id")} end as text
    from (select id, workspace_id, count(*) over () as candidates from projects
           where workspace_id = :workspaceId and (:projectId::uuid is null or id = :projectId) limit 1) p`;

/**
 * The current board and its snapshot, without text unless one project matches; null without any.
 */
const readBoard = (
  db: Db,
  clientId: string,
  { workspaceId, projectId }: BoardQuestion,
): Promise<(Stamped & Omit<Kept, "answer"> & { readonly text: string | null }) | null> =>
  firstRow(db, READ_BOARD, { workspaceId, projectId, clientId });

/** Drops changes that no cached board needs, and returns their number. */
export async function dropOldBoardChanges(db: Db): Promise<number> {
  return db("board_changes")
    .where("at", "<", db.raw(`now() - ${CHANGES_KEPT}`))
    .delete();
}

/** Runs `work` once for all callers with the same key that ask at the same time. */
type Join = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Shares work between callers with the same key. A caller that arrives while `work` runs shares the
 * next run, which starts after the current one ends, so every result is read after its caller
 * asked. At most one run per key is in progress.
 */
export function createJoin(): Join {
  const underWay = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<unknown>>();

  async function begin(key: string, work: () => Promise<unknown>): Promise<unknown> {
    const begun = work();
    underWay.set(key, begun);
    try {
      return await begun;
    } finally {
      underWay.delete(key);
    }
  }

  function afterwards(key: string, before: Promise<unknown>, work: () => Promise<unknown>): Promise<unknown> {
    const begun = before
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        next.delete(key);
        return begin(key, work);
      });
    next.set(key, begun);
    return begun;
  }

  return <T>(key: string, work: () => Promise<T>) => {
    const before = underWay.get(key);
    const shared = before
      ? (next.get(key) ?? afterwards(key, before, work))
      : (next.get(key) ?? begin(key, work));
    return shared as Promise<T>;
  };
}
