import type { WorkByRepository } from "../../flow/readiness.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import type { MoveOperation } from "../ops/operations.ts";
import { column, exists, firstRow, firstValue, isoTime, rows, type Db, type Trx } from "../db/connect.ts";
import { isLimitedSql } from "../forge/forge-limits.ts";
import { userJsonSql, type User } from "../tenancy/users.ts";

/** A move that waits until it is ready, or runs because it was. */
export interface ArmedMove extends Pick<
  MoveOperation,
  "id" | "generation" | "cardId" | "workspaceId" | "stageId" | "input" | "actorId" | "isHuman" | "attemptId"
> {
  readonly projectId: string;
  readonly armedWith: WorkByRepository;
  readonly waitingFor: readonly BlockedReason[];
  readonly isExpired: boolean;
}

const ARMED = `
  select o.id, o.generation, o.card_id as "cardId", o.workspace_id as "workspaceId", c.project_id as "projectId",
         o.stage_id as "stageId", o.input, o.actor_id as "actorId", o.is_human as "isHuman",
         a.armed_with as "armedWith", a.waiting_for as "waitingFor",
         a.expires_at <= clock_timestamp() as "isExpired", o.attempt_id as "attemptId"
    from armed_moves a join operations o on o.id = a.operation_id join cards c on c.id = a.card_id`;

export async function findArmed(db: Db, cardId: string): Promise<ArmedMove | null> {
  return firstRow<ArmedMove>(db, `${ARMED} where a.card_id = :cardId`, { cardId });
}

/** What a move is armed with. */
interface Arming extends Pick<ArmedMove, "id" | "cardId" | "armedWith" | "waitingFor"> {
  readonly expiresInHours: number;
}

/** Arms a move that waits. The caller has locked the card and disarmed its earlier armed move. */
export async function insertArmed(trx: Trx, armed: Arming): Promise<void> {
  await rows(
    trx,
    `insert into armed_moves (operation_id, card_id, armed_with, waiting_for, expires_at)
     values (:id, :cardId, cast(:armedWith as jsonb), cast(:waitingFor as jsonb),
             now() + :expiresInHours * interval '1 hour')`,
    { ...armed, armedWith: JSON.stringify(armed.armedWith), waitingFor: JSON.stringify(armed.waitingFor) },
  );
}

/** Stores what an armed move waits for, and when it was inspected. Whether that has changed. */
export const saveWaitingFor = (
  trx: Trx,
  id: string,
  waitingFor: readonly BlockedReason[],
): Promise<boolean> =>
  exists(
    trx,
    `with before as (select waiting_for from armed_moves where operation_id = :id for no key update),
          saved as (update armed_moves set waiting_for = cast(:waitingFor as jsonb), inspected_at = now()
                     where operation_id = :id)
     select 1 from before where waiting_for is distinct from cast(:waitingFor as jsonb)`,
    { id, waitingFor: JSON.stringify(waitingFor) },
  );

/** Stores when an armed move was inspected that no longer waits. */
export async function recordInspected(db: Db, id: string): Promise<void> {
  await rows(db, "update armed_moves set inspected_at = now() where operation_id = :id", { id });
}

/**
 * Disarms a move. False if it is disarmed already. A move that waits is abandoned; one that runs may
 * not wait again.
 */
export const deleteArmed = (trx: Trx, id: string): Promise<boolean> =>
  exists(
    trx,
    `with disarmed as (delete from armed_moves where operation_id = :id returning operation_id)
     update operations o
        set state = case when o.state = 'waiting' then 'abandoned' else o.state end,
            input = o.input || '{"whenReady": null}', updated_at = now()
       from disarmed where o.id = disarmed.operation_id returning 1`,
    { id },
  );

/** An armed move as its card shows it. */
export interface ShownArmed {
  readonly id: string;
  readonly statusId: string;
  readonly by: User;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly heads: readonly { readonly fullName: string; readonly sha: string }[];
  readonly waitingFor: readonly BlockedReason[];
}

const ARMED_JSON = `
  json_build_object(
    'id', o.id, 'statusId', o.stage_id, 'by', ${userJsonSql("o.workspace_id", "u")},
    'expiresAt', ${isoTime("a.expires_at")},
    'heads', (select coalesce(json_agg(json_build_object('fullName', r.full_name, 'sha', w.value->>'sha')
                                       order by r.full_name), '[]')
                from jsonb_each(a.armed_with) w join repositories r on r.id = cast(w.key as uuid)),
    'waitingFor', a.waiting_for)`;

const WITH_ACTOR =
  "from armed_moves a join operations o on o.id = a.operation_id join users u on u.id = o.actor_id";

/** SQL for the armed move of the card `c` as JSON, or null. */
export const CARD_ARMED = `
  (select ${ARMED_JSON} ${WITH_ACTOR}
    where a.card_id = c.id and a.expires_at > now())`;

export async function readArmed(trx: Trx, cardId: string): Promise<ShownArmed> {
  const armed = await firstValue<ShownArmed>(
    trx,
    `select ${ARMED_JSON} as armed ${WITH_ACTOR} where a.card_id = :cardId`,
    { cardId },
  );
  if (!armed) throw new Error(`The move of the card ${cardId} is not armed.`);
  return armed;
}

/** Whether a card's move is armed, or is being armed or run. */
export async function mayBeArmed(db: Db, cardId: string): Promise<boolean> {
  return exists(
    db,
    `select 1 where exists (select 1 from armed_moves a where a.card_id = :cardId)
        or exists (select 1 from operations o where o.card_id = :cardId and o.state = 'running' and o.input->>'whenReady' is not null)`,
    { cardId },
  );
}

/** Lists the cards whose armed move waits for room in a stage. */
export const listArmedForRoom = (db: Db, stageId: string): Promise<string[]> =>
  column<string>(
    db,
    `select a.card_id from armed_moves a join operations o on o.id = a.operation_id
      where o.stage_id = :stageId and a.waiting_for @> '[{"reason": "wip_limit"}]' order by a.card_id`,
    { stageId },
  );

/** Lists the armed moves of a project's cards. */
export const listArmedOfProject = (db: Db, projectId: string): Promise<ArmedMove[]> =>
  rows<ArmedMove>(db, `${ARMED} where c.project_id = :projectId order by a.card_id`, { projectId });

/** Lists all armed moves. */
export const listArmed = (db: Db): Promise<ArmedMove[]> =>
  rows<ArmedMove>(db, `${ARMED} order by a.card_id`, {});

const REPOSITORIES = "select cr.repository_id from card_repositories cr where cr.card_id = a.card_id";

/**
 * Lists, for each account, the ids of armed moves that were not inspected for `minAgeMs`, the
 * oldest inspection first. Each list has moves with at most `maxBranches` branches in total, but
 * at least one move. Skips cards that are being moved and accounts that GitHub limits.
 */
export const listDueArmed = (
  db: Db,
  { minAgeMs, maxBranches }: { readonly minAgeMs: number; readonly maxBranches: number },
): Promise<string[][]> =>
  column<string[]>(
    db,
    `select array_agg(due.operation_id order by due.inspected_at, due.operation_id)
       from (select a.operation_id, a.inspected_at, w.organization_id,
                    sum((select count(*) from jsonb_object_keys(a.armed_with))) over (
                      partition by w.organization_id order by a.inspected_at, a.operation_id) as branches,
                    row_number() over (partition by w.organization_id order by a.inspected_at, a.operation_id) as place
               from armed_moves a join operations o on o.id = a.operation_id join workspaces w on w.id = o.workspace_id
              where a.inspected_at <= now() - :minAgeMs * interval '1 millisecond' and a.expires_at > now()
                and not ${isLimitedSql(REPOSITORIES)}
                and not exists (select 1 from operations m where m.card_id = a.card_id and m.state in ('running', 'queued'))
            ) due
      where due.branches <= :maxBranches or due.place = 1 group by due.organization_id order by due.organization_id`,
    { minAgeMs, maxBranches },
  );
