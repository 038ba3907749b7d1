import { atOnce, doAtOnce, type AtOnce, type KeyedRequest } from "./at-once.ts";
import { isCardNumber } from "./cards.ts";
import { rows, type Db } from "./connect.ts";
import { rankBetween, someFraction } from "./placing.ts";

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

const MOVE_AT_ONCE = atOnce("move_card", [
  "workspaceId",
  "number",
  "stageId",
  "goesTo",
  "rank",
  "fraction",
  "roles",
  "rulesWithoutGit",
  "requestId",
  "eventId",
  "actorId",
]);

/** Places a card and tells of it, with the answer. A place between two others is looked up first; should somebody take it meanwhile nothing is done. */
export async function moveAtOnce(db: Db, request: KeyedRequest, move: CardMove): Promise<AtOnce> {
  if (!isCardNumber(move.number)) return null;
  const { workspaceId, number, stageId, requestId, eventId, actorId, roles, rulesWithoutGit } = move;
  const { goesTo, rank } = await placeInColumn(db, move);
  // Of one column: who waits for it holds no other. Ranks between two others come to be the same where many go there, and then those that hold several would wait for each other.
  const company = rank === null ? { group: `move ${workspaceId} ${stageId}`, order: number } : null;
  return doAtOnce(db, MOVE_AT_ONCE, 200, request, company, {
    workspaceId,
    number,
    stageId,
    goesTo,
    rank,
    roles,
    rulesWithoutGit,
    requestId,
    eventId,
    actorId,
    fraction: someFraction(),
  });
}

/** Where a function of the database is to place a card: first, last, or at a rank between two others, which is looked up. */
export async function placeInColumn(
  db: Db,
  { workspaceId, number, stageId, index }: Pick<CardMove, "workspaceId" | "number" | "stageId" | "index">,
): Promise<{ readonly goesTo: "first" | "last" | null; readonly rank: string | null }> {
  if (index === 0) return { goesTo: "first", rank: null };
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
