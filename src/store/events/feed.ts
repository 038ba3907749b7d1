import { Problem } from "../../errors.ts";
import { firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { userKindSql } from "../tenancy/users.ts";
import { EVENT_KINDS, type TimelineActor } from "./event-kinds.ts";

/** Kinds of events of comments. */
export const COMMENT_KINDS = ["comment", "comment_edited", "comment_deleted"] as const;

/** Kinds of events that only the feed has. A timeline has `created` instead of `card_created`. */
export const CHANGE_KINDS = [
  "card_created",
  "card_deleted",
  "card_reordered",
  "armed_changed",
  "blocked",
  "unblocked",
  "git_facts_changed",
  "label_changed",
  "feature_changed",
  "page_changed",
  "flow_changed",
  "project_changed",
  "member_changed",
  "release_changed",
  "inbox_dismissed",
] as const;
type ChangeKind = (typeof CHANGE_KINDS)[number];

/** All kinds. */
export const FEED_KINDS = [
  ...EVENT_KINDS.filter((kind) => kind !== "created"),
  ...COMMENT_KINDS,
  ...CHANGE_KINDS,
] as const;
type FeedKind = (typeof FEED_KINDS)[number];

/** An event of a board, in the field order of the API. */
export interface FeedEvent {
  readonly seq: number;
  readonly id: string;
  readonly kind: FeedKind;
  readonly at: Date;
  readonly card: { readonly number: number; readonly title: string } | null;
  readonly actor: TimelineActor | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** SQL for the user `u` and the expression `login` as the actor of an event on the board. */
export const actorSql = (workspaceId: string, login: string): string =>
  `json_build_object('user', json_build_object('id', u.id, 'name', u.name, 'kind', ${userKindSql(workspaceId, "u")}),
                     'login', ${login})`;

/**
 * SQL that adds an item of the timeline to the feed. `items` is a CTE with at most one row of
 * `timeline_items`; the other arguments are SQL expressions of its alias `t`, never input. With the
 * subqueries, PostgreSQL plans to read one card, even if it planned while the tables were empty.
 */
export const feedTimelineItems = (
  items: string,
  { kind, data, at }: { readonly kind: string; readonly data: string; readonly at: string },
): string => `
  insert into events (workspace_id, card_number, card_title, kind, actor, data, at)
  select c.workspace_id, c.number, c.title, ${kind}, ${actorSql("c.workspace_id", "t.login")}, ${data}, ${at}
    from ${items} t join cards c on c.id = (select card_id from ${items})
    join users u on u.id = (select actor_id from ${items})`;

/** The content of an event that only the feed has. */
export interface ChangeContent {
  readonly kind: ChangeKind;
  /** Ids, numbers and names; no bodies. A change has `from` and `to`, except `inbox_dismissed` and `git_facts_changed`. */
  readonly data: Readonly<Record<string, unknown>>;
}

interface Change extends ChangeContent {
  readonly cardId?: string;
}

const INSERT_CHANGE = `
  insert into events (workspace_id, card_number, card_title, kind, actor, data)
  select cast(:workspaceId as uuid), c.number, c.title, :kind,
         case when u.id is not null then ${actorSql("cast(:workspaceId as uuid)", "null")} end, cast(:data as jsonb)
    from (select 1) one
    left join cards c on c.id = cast(:cardId as uuid)
    left join users u on u.id = cast(:userId as uuid)`;

/** The board that is changed, and the user who changes it. */
export interface ChangedBy {
  readonly workspaceId: string;
  /** Null for the operator of the service. */
  readonly userId: string | null;
}

/** Records a change that appears on no timeline, in the transaction that makes it. */
export async function recordChange(
  trx: Trx,
  { workspaceId, userId }: ChangedBy,
  { kind, cardId, data }: Change,
): Promise<void> {
  await rows(trx, INSERT_CHANGE, {
    workspaceId,
    userId,
    kind,
    cardId: cardId ?? null,
    data: JSON.stringify(data),
  });
}

/** The number of the newest event of each of these boards. */
export async function readHeads(db: Db, workspaceIds: readonly string[]): Promise<Map<string, number>> {
  const heads = await rows<{ workspaceId: string; head: number }>(
    db,
    `select workspace_id as "workspaceId", head from feeds where workspace_id = any(cast(:workspaceIds as uuid[]))`,
    { workspaceIds },
  );
  return new Map(heads.map(({ workspaceId, head }) => [workspaceId, head]));
}

export interface FeedBounds {
  /** The number of the newest event; 0 before the first. */
  readonly head: number;
  /** The number of the oldest retained event; `head` + 1 if there is none. */
  readonly oldest: number;
}

/** Whether the feed has all events after a position. */
export const hasAllAfter = (after: number, { oldest, head }: FeedBounds): boolean =>
  after >= oldest - 1 && after <= head;

/** Throws `gone` unless the feed has all events after a position. */
export function requireRetained(after: number, bounds: FeedBounds): void {
  if (hasAllAfter(after, bounds)) return;
  throw new Problem(
    "gone",
    `The feed has no events after ${after}: it keeps ${bounds.oldest} to ${bounds.head}. Read the board again and continue after its X-Feed-Seq.`,
    { body: { head: String(bounds.head), oldest: String(bounds.oldest) } },
  );
}

/** SQL for the number of the oldest retained event of the feed `f`. */
const OLDEST = `coalesce((select min(o.seq) from events o where o.workspace_id = f.workspace_id and o.seq is not null),
                         f.head + 1)`;

export async function readFeedBounds(db: Db, workspaceId: string): Promise<FeedBounds> {
  const bounds = await firstRow<FeedBounds>(
    db,
    `select f.head, ${OLDEST} as oldest from feeds f where f.workspace_id = :workspaceId`,
    { workspaceId },
  );
  if (!bounds) throw noFeed(workspaceId);
  return bounds;
}

const noFeed = (workspaceId: string): Error => new Error(`There is no feed of the board ${workspaceId}.`);

export interface FeedFilter {
  /** Null for all kinds. */
  readonly kinds: readonly string[] | null;
  readonly cardNumber: number | null;
}

/** The maximum number of events that a statement reads, so that a filter with few matches stays fast. */
const MAX_SCANNED = 5_000;

interface FeedRow extends Omit<FeedEvent, "card" | "seq">, FeedBounds {
  /** Null in the only row if there is no event after `after`. */
  readonly seq: number | null;
  readonly isMatch: boolean;
  readonly cardNumber: number | null;
  readonly cardTitle: string | null;
}

export interface FeedQuery extends FeedFilter {
  readonly after: number;
  readonly limit: number;
}

export interface FeedPage extends FeedBounds {
  readonly events: readonly FeedEvent[];
  /** The number of the last event that was read, whether it matches or not. */
  readonly next: number;
}

/** Reads events after `after`, with the bounds of the feed at the same moment. */
export async function readEvents(
  db: Db,
  workspaceId: string,
  { after, limit, kinds, cardNumber }: FeedQuery,
): Promise<FeedPage> {
  const scanned = await rows<FeedRow>(
    db,
    `with scanned as (
       select *, (cast(:kinds as text[]) is null or kind = any(cast(:kinds as text[])))
                 and (cast(:cardNumber as integer) is null or card_number = :cardNumber) as matches
         from (select * from events where workspace_id = :workspaceId and seq > :after order by seq limit :scanned) e),
     counted as (
       select *, count(*) filter (where matches) over (order by seq) as nth, max(seq) over () as last from scanned)
     select f.head, ${OLDEST} as oldest, e.seq, f.workspace_id || '-' || e.seq as id, e.kind, e.at,
            e.card_number as "cardNumber", e.card_title as "cardTitle", e.actor, e.data, e.matches as "isMatch"
       from feeds f
       left join counted e on (e.matches and e.nth <= :limit) or (e.seq = e.last and e.nth < :limit)
      where f.workspace_id = :workspaceId order by e.seq`,
    {
      workspaceId,
      after,
      limit,
      kinds,
      cardNumber,
      scanned: kinds || cardNumber !== null ? MAX_SCANNED : limit,
    },
  );
  const last = scanned.at(-1);
  if (!last) throw noFeed(workspaceId);
  const { head, oldest } = last;
  return { events: scanned.flatMap(toEvents), next: last.seq ?? after, head, oldest };
}

/** The part of a page of all events that a reader with a filter gets. */
export function filterPage(page: FeedPage, { kinds, cardNumber, limit }: FeedQuery): FeedPage {
  const isMatch = ({ kind, card }: FeedEvent): boolean =>
    (kinds === null || kinds.includes(kind)) && (cardNumber === null || card?.number === cardNumber);
  const events = page.events.filter(isMatch);
  if (events.length < limit) return { ...page, events };
  const part = events.slice(0, limit);
  return { ...page, events: part, next: part.at(-1)?.seq ?? page.next };
}

function toEvents(row: FeedRow): FeedEvent[] {
  const { isMatch, seq, id, kind, at, cardNumber: number, cardTitle: title, actor, data } = row;
  if (!isMatch || seq === null) return [];
  const card = number === null || title === null ? null : { number, title };
  return [{ seq, id, kind, at, card, actor, data }];
}
