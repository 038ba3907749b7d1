import { headsOf, type WorkByRepository } from "../../flow/readiness.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
import { column, exists, firstRow, firstValue, isoTime, rows, type Db, type Trx } from "../db/connect.ts";
import { isLimitedSql } from "../forge/forge-limits.ts";
import { userJsonSql, type User } from "../tenancy/users.ts";

/** A move that waits until it is ready. */
export interface ArmedMove {
  readonly id: string;
  readonly cardId: string;
  readonly workspaceId: string;
  readonly projectId: string;
  readonly stageId: string;
  readonly index: number;
  readonly actorId: string;
  readonly isHuman: boolean;
  readonly armedWith: WorkByRepository;
  readonly waitingFor: readonly BlockedReason[];
  readonly isExpired: boolean;
  /** The attempt of the audit log that armed it. */
  readonly attemptId: string | null;
}

const ARMED = `
  select a.id, a.card_id as "cardId", a.workspace_id as "workspaceId",
         (select c.project_id from cards c where c.id = a.card_id) as "projectId", a.stage_id as "stageId", a.index,
         a.actor_id as "actorId", a.is_human as "isHuman", a.armed_with as "armedWith", a.waiting_for as "waitingFor",
         a.expires_at <= clock_timestamp() as "isExpired", a.attempt_id as "attemptId"
    from armed_moves a`;

export async function findArmed(db: Db, cardId: string): Promise<ArmedMove | null> {
  return firstRow<ArmedMove>(db, `${ARMED} where a.card_id = :cardId`, { cardId });
}

export interface NewArmedMove extends Omit<ArmedMove, "projectId" | "isExpired" | "attemptId"> {
  readonly expiresInHours: number;
}

/** Arms a move. The caller has locked the card and deleted its earlier armed move. */
export async function insertArmed(trx: Trx, armed: NewArmedMove): Promise<void> {
  await rows(
    trx,
    `insert into armed_moves (card_id, id, workspace_id, stage_id, index, actor_id, is_human, armed_with, waiting_for, expires_at)
     values (:cardId, :id, :workspaceId, :stageId, :index, :actorId, :isHuman, cast(:armedWith as jsonb),
             cast(:waitingFor as jsonb), now() + :expiresInHours * interval '1 hour')`,
    { ...armed, armedWith: JSON.stringify(armed.armedWith), waitingFor: JSON.stringify(armed.waitingFor) },
  );
}

/** Stores what an armed move waits for, and when it was inspected. */
export async function saveWaitingFor(
  db: Db,
  id: string,
  waitingFor: readonly BlockedReason[],
): Promise<void> {
  await rows(
    db,
    "update armed_moves set waiting_for = cast(:waitingFor as jsonb), inspected_at = now() where id = :id",
    { id, waitingFor: JSON.stringify(waitingFor) },
  );
}

/** Disarms a move. False if it is disarmed already. */
export const deleteArmed = (trx: Trx, id: string): Promise<boolean> =>
  exists(trx, "delete from armed_moves where id = :id returning 1", { id });

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
    'id', a.id, 'statusId', a.stage_id, 'by', ${userJsonSql("a.workspace_id", "u")},
    'expiresAt', ${isoTime("a.expires_at")},
    'heads', (select coalesce(json_agg(json_build_object('fullName', r.full_name, 'sha', w.value->>'sha')
                                       order by r.full_name), '[]')
                from jsonb_each(a.armed_with) w join repositories r on r.id = cast(w.key as uuid)),
    'waitingFor', a.waiting_for)`;

/** SQL for the armed move of the card `c` as JSON, or null. */
export const CARD_ARMED = `
  (select ${ARMED_JSON} from armed_moves a join users u on u.id = a.actor_id
    where a.card_id = c.id and a.expires_at > now())`;

export async function readArmed(trx: Trx, cardId: string): Promise<ShownArmed> {
  const armed = await firstValue<ShownArmed>(
    trx,
    `select ${ARMED_JSON} as armed from armed_moves a join users u on u.id = a.actor_id where a.card_id = :cardId`,
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
    `select card_id from armed_moves
      where stage_id = :stageId and waiting_for @> '[{"reason": "wip_limit"}]' order by card_id`,
    { stageId },
  );

/** Lists the armed moves of a project's cards. */
export const listArmedOfProject = (db: Db, projectId: string): Promise<ArmedMove[]> =>
  rows<ArmedMove>(
    db,
    `${ARMED} join cards c on c.id = a.card_id where c.project_id = :projectId order by a.card_id`,
    { projectId },
  );

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
    `select array_agg(due.id order by due.inspected_at, due.id)
       from (select a.id, a.inspected_at, w.organization_id,
                    sum((select count(*) from jsonb_object_keys(a.armed_with))) over (
                      partition by w.organization_id order by a.inspected_at, a.id) as branches,
                    row_number() over (partition by w.organization_id order by a.inspected_at, a.id) as place
               from armed_moves a join workspaces w on w.id = a.workspace_id
              where a.inspected_at <= now() - :minAgeMs * interval '1 millisecond' and a.expires_at > now()
                and not ${isLimitedSql(REPOSITORIES)}
                and not exists (select 1 from operations o where o.card_id = a.card_id and o.state in ('running', 'queued'))
            ) due
      where due.branches <= :maxBranches or due.place = 1 group by due.organization_id order by due.organization_id`,
    { minAgeMs, maxBranches },
  );

/**
 * The age of each head in milliseconds, by repository id: since the push (GitHub's time) or since
 * the move was armed, whichever is earlier.
 */
export async function readHeadAges(
  db: Db,
  cardId: string,
  work: WorkByRepository,
): Promise<ReadonlyMap<string, number>> {
  const heads = headsOf(work);
  const ages = await rows<{ repositoryId: string; ageMs: number }>(
    db,
    `select h.key as "repositoryId",
            cast(extract(epoch from now() - least(
              (select max(t.at) from timeline_items t
                where t.card_id = :cardId and t.kind = 'pushed' and t.repository_id = cast(h.key as uuid)
                  and t.data->>'after' = h.value),
              (select a.created_at from armed_moves a where a.card_id = :cardId and a.armed_with->h.key->>'sha' = h.value)
            )) * 1000 as double precision) as "ageMs"
       from jsonb_each_text(cast(:heads as jsonb)) h`,
    { cardId, heads: JSON.stringify(heads) },
  );
  return new Map(ages.map(({ repositoryId, ageMs }) => [repositoryId, ageMs ?? 0]));
}
