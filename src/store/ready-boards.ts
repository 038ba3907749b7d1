import { createHash } from "node:crypto";
import { boardText } from "./board.ts";
import { firstRow, type Db } from "./connect.ts";
import { STAMP } from "./credentials.ts";
import type { Presumption } from "./presumption.ts";

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
   * The board's bytes: those at hand when no transaction has changed what they show, else as the same statement reads it now. Null unless it is one project
   * that is meant. The statement settles who asks.
   */
  read(db: Db, presumed: Presumption, question: BoardQuestion): Promise<ReadyAnswer | null>;
}

/** One board as a process keeps it: good while no transaction outside the snapshot has changed it. */
interface Kept {
  readonly projectId: string;
  /** What the board was read in. */
  readonly snapshot: string;
  /** Names this run of the server: another, such as a replica that took over, may give other transactions the numbers the snapshot speaks of. */
  readonly server: string;
  readonly since: number;
  readonly answer: ReadyAnswer;
}

interface BoardState {
  readonly stamp: string | null;
  readonly projectId: string;
  readonly isOnly: boolean;
  readonly snapshot: string;
  readonly server: string;
  /** Null while the board that is known holds. */
  readonly board: string | null;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** Kept for less long than the changes it is compared with. */
const KEPT_MS = 30 * 60_000;
const CHANGES_KEPT = "interval '2 hours'";

export function createReadyBoards(clock: () => number = () => performance.now()): ReadyBoards {
  /** The one used longest ago first. */
  const kept = new Map<string, Kept>();
  let bytes = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)?.answer.body.byteLength ?? 0;
    kept.delete(key);
  }

  function keep(key: string, board: Kept): void {
    drop(key);
    kept.set(key, board);
    bytes += board.answer.body.byteLength;
    for (const other of kept.keys()) {
      if (bytes <= MAX_BYTES) break;
      drop(other);
    }
  }

  return {
    async read(db, presumed, question) {
      const key = `${question.workspaceId} ${question.projectId ?? ""}`;
      const at = kept.get(key);
      const known = at && clock() - at.since < KEPT_MS ? at : null;
      const since = clock();
      const state = await readState(db, presumed, question, known);
      if (!state?.isOnly) return null;
      if (state.board === null && known) {
        if (kept.get(key) === known) keep(key, known);
        return known.answer;
      }
      const { projectId, snapshot, server, board } = state;
      const answer = new ReadyAnswer(board ?? "");
      keep(key, { projectId, snapshot, server, since, answer });
      return answer;
    },
  };
}

/**
 * Which project is meant, whether it is the only one that could be, and its board where the known one does not hold: where any transaction outside its snapshot has
 * changed it.
 */
async function readState(
  db: Db,
  presumed: Presumption,
  { workspaceId, projectId }: BoardQuestion,
  known: Kept | null,
): Promise<BoardState | null> {
  const state = await firstRow<BoardState>(
    db,
    `select ${STAMP} as stamp, p.id as "projectId", p.candidates = 1 as "isOnly",
            pg_current_snapshot()::text as snapshot, pg_postmaster_start_time()::text as server,
            case when p.candidates = 1
                  and (p.id is distinct from :knownId or pg_postmaster_start_time()::text <> :knownServer
                       or exists (select 1 from board_changes b
                                   where b.project_id = p.id and b.xid >= pg_snapshot_xmin(:known::pg_snapshot)
                                     and not pg_visible_in_snapshot(b.xid, :known::pg_snapshot)))
                 then ${boardText("p.id", "p.workspace_id")} end as board
       from (select id, workspace_id, count(*) over () as candidates from projects
              where workspace_id = :workspaceId and (:projectId::uuid is null or id = :projectId) limit 1) p`,
    {
      workspaceId,
      projectId,
      known: known?.snapshot ?? null,
      knownId: known?.projectId ?? null,
      knownServer: known?.server ?? null,
      clientId: presumed.credential.clientId,
    },
  );
  if (state) presumed.settle(state.stamp);
  return state;
}

/** Drops what no board at hand is compared with any more, and gives how much. */
export async function dropOldBoardChanges(db: Db): Promise<number> {
  return db("board_changes")
    .where("at", "<", db.raw(`now() - ${CHANGES_KEPT}`))
    .delete();
}
