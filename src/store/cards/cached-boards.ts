import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { firstRow, rows, type Db } from "../db/connect.ts";
import { createReadSharing } from "../db/share-reads.ts";
import { CREDENTIAL_VERSION, type CachedCredential } from "../tenancy/credentials.ts";
import { userKindSql } from "../tenancy/users.ts";
import { CLAIM_FIELDS, IS_HELD } from "./claim-columns.ts";

/**
 * SQL for whether the claim `k` is held in a workspace. `workspace` is an SQL expression, never input.
 * `not k.end_recorded` holds for every held claim; with it, PostgreSQL can use a partial index.
 */
const heldIn = (workspace: string): string =>
  `k.workspace_id = ${workspace} and not k.end_recorded and ${IS_HELD}`;

/**
 * SQL for a project's board as JSON text, without the backlog. `project` and `workspace` are SQL
 * expressions, never input.
 *
 * A field that you add needs a line in `http/v1/board.ts`, and a trigger that fires when its value
 * changes (`migrations/0004_board_reads.sql`, for claims `0013_claims.sql`).
 *
 * Concatenating text and rendering each assignee and label only once takes at most half the time of
 * json_agg (500 cards: 3.3 instead of 6.8 ms; 5,000: 25 instead of 95).
 */
const boardText = (project: string, workspace: string): string => `(
  with assignees as materialized (
    select u.id, json_build_object('id', u.id, 'name', u.name, 'avatarUrl', u.avatar_url,
                                   'kind', ${userKindSql(workspace, "u")})::text as json
      from users u
     where u.id in (select c.assignee_id from cards c where c.project_id = ${project} and c.deleted_at is null)),
  board_labels as materialized (
    select l.id, l.folded_name, json_build_object('id', l.id, 'name', l.name, 'color', l.color)::text as json
      from labels l where l.workspace_id = ${workspace}),
  held as materialized (
    select k.card_id, json_build_object(${CLAIM_FIELDS})::text as json from claims k join users h on h.id = k.user_id
     where ${heldIn(workspace)})
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
                          from card_labels cl join board_labels m on m.id = cl.label_id where cl.card_id = c.id), '')
                      || ']' || coalesce(',"claim":' || held.json, '') || '}', ',' order by c.rank)
               from cards c left join assignees a on a.id = c.assignee_id left join held on held.card_id = c.id
              where c.stage_id = s.id and c.deleted_at is null), '')
           || ']}', ',' order by s.position), '') || ']}'
    from stages s where s.project_id = ${project} and s.kind <> 'backlog')`;

/** The bytes of a response in JSON and their strong ETag. */
export class RenderedResponse {
  readonly body: Buffer;
  readonly etag: string;

  constructor(json: string) {
    this.body = Buffer.from(json);
    this.etag = `"${createHash("sha256").update(this.body).digest("base64url").slice(0, 27)}"`;
  }
}

interface BoardQuestion {
  readonly workspaceId: string;
  /** Null means the only project of the workspace. */
  readonly projectId: string | null;
}

export interface CachedBoards {
  /**
   * The columns of a project: from the cache if no transaction has changed them, otherwise from
   * PostgreSQL. Null unless exactly one project matches. Also revalidates the credential.
   */
  read(db: Db, cachedCredential: CachedCredential, question: BoardQuestion): Promise<BoardResult | null>;
}

export interface BoardResult {
  readonly response: RenderedResponse;
  /** The newest event of the feed when the board was read: the board includes its effect. */
  readonly feedSeq: number;
}

/**
 * A cached board. It is valid until a transaction outside its snapshot changes the board, or the
 * first claim of its workspace expires.
 */
interface CachedBoard {
  readonly projectId: string;
  readonly snapshot: string;
  /** The start time of the server: another server may use the same transaction ids. */
  readonly server: string;
  /** When the first claim of its workspace expires, by PostgreSQL's clock. */
  readonly validUntil: string;
  readonly response: RenderedResponse;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Shorter than `CHANGES_KEPT`: a cached board needs all changes since its read. */
const MAX_AGE_MS = 30 * 60_000;
const CHANGES_KEPT = "interval '2 hours'";

export function createCachedBoards(): CachedBoards {
  const cache = new LRUCache<string, CachedBoard>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ response }) => response.body.byteLength,
    ttl: MAX_AGE_MS,
  });

  async function load(
    db: Db,
    clientId: string,
    key: string,
    question: BoardQuestion,
  ): Promise<LoadedBoard | null> {
    const start = performance.now();
    const found = await readBoard(db, clientId, question);
    if (!found) return null;
    const { credentialVersion, text, feedSeq, ...rest } = found;
    if (text === null) return { credentialVersion, feedSeq, response: null };
    const response = new RenderedResponse(text);
    cache.set(key, { ...rest, response }, { start });
    return { credentialVersion, feedSeq, response };
  }

  const shareRead = createReadSharing();

  return {
    async read(db, cachedCredential, question) {
      const { clientId } = cachedCredential.credential;
      const key = `${question.workspaceId} ${question.projectId ?? ""}`;
      const known = cache.get(key);
      if (known) {
        const { server, snapshot } = known;
        const check = () => checkBoard(db, clientId, question, known);
        const checked = await shareRead(`${clientId} ${key} ${server} ${snapshot}`, check);
        if (checked) cachedCredential.confirmVersion(checked.credentialVersion);
        if (checked?.isValid) return { response: known.response, feedSeq: checked.feedSeq };
      }
      const board = await shareRead(`${clientId} ${key}`, () => load(db, clientId, key, question));
      if (!board) return null;
      cachedCredential.confirmVersion(board.credentialVersion);
      const { response, feedSeq } = board;
      return response && { response, feedSeq };
    },
  };
}

interface BoardRow {
  readonly credentialVersion: string | null;
  readonly feedSeq: number;
}

/** SQL for the newest event in the feed of the workspace that has the project `p`. */
const FEED_SEQ = `(select f.head from feeds f where f.workspace_id = p.workspace_id) as "feedSeq"`;

interface LoadedBoard extends BoardRow {
  /** Null if several projects match. */
  readonly response: RenderedResponse | null;
}

const CHECK_BOARD = `
  select ${CREDENTIAL_VERSION} as "credentialVersion", ${FEED_SEQ}, p.id as "projectId",
         pg_postmaster_start_time()::text = :server and now() < :validUntil::timestamptz
         and not exists (select 1 from board_changes b
                       where b.project_id = p.id and b.xid >= pg_snapshot_xmin(:snapshot::pg_snapshot)
                         and not pg_visible_in_snapshot(b.xid, :snapshot::pg_snapshot)) as "isValid"
    from projects p
   where p.workspace_id = :workspaceId and (:projectId::uuid is null or p.id = :projectId) limit 2`;

interface CheckedBoard extends BoardRow {
  readonly projectId: string;
  readonly isValid: boolean;
}

/**
 * Checks that the cached board is the requested one and unchanged. A separate statement, because
 * planning one that also renders the board takes twice as long.
 */
async function checkBoard(
  db: Db,
  clientId: string,
  question: BoardQuestion,
  { snapshot, server, validUntil, projectId }: CachedBoard,
): Promise<CheckedBoard | null> {
  const bindings = { ...question, snapshot, server, validUntil, clientId };
  const [first, second] = await rows<CheckedBoard>(db, CHECK_BOARD, bindings);
  if (!first) return null;
  return { ...first, isValid: !second && first.projectId === projectId && first.isValid };
}

const READ_BOARD = `
  select ${CREDENTIAL_VERSION} as "credentialVersion", ${FEED_SEQ}, p.id as "projectId", pg_current_snapshot()::text as snapshot,
         pg_postmaster_start_time()::text as server,
         (select coalesce(min(k.expires_at), 'infinity')::text from claims k
           where ${heldIn("p.workspace_id")}) as "validUntil",
         case when p.candidates = 1 then ${boardText("p.id", "p.workspace_id")} end as text
    from (select id, workspace_id, count(*) over () as candidates from projects
           where workspace_id = :workspaceId and (:projectId::uuid is null or id = :projectId) limit 1) p`;

/** `text` is null if several projects match. */
const readBoard = (
  db: Db,
  clientId: string,
  question: BoardQuestion,
): Promise<(BoardRow & Omit<CachedBoard, "response"> & { readonly text: string | null }) | null> =>
  firstRow(db, READ_BOARD, { ...question, clientId });

/** Deletes changes that no cached board needs. Returns their number. */
export async function dropOldBoardChanges(db: Db): Promise<number> {
  return db("board_changes")
    .where("at", "<", db.raw(`now() - ${CHANGES_KEPT}`))
    .delete();
}
