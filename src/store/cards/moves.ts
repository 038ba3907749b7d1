import { firstRow, firstValue, rows, type Db } from "../db/connect.ts";
import { OPERATION, type MoveOperation, type OwnedOperation } from "../ops/operations.ts";

/** A merge by a move. */
export interface RecordedMerge {
  readonly fullName: string;
  readonly targetBranch: string;
  readonly prNumber: number;
}

/** The largest index. An index past the end of a stage means its end. */
export const MAX_INDEX = 2_147_483_647;

/** The unfinished move of a card, or null. */
export async function findOpenMove(db: Db, cardId: string): Promise<MoveOperation | null> {
  return firstRow<MoveOperation>(
    db,
    `${OPERATION} where o.card_id = :cardId and o.state in ('running', 'queued')`,
    { cardId },
  );
}

export interface EarlierMove {
  readonly state: MoveOperation["state"];
  /** The response of a finished move. */
  readonly result: unknown;
}

/** The move that an earlier attempt of the same request started, or null. */
export async function findMoveOfRequest(
  db: Db,
  request: { readonly cardId: string; readonly stageId: string; readonly requestId: string | null },
): Promise<EarlierMove | null> {
  return firstRow(
    db,
    `select state, result from operations
      where card_id = :cardId and stage_id = :stageId and request_id = :requestId
      order by state = 'done' desc, created_at desc limit 1`,
    request,
  );
}

/** Records a merge of the move. Recording it again changes nothing. */
export async function recordMerge(db: Db, move: OwnedOperation, merge: RecordedMerge): Promise<void> {
  await rows(
    db,
    `update operations
        set progress = jsonb_set(progress, '{promoted}', progress->'promoted' || cast(:added as jsonb)), updated_at = now()
      where id = :id and generation = :generation and not progress->'promoted' @> cast(:added as jsonb)`,
    { id: move.id, generation: move.generation, added: JSON.stringify([merge]) },
  );
}

export async function listRecordedMerges(db: Db, moveId: string): Promise<RecordedMerge[]> {
  const promoted = "select progress->'promoted' as promoted from operations where id = :moveId";
  return (await firstValue<RecordedMerge[]>(db, promoted, { moveId })) ?? [];
}

/**
 * The user of the card's last move with Git that took effect or runs. Later effects of its stage are
 * attributed to that user.
 */
export async function findLastMover(db: Db, cardId: string): Promise<string | null> {
  return firstValue<string>(
    db,
    `select actor_id as "actorId" from operations where card_id = :cardId and state in ('done', 'running', 'queued')
      order by updated_at desc limit 1`,
    { cardId },
  );
}
