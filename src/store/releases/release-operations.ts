import { firstRow, firstValue, type Db, type Trx } from "../db/connect.ts";
import { OPERATION, type ReleaseOperation } from "../ops/operations.ts";

/** The unfinished operation on a release, or null. */
export async function findOpenOperation(db: Db, releaseId: string): Promise<ReleaseOperation | null> {
  return firstRow<ReleaseOperation>(
    db,
    `${OPERATION} where o.release_id = :releaseId and o.state = 'running'`,
    { releaseId },
  );
}

/** The running or successful operation that an earlier attempt of the same request started. */
export async function findOperationOfRequest(
  db: Db,
  releaseId: string,
  requestId: string,
): Promise<ReleaseOperation | null> {
  return firstRow<ReleaseOperation>(
    db,
    `${OPERATION} where o.request_id = :requestId and o.release_id = :releaseId and o.state in ('running', 'done')
        and o.created_at > now() - interval '24 hours'
      order by o.created_at desc limit 1`,
    { releaseId, requestId },
  );
}

/** The board of an operation on a release, or null if there is no such operation. */
export async function findWorkspaceOfOperation(db: Db, operationId: string): Promise<string | null> {
  const workspace = `select workspace_id from operations where id = :operationId and kind <> 'move'`;
  return firstValue<string>(db, workspace, { operationId });
}

/** Marks an unfinished operation as cancelled. Null if it has ended; `isNew` unless it was marked before. */
export const markCancelled = (trx: Trx, operationId: string): Promise<{ readonly isNew: boolean } | null> =>
  firstRow(
    trx,
    `update operations set cancelled_at = coalesce(cancelled_at, now())
      where id = :operationId and state = 'running' returning cancelled_at = now() as "isNew"`,
    { operationId },
  );

/** The name of a release that one of these cards is being picked into, or null. */
export async function findRunningPick(db: Db, cardIds: readonly string[]): Promise<string | null> {
  return firstValue<string>(
    db,
    `select r.name from operations o join releases r on r.id = o.release_id
      where o.picked_card_id = any(:cardIds) and o.state = 'running' limit 1`,
    { cardIds: [...cardIds] },
  );
}
