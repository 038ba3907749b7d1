import { validate as isUuid } from "uuid";
import { firstRow, type Db } from "../db/connect.ts";
import { readPage, type ListSlice, type ListWindow } from "../db/list-window.ts";
import { cardColumns, cardFrom, OPTIONAL_COLUMNS, shownCard, type OptionalColumns } from "./card-columns.ts";
import { IS_HELD } from "./claim-columns.ts";
import { matchesSql, SEARCH_WORDS, searchBindings } from "./search-query.ts";

export const CARD_SORTS = ["number", "-number", "updated", "-updated", "board"] as const;
export type CardSort = (typeof CARD_SORTS)[number];

/** The order of a list and the place of a card in it. */
export type CardPlace =
  | readonly [sort: "number" | "-number", number: number]
  | readonly [sort: "updated" | "-updated", updatedAt: string, number: number]
  | readonly [sort: "board", projectId: string, stagePosition: number, rank: string];

const MICROSECONDS = `to_char(c.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** A column that defines an order: how it is sorted, shown in a cursor and compared with it. */
interface PlaceColumn {
  readonly column: string;
  readonly shown?: string;
  readonly type: string;
}

const NUMBER: PlaceColumn = { column: "number", type: "integer" };
const PLACES: Readonly<Record<"number" | "updated" | "board", readonly PlaceColumn[]>> = {
  number: [NUMBER],
  updated: [{ column: "updated_at", shown: MICROSECONDS, type: "timestamptz" }, NUMBER],
  board: [
    { column: "project_id", type: "uuid" },
    { column: "stage_position", type: "integer" },
    { column: "rank", type: "text" },
  ],
};

/** Cards with the position of their stage, which only the order of the board needs. */
const CARDS_BY_STAGE = `
  (select c.*, s.position as stage_position from cards c join stages s on s.id = c.stage_id)`;

/** Which cards to list. An absent filter accepts every card. */
export interface CardFilter {
  readonly projectId?: string | undefined;
  readonly statusId?: string | undefined;
  readonly labelId?: string | undefined;
  readonly featureId?: string | undefined;
  readonly parentId?: string | undefined;
  /** Empty for cards without an assignee. */
  readonly assigneeIds?: readonly string[] | undefined;
  readonly isBlocked?: boolean | undefined;
  readonly isClaimed?: boolean | undefined;
  /** The credential that holds the claim. */
  readonly holderId?: string | undefined;
  readonly query?: string | undefined;
}

/**
 * SQL for each filter. The statement has only those of the call: PostgreSQL plans one statement for
 * all values, and would not use the index of a filter that may be absent.
 */
function conditionsOf({ assigneeIds, isBlocked, isClaimed, ...filter }: CardFilter): string[] {
  return [
    ...(filter.projectId === undefined ? [] : ["c.project_id = :projectId"]),
    ...(filter.statusId === undefined ? [] : ["c.stage_id = :statusId"]),
    ...(filter.labelId === undefined
      ? []
      : ["c.id in (select cl.card_id from card_labels cl where cl.label_id = :labelId)"]),
    ...(filter.featureId === undefined ? [] : ["c.feature_id = :featureId"]),
    ...(filter.parentId === undefined ? [] : ["c.parent_id = :parentId"]),
    ...(assigneeIds === undefined
      ? []
      : [
          assigneeIds.length === 0
            ? "c.assignee_id is null"
            : "c.assignee_id = any(cast(:assigneeIds as uuid[]))",
        ]),
    ...(isBlocked === undefined ? [] : [`c.blocked is ${isBlocked ? "not " : ""}null`]),
    ...(isClaimed === undefined ? [] : [`c.id ${isClaimed ? "" : "not "}in (${CLAIMED_CARDS})`]),
    ...(filter.holderId === undefined ? [] : [`c.id in (${CLAIMED_CARDS} and k.credential_id = :holderId)`]),
    ...(filter.query === undefined ? [] : [`c.id in (${MATCHING_CARDS})`]),
  ];
}

const CLAIMED_CARDS = `
  select k.card_id from claims k where k.workspace_id = :workspaceId and not k.end_recorded and ${IS_HELD}`;

const MATCHING_CARDS = `
  ${matchesSql("t.id", SEARCH_WORDS)}
  union all select n.id from cards n where n.workspace_id = :workspaceId and n.number = :cardNumber`;

/**
 * The statement that lists the cards after a place. It first picks the cards of the page, so that it
 * reads users, labels and repositories of these only. The benchmark measures it.
 */
export function listCardsSql(filter: CardFilter, sort: CardSort, hasPlace: boolean): string {
  const columns = PLACES[sort.replace("-", "") as keyof typeof PLACES];
  const isDescending = sort.startsWith("-");
  const names = columns.map(({ column }) => `c.${column}`);
  const order = names.map((name) => (isDescending ? `${name} desc` : name)).join(", ");
  const place = columns.map(({ type }, at) => `cast(:place${at} as ${type})`).join(", ");
  const conditions = [
    "c.workspace_id = :workspaceId",
    "c.deleted_at is null",
    ...conditionsOf(filter),
    ...(hasPlace ? [`(${names.join(", ")}) ${isDescending ? "<" : ">"} (${place})`] : []),
  ];
  const picked = `
    (select c.* from ${sort === "board" ? CARDS_BY_STAGE : "cards"} c
      where ${conditions.join(" and ")} order by ${order} limit :limit + 1)`;
  const shown = columns.map(({ column, shown: text = `c.${column}` }) => text).join(", ");
  return `
    select ${cardColumns(null)}, ${OPTIONAL_COLUMNS}, json_build_array(${shown}) as place ${cardFrom(picked)}
     order by ${order}`;
}

/** Lists the cards of a board that pass all filters, without positions: each would need a count. */
export async function listCards(
  db: Db,
  workspaceId: string,
  filter: CardFilter,
  sort: CardSort,
  window: ListWindow<CardPlace>,
): Promise<ListSlice<object, CardPlace>> {
  const place = window.after?.slice(1) ?? [];
  const { query, ...values } = filter;
  const { items, next } = await readPage<{ readonly place: unknown[] } & OptionalColumns, CardPlace>(
    db,
    window,
    {
      sql: listCardsSql(filter, sort, window.after !== null),
      bindings: {
        ...values,
        ...Object.fromEntries(place.map((value, at) => [`place${at}`, value])),
        ...(query === undefined ? { workspaceId } : searchBindings(workspaceId, query, ["card"])),
      },
      bytes: "octet_length(description)",
      keyOf: (card) => [sort, ...card.place] as unknown as CardPlace,
    },
  );
  return { items: items.map(({ place: _place, ...card }) => shownCard(card)), next };
}

/** What filters refer to. */
interface FilterSubjects {
  readonly projectId: string | undefined;
  readonly statusId: string | undefined;
  readonly labelId: string | undefined;
  readonly featureId: string | undefined;
  /** The id or the login of a user. */
  readonly user: string | undefined;
}

/** Which of them are on a board. */
interface FoundSubjects {
  readonly project: boolean;
  readonly stage: boolean;
  readonly label: boolean;
  readonly feature: boolean;
  /** Members, and those who have left and still have cards. */
  readonly userIds: readonly string[];
}

/** Finds what filters refer to on a board. */
export async function findFilterSubjects(
  db: Db,
  workspaceId: string,
  { projectId, statusId, labelId, featureId, user = "" }: FilterSubjects,
): Promise<FoundSubjects> {
  const found = await firstRow<FoundSubjects>(
    db,
    `select exists (select 1 from projects p where p.id = :projectId and p.workspace_id = :workspaceId) as project,
            exists (select 1 from stages s join projects p on p.id = s.project_id
                     where s.id = :statusId and p.workspace_id = :workspaceId) as stage,
            exists (select 1 from labels l where l.id = :labelId and l.workspace_id = :workspaceId) as label,
            exists (select 1 from features f where f.id = :featureId and f.workspace_id = :workspaceId) as feature,
            array(select u.id from users u
                   where (u.id = :userId or lower(u.login) = lower(:login))
                     and (exists (select 1 from memberships m
                                   where m.user_id = u.id and m.workspace_id = :workspaceId)
                          or exists (select 1 from cards c
                                      where c.assignee_id = u.id and c.workspace_id = :workspaceId
                                        and c.deleted_at is null))) as "userIds"`,
    {
      workspaceId,
      projectId: projectId ?? null,
      statusId: statusId ?? null,
      labelId: labelId ?? null,
      featureId: featureId ?? null,
      userId: isUuid(user) ? user : null,
      login: user,
    },
  );
  if (!found) throw new Error("The lookup of filters returned no row.");
  return found;
}
