import { atOnce, doAtOnce, type AtOnce, type KeyedRequest } from "./at-once.ts";
import { isCardNumber } from "./cards.ts";
import { rows, type Db } from "./connect.ts";
import { rankBeyond, rankBetween, shareColumn, someFraction } from "./placing.ts";

export interface CardMove {
  readonly workspaceId: string;
  readonly number: number;
  readonly stageId: string;
  /** 0 is the top; past the end is the end. */
  readonly index: number;
  readonly eventId: string;
  readonly actorId: string;
  /** Names the request across its retries. */
  readonly requestId: string;
  /** The least roles of stages that the caller may move a card into. */
  readonly roles: readonly string[];
  /** The rules of stages that ask for no Git. */
  readonly rulesWithoutGit: readonly string[];
}

/** The rank of the card at that end of the column, other than the one that is moved there. */
const atEnd = (end: "first" | "last"): string => `
  left join lateral (
       select c.rank from cards c where c.stage_id = entering.into_id and c.deleted_at is null and c.id <> entering.id
        order by c.rank ${end === "first" ? "" : "desc"} limit 1) ${end} on cast(:goesTo as text) = '${end}'`;

/**
 * Of a card that is there and that no move is at work on, into a stage of its project's flow that the caller may use and that asks for no Git of it. A request whose
 * move was finished without it is not one of these: it is answered with what came of that. That
 * nobody is at work on it is asked when its row is held, as by whoever begins such a move.
 */
const MOVE_AT_ONCE = atOnce(
  `card as (
     select c.id, c.project_id, c.stage_id from free
       join cards c on c.workspace_id = :workspaceId and c.number = :number and c.deleted_at is null
        for no key update of c),
   entering as materialized (
     select card.id, card.stage_id as from_id, s.id as into_id from card
       join stages s on s.id = :stageId and s.project_id = card.project_id
      where s.min_role = any(cast(:roles as text[])) and not is_being_moved(card.id)
        and not has_finished(card.id, :requestId)
        and (s.id = card.stage_id or s.rule_type = any(cast(:rulesWithoutGit as text[]))
             or not exists (select 1 from card_repositories cr where cr.card_id = card.id))),
   place as materialized (
     select entering.*, ${shareColumn("entering.into_id")},
            case cast(:goesTo as text) when 'first' then ${rankBeyond("first.rank", "first")}
                                       when 'last' then ${rankBeyond("last.rank", "last")} else cast(:rank as text) end as rank
       from entering ${atEnd("first")} ${atEnd("last")}),
   placed as (
     update cards c
        set stage_id = place.into_id, rank = place.rank, updated_at = now(),
            blocked = case when place.from_id = place.into_id then c.blocked end
       from place where c.id = place.id
     returning c.id, c.number, c.stage_id, c.blocked, place.from_id),
   told as (
     insert into timeline_items (id, card_id, type, kind, actor_id, data)
     select :eventId, placed.id, 'event', 'status_changed', :actorId, jsonb_build_object('from', placed.from_id, 'to', placed.stage_id)
       from placed where placed.from_id <> placed.stage_id),
   answer as (
     select json_build_object('task', json_build_object('number', number, 'statusId', stage_id, 'blocked', blocked),
                              'promoted', json_build_array())::text as body, null as stale from placed)`,
  200,
);

/** Places a card and tells of it, with the answer. A place between two others is looked up first; should somebody take it meanwhile nothing is done. */
export async function moveAtOnce(db: Db, request: KeyedRequest, move: CardMove): Promise<AtOnce> {
  if (!isCardNumber(move.number)) return null;
  const { index, roles, rulesWithoutGit, ...bindings } = move;
  const place = index === 0 ? ({ goesTo: "first", rank: null } as const) : await placeAt(db, move);
  // Of one column: who waits for it holds no other. Ranks between two others come to be the same where many go there, and then those that hold several would wait for each other.
  const company =
    place.rank === null ? { group: `move ${move.workspaceId} ${move.stageId}`, order: move.number } : null;
  return doAtOnce(db, MOVE_AT_ONCE, 200, request, company, {
    ...bindings,
    ...place,
    roles: [...roles],
    rulesWithoutGit: [...rulesWithoutGit],
    fraction: someFraction(),
  });
}

async function placeAt(
  db: Db,
  { workspaceId, number, stageId, index }: CardMove,
): Promise<{ readonly goesTo: "last" | null; readonly rank: string | null }> {
  const [above, below] = await rows<{ rank: string }>(
    db,
    `select rank from cards
      where stage_id = :stageId and deleted_at is null and (workspace_id <> :workspaceId or number <> :number)
      order by rank offset :offset limit 2`,
    { workspaceId, number, stageId, offset: index - 1 },
  );
  return above && below
    ? { goesTo: null, rank: rankBetween(above.rank, below.rank) }
    : { goesTo: "last", rank: null };
}
