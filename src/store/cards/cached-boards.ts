import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { firstRow, rows, type Db } from "../db/connect.ts";
import { createReadSharing } from "../db/share-reads.ts";
import { CREDENTIAL_VERSION, type CachedCredential } from "../tenancy/credentials.ts";
import { boardText, heldIn, insertDetails } from "./board-text.ts";
import { DETAILS_JSON } from "./card-columns.ts";

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
  /** Whether cards have the fields of `include=details`. */
  readonly hasDetails: boolean;
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
 * first claim of its workspace expires; with details, the first armed move.
 */
interface CachedBoard {
  readonly projectId: string;
  readonly snapshot: string;
  /** The start time of the server: another server may use the same transaction ids. */
  readonly server: string;
  /** When the first claim or armed move expires, by PostgreSQL's clock. */
  readonly validUntil: string;
  readonly response: RenderedResponse;
  /** For a board with details: those of its cards, by card id. */
  readonly details: ReadonlyMap<string, string>;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Shorter than `CHANGES_KEPT`: a cached board needs all changes since its read. */
const MAX_AGE_MS = 30 * 60_000;
const CHANGES_KEPT = "interval '2 hours'";

export function createCachedBoards(): CachedBoards {
  const cache = new LRUCache<string, CachedBoard>({
    maxSize: MAX_BYTES,
    // Details are in the response and by card, in strings.
    sizeCalculation: ({ response, details }) => response.body.byteLength * (details.size > 0 ? 2 : 1),
    ttl: MAX_AGE_MS,
  });

  /** `known` is the cached board that is outdated. */
  async function load(
    db: Db,
    clientId: string,
    key: string,
    question: BoardQuestion,
    known: CachedBoard | undefined,
  ): Promise<LoadedBoard | null> {
    const start = performance.now();
    const found = await readBoard(db, clientId, question, known);
    if (!found) return null;
    const { credentialVersion, text, feedSeq, changed, ...rest } = found;
    if (text === null) return { credentialVersion, feedSeq, response: null };
    const complete = insertDetails(text, new Map([...(known?.details ?? []), ...(changed ?? [])]));
    if (!complete) return load(db, clientId, key, question, undefined);
    const response = new RenderedResponse(complete.json);
    cache.set(key, { ...rest, response, details: complete.details }, { start });
    return { credentialVersion, feedSeq, response };
  }

  const shareRead = createReadSharing();

  return {
    async read(db, cachedCredential, question) {
      const { clientId } = cachedCredential.credential;
      const key = `${question.workspaceId} ${question.projectId ?? ""} ${question.hasDetails}`;
      const known = cache.get(key);
      if (known) {
        const { server, snapshot } = known;
        const check = () => checkBoard(db, clientId, question, known);
        const checked = await shareRead(`${clientId} ${key} ${server} ${snapshot}`, check);
        if (checked) cachedCredential.confirmVersion(checked.credentialVersion);
        if (checked?.isValid) return { response: known.response, feedSeq: checked.feedSeq };
      }
      const board = await shareRead(`${clientId} ${key}`, () => load(db, clientId, key, question, known));
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
                       where b.project_id = p.id and (:hasDetails or not b.is_detail) and b.xid >= pg_snapshot_xmin(:snapshot::pg_snapshot)
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

/** SQL for when the first armed move of the project `p` expires; null if none is armed. */
const FIRST_EXPIRY_OF_ARMED = `
  (select min(a.expires_at) from armed_moves a join cards c on c.id = a.card_id
    where c.project_id = p.id and a.expires_at > now())`;

/** SQL for which cards of the project `p` are to be read again: all, or those changed since a snapshot. */
const CHANGED_CARDS = `
  select c.* from cards c
   where c.project_id = p.id and c.deleted_at is null
     and c.stage_id <> (select s.id from stages s where s.project_id = p.id and s.kind = 'backlog')
     and (coalesce(:server <> pg_postmaster_start_time()::text, true)
          or c.id in (select b.card_id from board_changes b
                       where b.project_id = p.id and b.xid >= pg_snapshot_xmin(:snapshot::pg_snapshot)
                         and not pg_visible_in_snapshot(b.xid, :snapshot::pg_snapshot))
          -- Armed moves expire.
          or exists (select 1 from armed_moves a where a.card_id = c.id))`;

const readBoardSql = (hasDetails: boolean): string => `
  select ${CREDENTIAL_VERSION} as "credentialVersion", ${FEED_SEQ}, p.id as "projectId", pg_current_snapshot()::text as snapshot,
         pg_postmaster_start_time()::text as server,
         coalesce(least((select min(k.expires_at) from claims k where ${heldIn("p.workspace_id")}),
                        ${hasDetails ? FIRST_EXPIRY_OF_ARMED : "null"}), 'infinity')::text as "validUntil",
         case when p.candidates = 1 then ${boardText("p.id", "p.workspace_id", hasDetails)} end as text
         ${hasDetails ? `, (select json_agg(json_build_array(c.id, ${DETAILS_JSON}::text)) from (${CHANGED_CARDS}) c) as changed` : ""}
    from (select id, workspace_id, count(*) over () as candidates from projects
           where workspace_id = :workspaceId and (:projectId::uuid is null or id = :projectId) limit 1) p`;

const READ_BOARD = readBoardSql(false);
const READ_DETAILED_BOARD = readBoardSql(true);

interface ReadBoard extends BoardRow, Omit<CachedBoard, "response" | "details"> {
  /** Null if several projects match. */
  readonly text: string | null;
  /** The ids and details of cards whose details may differ from those of the outdated board. */
  readonly changed?: readonly (readonly [cardId: string, details: string])[] | null;
}

const readBoard = (
  db: Db,
  clientId: string,
  { hasDetails, ...question }: BoardQuestion,
  known: CachedBoard | undefined,
): Promise<ReadBoard | null> =>
  hasDetails
    ? firstRow(db, READ_DETAILED_BOARD, {
        ...question,
        clientId,
        snapshot: known?.snapshot ?? null,
        server: known?.server ?? null,
      })
    : firstRow(db, READ_BOARD, { ...question, clientId });

/** Deletes changes that no cached board needs. Returns their number. */
export async function dropOldBoardChanges(db: Db): Promise<number> {
  return db("board_changes")
    .where("at", "<", db.raw(`now() - ${CHANGES_KEPT}`))
    .delete();
}
