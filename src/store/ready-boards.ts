import { createHash } from "node:crypto";
import { rows, type Db } from "./connect.ts";
import { STAMP } from "./credentials.ts";
import type { Presumption } from "./presumption.ts";

/** The bytes of an answer and their strong ETag. */
export class ReadyAnswer {
  readonly body: Buffer;
  readonly etag: string;

  constructor(answer: unknown) {
    this.body = Buffer.from(JSON.stringify(answer));
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
   * The board's bytes: those at hand when no transaction has changed what they show, else what `build` reads now. `build` throws where there is
   * no such board. The same statement settles who asks.
   */
  read(
    db: Db,
    presumed: Presumption,
    question: BoardQuestion,
    build: () => Promise<unknown>,
  ): Promise<ReadyAnswer>;
}

/** One board as a process keeps it: good while no transaction outside the snapshot has changed it. */
interface Kept {
  readonly projectId: string;
  /** Taken before the board was read, so the board shows all of it and maybe more. */
  readonly snapshot: string;
  readonly server: string;
  readonly since: number;
  readonly answer: Promise<ReadyAnswer>;
  bytes: number;
}

interface BoardState {
  readonly projectId: string;
  readonly snapshot: string;
  /** Names this run of the server: another, such as a replica that took over, may give other transactions the numbers the snapshot speaks of. */
  readonly server: string;
  readonly isChanged: boolean;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** A board that is still being read counts as this much. */
const BYTES_UNREAD = 64 * 1024;
/** Kept for less long than the changes it is compared with. */
const KEPT_MS = 30 * 60_000;
const CHANGES_KEPT = "interval '2 hours'";

export function createReadyBoards(clock: () => number = () => performance.now()): ReadyBoards {
  /** The one used longest ago first. */
  const kept = new Map<string, Kept>();
  let bytes = 0;

  function drop(key: string, board: Kept): void {
    if (kept.get(key) !== board) return;
    kept.delete(key);
    bytes -= board.bytes;
  }

  function keep(key: string, board: Kept): void {
    const before = kept.get(key);
    if (before) drop(key, before);
    kept.set(key, board);
    bytes += board.bytes;
    for (const [otherKey, other] of kept) {
      if (bytes <= MAX_BYTES) break;
      drop(otherKey, other);
    }
  }

  function begin(key: string, state: BoardState, build: () => Promise<unknown>): Promise<ReadyAnswer> {
    const answer = build().then((built) => new ReadyAnswer(built));
    const { projectId, snapshot, server } = state;
    const board: Kept = { projectId, snapshot, server, since: clock(), answer, bytes: BYTES_UNREAD };
    keep(key, board);
    void settle(key, board);
    return answer;
  }

  /** Weighs a board once it has been read; one that could not be is not kept. */
  async function settle(key: string, board: Kept): Promise<void> {
    try {
      const { body } = await board.answer;
      if (kept.get(key) !== board) return;
      drop(key, board);
      board.bytes = body.byteLength;
      keep(key, board);
    } catch {
      drop(key, board);
    }
  }

  return {
    async read(db, presumed, question, build) {
      const key = `${question.workspaceId} ${question.projectId ?? ""}`;
      const at = kept.get(key);
      const known = at && clock() - at.since < KEPT_MS ? at : null;
      const state = await readState(db, presumed, question, known?.snapshot ?? null);
      if (!state) return new ReadyAnswer(await build());
      if (!known || state.isChanged || !isSame(known, state)) return begin(key, state, build);
      if (kept.get(key) === known) {
        kept.delete(key);
        kept.set(key, known);
      }
      return known.answer;
    },
  };
}

const isSame = (known: Kept, state: BoardState): boolean =>
  known.projectId === state.projectId && known.server === state.server;

/** Which project is meant, the snapshot of now, and whether anything has changed its board outside the known one; null unless it is one project. */
async function readState(
  db: Db,
  presumed: Presumption,
  question: BoardQuestion,
  known: string | null,
): Promise<BoardState | null> {
  const { workspaceId, projectId } = question;
  const found = await rows<BoardState & { readonly stamp: string | null }>(
    db,
    `select ${STAMP} as stamp, p.id as "projectId", pg_current_snapshot()::text as snapshot, pg_postmaster_start_time()::text as server,
            exists (select 1 from board_changes b
                     where b.project_id = p.id and b.xid >= pg_snapshot_xmin(:known::pg_snapshot)
                       and not pg_visible_in_snapshot(b.xid, :known::pg_snapshot)) as "isChanged"
       from projects p
      where p.workspace_id = :workspaceId and (:projectId::uuid is null or p.id = :projectId) limit 2`,
    { workspaceId, projectId, known, clientId: presumed.credential.clientId },
  );
  if (found[0]) presumed.settle(found[0].stamp);
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Drops what no board at hand is compared with any more, and gives how much. */
export async function dropOldBoardChanges(db: Db): Promise<number> {
  return db("board_changes")
    .where("at", "<", db.raw(`now() - ${CHANGES_KEPT}`))
    .delete();
}
