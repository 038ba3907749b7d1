import { firstRow, type Db } from "../db/connect.ts";
import { readPage, type ListSlice, type ListWindow, type TimePlace } from "../db/list-window.ts";
import {
  BACKMERGE_OPEN,
  CHECKS_BROKEN,
  CONNECTION_BROKEN,
  PROMOTION_BLOCKED,
  WAITING_STALE,
  WEBHOOK_PAUSED,
} from "./flow-items.ts";
import {
  AGENT_GAVE_UP,
  AGENT_STOPPED_REACTING,
  PROPOSAL_WAITING,
  PR_CLOSED_OUTSIDE,
  PR_MERGED_OUTSIDE,
} from "./pull-request-items.ts";

/**
 * The kinds of inbox items. Stored items (`stored-items.ts`) are written when the event happens and
 * stay until somebody dismisses them. Derived items are computed when the inbox is read and
 * disappear when their cause does.
 *
 * To add a derived kind, write its SELECT in `flow-items.ts` or `pull-request-items.ts` and add it
 * below. To add a stored kind, call `upsertInboxItem` in the transaction that records the event.
 */
export const STORED_KINDS = [
  "branch_suggestion",
  "branch_deleted",
  "error_reported",
  "move_disarmed",
] as const;
export const DERIVED_KINDS = [
  "promotion_blocked",
  "pr_merged_outside",
  "pr_closed_outside",
  "checks_broken",
  "waiting_stale",
  "connection_broken",
  "backmerge_open",
  "proposal_waiting",
  "agent_gave_up",
  "agent_stopped_reacting",
  "webhook_paused",
] as const;

export type StoredInboxKind = (typeof STORED_KINDS)[number];
type DerivedInboxKind = (typeof DERIVED_KINDS)[number];

/**
 * For each derived kind, the SELECT of its items in the project `:projectId`. It uses an index and
 * skips deleted cards. It reads one project, because PostgreSQL plans a list of projects (`any`) as
 * ten and scans whole tables. Columns, in any order: `project_id`, `card_id` and `repository_id`
 * (may be null), `at`, `detail` (text; GitHub's message if there is one), `data` (a jsonb object)
 * and `occurrence`: a text that stays the same while the item lasts and differs when the same thing
 * happens again. The item's id is a hash of it.
 */
const DERIVED: Readonly<Record<DerivedInboxKind, string>> = {
  promotion_blocked: PROMOTION_BLOCKED,
  pr_merged_outside: PR_MERGED_OUTSIDE,
  pr_closed_outside: PR_CLOSED_OUTSIDE,
  checks_broken: CHECKS_BROKEN,
  waiting_stale: WAITING_STALE,
  backmerge_open: BACKMERGE_OPEN,
  connection_broken: CONNECTION_BROKEN,
  proposal_waiting: PROPOSAL_WAITING,
  agent_gave_up: AGENT_GAVE_UP,
  agent_stopped_reacting: AGENT_STOPPED_REACTING,
  webhook_paused: WEBHOOK_PAUSED,
};

/** An inbox item as the API shows it. */
export interface InboxItem {
  readonly id: string;
  readonly kind: StoredInboxKind | DerivedInboxKind;
  readonly detail: string;
  readonly projectId: string;
  readonly card: { readonly number: number; readonly title: string } | null;
  readonly repository: string | null;
  readonly dismissible: boolean;
  readonly at: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The id of a derived item: a hash as a UUID of version 8 (RFC 9562). */
const idOf = (kind: string): string =>
  `cast(overlay(overlay(md5('${kind} ' || d.project_id || ' ' || d.occurrence) placing '8' from 13) placing '8' from 17) as uuid)`;

const derivedItems = ([kind, sql]: readonly [string, string]): string => `
  select ${idOf(kind)} as id, '${kind}' as kind, false as dismissible,
         d.project_id, d.card_id, d.repository_id, d.at, d.detail, d.data
    from (${sql}) d`;

/** Skips items of repositories that were removed from the project. */
const STORED_ITEMS = `
  select i.id, i.kind, true as dismissible, i.project_id, i.card_id, i.repository_id, i.at, i.detail, i.data
    from inbox_items i left join repositories r on r.id = i.repository_id
   where (i.repository_id is null or r.project_id = i.project_id) and i.project_id = :projectId and i.dismissed_at is null`;

/**
 * The inbox of one project. Sorts by milliseconds, because the API shows milliseconds. The lateral
 * join reads one card per item; PostgreSQL planned a plain join as a scan of all boards' cards. The
 * benchmark measures this statement.
 */
export const INBOX = `
  select i.id, i.kind, i.detail, i.project_id as "projectId",
         case when c.id is null then null else json_build_object('number', c.number, 'title', c.title) end as card,
         r.full_name as repository, i.dismissible, date_trunc('milliseconds', i.at) as at, i.data
    from (${[STORED_ITEMS, ...Object.entries(DERIVED).map(derivedItems)].join("\n union all ")}) i
    left join lateral (select id, number, title, deleted_at from cards where id = i.card_id limit 1) c on true
    left join repositories r on r.id = i.repository_id
   where c.deleted_at is null`;

/** Lists the inbox of a project, the newest item first. */
export async function listInbox(
  db: Db,
  projectId: string,
  window: ListWindow<TimePlace>,
): Promise<ListSlice<InboxItem, TimePlace>> {
  const [at, id] = window.after ?? [null, null];
  return readPage<InboxItem, TimePlace>(db, window, {
    sql: `${INBOX}
      and (cast(:at as timestamptz) is null
           or (date_trunc('milliseconds', i.at), i.id) < (cast(:at as timestamptz), cast(:id as uuid)))
    order by date_trunc('milliseconds', i.at) desc, i.id desc`,
    bindings: { projectId, at, id },
    bytes: "octet_length(detail) + octet_length(data::text)",
    keyOf: (item) => [item.at.toISOString(), item.id],
  });
}

const BOARD_ITEM = `
  select found.* from projects here cross join lateral (${INBOX.replaceAll(":projectId", "here.id")} and i.id = :itemId) found
   where here.workspace_id = :workspaceId`;

/** Finds an item in the inboxes of a board's projects. */
export async function findInboxItem(db: Db, workspaceId: string, itemId: string): Promise<InboxItem | null> {
  return firstRow<InboxItem>(db, BOARD_ITEM, { workspaceId, itemId });
}
