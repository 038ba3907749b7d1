import { newId } from "../../new-id.ts";
import { exists, firstValue, rows, type Db, type Trx } from "../db/connect.ts";
import { allInOrder } from "../db/transaction.ts";
import { readPage, type ListSlice, type ListWindow } from "../db/list-window.ts";
import { userKindSql } from "../tenancy/users.ts";
import type { EventKind, TimelineActor } from "./event-kinds.ts";
import { feedTimelineItems, type ChangeContent } from "./feed.ts";

export interface Actor {
  readonly userId: string;
  /** The GitHub login for what GitHub reported; null for what Trunkline did. */
  readonly login: string | null;
}

export interface NewEvent {
  readonly cardId: string;
  readonly kind: EventKind;
  readonly actor: Actor;
  readonly repositoryId?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
  /** GitHub's time (ISO 8601); now if absent. */
  readonly at?: string | null;
  /** Identifies the event on its card's timeline, so that it is recorded once. */
  readonly naturalKey?: string;
  /** What the feed shows instead; by default the same. */
  readonly inFeed?: ChangeContent;
}

const FEED_KIND = "coalesce(cast(:feedKind as text), t.kind)";
const FEED_DATA = "coalesce(cast(:feedData as jsonb), t.data)";

const INSERT_EVENT = `
  with added as (
    insert into timeline_items (id, card_id, type, kind, actor_id, login, repository_id, data, at, natural_key)
    values (:id, :cardId, 'event', :kind, :actorId, :login, :repositoryId, :data,
            coalesce(cast(:at as timestamptz), now()), :naturalKey)
    on conflict (card_id, natural_key) where natural_key is not null do nothing
    returning *),
  fed as (${feedTimelineItems("added", { kind: FEED_KIND, data: FEED_DATA, at: "t.at" })})
  select id from added`;

/**
 * Records events on the timeline and in the feed, in order. Skips events whose natural key exists.
 * Returns the number of recorded events.
 */
export async function recordEvents(trx: Trx, events: readonly NewEvent[]): Promise<number> {
  const recorded = await allInOrder(
    events.map((event) =>
      rows(trx, INSERT_EVENT, {
        id: newId(),
        cardId: event.cardId,
        kind: event.kind,
        actorId: event.actor.userId,
        login: event.actor.login,
        repositoryId: event.repositoryId ?? null,
        data: JSON.stringify(event.data ?? {}),
        at: event.at ?? null,
        naturalKey: event.naturalKey ?? null,
        feedKind: event.inFeed?.kind ?? null,
        feedData: event.inFeed ? JSON.stringify(event.inFeed.data) : null,
      }),
    ),
  );
  return recorded.flat().length;
}

export type TimelineItem =
  | {
      readonly type: "event";
      readonly id: string;
      readonly kind: EventKind;
      readonly actor: TimelineActor;
      readonly repositoryFullName: string | null;
      readonly data: Readonly<Record<string, unknown>>;
      readonly at: Date;
    }
  | {
      readonly type: "comment";
      readonly id: string;
      readonly body: string;
      readonly author: TimelineActor;
      readonly editable: boolean;
      readonly at: Date;
      readonly editedAt: Date | null;
    };

interface TimelineRow {
  readonly type: "event" | "comment";
  readonly id: string;
  readonly kind: EventKind;
  readonly actor: TimelineActor;
  readonly repositoryFullName: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly body: string | null;
  readonly actorId: string;
  readonly at: Date;
  readonly editedAt: Date | null;
  readonly seq: number;
}

/** Lists a card's timeline in the order of recording. The comments of `readerId` are editable. */
export async function listTimeline(
  db: Db,
  cardId: string,
  readerId: string,
  window: ListWindow<number>,
): Promise<ListSlice<TimelineItem, number>> {
  const { items, next } = await readPage<TimelineRow, number>(db, window, {
    sql: `select t.type, t.id, t.kind, t.data, t.body, t.actor_id as "actorId", t.at, t.edited_at as "editedAt", t.seq,
            json_build_object('user', json_build_object('id', u.id, 'name', u.name, 'kind', ${userKindSql("c.workspace_id", "u")}),
                              'login', t.login) as actor,
            r.full_name as "repositoryFullName"
       from timeline_items t
       join cards c on c.id = t.card_id
       join users u on u.id = t.actor_id
       left join repositories r on r.id = t.repository_id
      where t.card_id = :cardId and t.deleted_at is null and t.seq > :after order by t.seq`,
    bindings: { cardId, after: window.after ?? 0 },
    bytes: "octet_length(coalesce(body, data::text))",
    keyOf: ({ seq }) => seq,
  });
  return { items: items.map((row) => toItem(row, readerId)), next };
}

function toItem(row: TimelineRow, readerId: string): TimelineItem {
  const { id, kind, actor, repositoryFullName, data, at } = row;
  if (row.type === "event") return { type: "event", id, kind, actor, repositoryFullName, data, at };
  const editable = row.actorId === readerId && actor.login === null;
  return { type: "comment", id, body: row.body ?? "", author: actor, editable, at, editedAt: row.editedAt };
}

/** Whether an event with this prefix of the natural key happened at or after `at`. */
export async function hasEventSince(db: Db, cardId: string, prefix: string, at: string): Promise<boolean> {
  return exists(
    db,
    `select 1 from timeline_items
      where card_id = :cardId and starts_with(natural_key, :prefix) and at >= cast(:at as timestamptz) limit 1`,
    { cardId, prefix, at },
  );
}

/** The commits that a card's branches started from, by `repositoryId:branchName`. */
export async function listBranchStarts(db: Db, cardId: string): Promise<Map<string, string>> {
  const starts = await rows<{ branch: string; sha: string }>(
    db,
    `select repository_id || ':' || (data->>'branchName') as branch, data->>'sha' as sha from timeline_items
      where card_id = :cardId and kind = 'branch_created' order by seq`,
    { cardId },
  );
  return new Map(starts.map(({ branch, sha }) => [branch, sha]));
}

/** The actor of a card's newest event of this kind, in this repository if one is given, or null. */
export async function findLastActor(
  db: Db,
  cardId: string,
  kind: EventKind,
  repositoryId: string | null = null,
): Promise<string | null> {
  return firstValue<string>(
    db,
    `select actor_id as "actorId" from timeline_items
      where card_id = :cardId and kind = :kind
        and (cast(:repositoryId as uuid) is null or repository_id = :repositoryId) order by seq desc limit 1`,
    { cardId, kind, repositoryId },
  );
}
