import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { firstRow, rows, type Db } from "../db/connect.ts";
import { createJoin } from "../db/join.ts";
import type { CachedCredential } from "../tenancy/cached-credential.ts";
import { STAMP } from "../tenancy/credentials.ts";
import { boardText } from "./board.ts";

/** The bytes of an answer in JSON and their strong ETag. */
export class ReadyAnswer {
  readonly body: Buffer;
  readonly etag: string;

  constructor(json: string) {
    this.body = Buffer.from(json);
    this.etag = `"${createHash("sha256").update(this.body).digest("base64url").slice(0, 27)}"`;
  }
}

export interface BoardQuestion {
  readonly workspaceId: string;
  /** Null means the board's only project. */
  readonly projectId: string | null;
}

export interface ReadyBoards {
  /**
   * The board's bytes: those at hand when no transaction has changed what they show, else as PostgreSQL writes them now. Null unless it is one project that is
   * meant. Either statement confirms the credential.
   */
  read(db: Db, cached: CachedCredential, question: BoardQuestion): Promise<ReadyAnswer | null>;
}

/** One board as a process keeps it: good while no transaction outside the snapshot has changed it. */
interface Kept {
  readonly projectId: string;
  /** What the board was read in. */
  readonly snapshot: string;
  /** Names this run of the server: another, such as a replica that took over, may give other transactions the numbers the snapshot speaks of. */
  readonly server: string;
  readonly answer: ReadyAnswer;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Kept for less long than the changes it is compared with. */
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
 * Whether the known board is still the one that is meant, and no transaction outside its snapshot has changed it. A statement of its own: were the board's text in
 * it, too, an unchanged one would take PostgreSQL twice as long, for making the plan ready.
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

/** The board as it is now, with the snapshot it was read in, its text null unless one project is meant; null where there is none. */
const readBoard = (
  db: Db,
  clientId: string,
  { workspaceId, projectId }: BoardQuestion,
): Promise<(Stamped & Omit<Kept, "answer"> & { readonly text: string | null }) | null> =>
  firstRow(db, READ_BOARD, { workspaceId, projectId, clientId });

/** Drops what no board at hand is compared with any more, and gives how much. */
export async function dropOldBoardChanges(db: Db): Promise<number> {
  return db("board_changes")
    .where("at", "<", db.raw(`now() - ${CHANGES_KEPT}`))
    .delete();
}
