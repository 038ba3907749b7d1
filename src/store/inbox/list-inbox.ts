import { firstRow, rows, type Db } from "../db/connect.ts";
import { partOf, rowsToRead, type Part, type Window } from "../db/window.ts";
import { agentGaveUp } from "./agent-gave-up.ts";
import { agentStoppedReacting } from "./agent-stopped-reacting.ts";
import { backmergeOpen } from "./backmerge-open.ts";
import { checksBroken } from "./checks-broken.ts";
import { connectionBroken } from "./connection-broken.ts";
import type { DerivedInboxKind, DerivedKind, StoredInboxKind } from "./kinds.ts";
import { prClosedOutside } from "./pr-closed-outside.ts";
import { prMergedOutside } from "./pr-merged-outside.ts";
import { promotionBlocked } from "./promotion-blocked.ts";
import { proposalWaiting } from "./proposal-waiting.ts";
import { waitingStale } from "./waiting-stale.ts";

/** Every kind that is computed when the inbox is read. */
const DERIVED: readonly DerivedKind[] = [
  promotionBlocked,
  prMergedOutside,
  prClosedOutside,
  checksBroken,
  waitingStale,
  backmergeOpen,
  connectionBroken,
  proposalWaiting,
  agentGaveUp,
  agentStoppedReacting,
];

/** An item of the inbox as the API shows it. */
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

/** An item's place in the inbox: when it happened (ISO 8601), and its id where several happened at once. */
export type InboxPlace = readonly [at: string, id: string];

/** A hash of what happened as a UUID of one's own making (version 8, RFC 9562). */
const idOf = (kind: DerivedInboxKind): string =>
  `cast(overlay(overlay(md5('${kind} ' || d.project_id || ' ' || d.happening) placing '8' from 13) placing '8' from 17) as uuid)`;

const derivedItems = ({ kind, sql }: DerivedKind): string => `
  select ${idOf(kind)} as id, '${kind}' as kind, false as dismissible,
         d.project_id, d.card_id, d.repository_id, d.at, d.detail, d.data
    from (${sql}) d`;

/** Of a repository that has left the project nothing is told any more. */
const STORED_ITEMS = `
  select i.id, i.kind, true as dismissible, i.project_id, i.card_id, i.repository_id, i.at, i.detail, i.data
    from inbox_items i left join repositories r on r.id = i.repository_id
   where (i.repository_id is null or r.project_id = i.project_id) and i.project_id = :projectId and i.dismissed_at is null`;

/**
 * One project's inbox in one statement, whatever the number of kinds. Times are told in milliseconds, and so they are compared. Cards are looked up for each item:
 * a join was planned as a scan of all boards' cards. The bench measures against it.
 */
export const INBOX = `
  select i.id, i.kind, i.detail, i.project_id as "projectId",
         case when c.id is null then null else json_build_object('number', c.number, 'title', c.title) end as card,
         r.full_name as repository, i.dismissible, date_trunc('milliseconds', i.at) as at, i.data
    from (${[STORED_ITEMS, ...DERIVED.map(derivedItems)].join("\n union all ")}) i
    left join lateral (select id, number, title, deleted_at from cards where id = i.card_id limit 1) c on true
    left join repositories r on r.id = i.repository_id
   where c.deleted_at is null`;

/** The inbox of a project, the newest item first. */
export async function listInbox(
  db: Db,
  projectId: string,
  window: Window<InboxPlace>,
): Promise<Part<InboxItem, InboxPlace>> {
  const [at, id] = window.after ?? [null, null];
  const found = await rows<InboxItem>(
    db,
    `${INBOX}
      and (cast(:at as timestamptz) is null
           or (date_trunc('milliseconds', i.at), i.id) < (cast(:at as timestamptz), cast(:id as uuid)))
    order by date_trunc('milliseconds', i.at) desc, i.id desc limit :limit`,
    { projectId, at, id, limit: rowsToRead(window) },
  );
  return partOf(found, window, (item) => [item.at.toISOString(), item.id]);
}

/** The inbox of each of a board's projects, `here`. */
const INBOXES = `
  select found.* from projects here cross join lateral (${INBOX.replaceAll(":projectId", "here.id")} and i.id = :itemId) found
   where here.workspace_id = :workspaceId`;

/** An item that is in an inbox of this board now, or null. */
export async function findInboxItem(db: Db, workspaceId: string, itemId: string): Promise<InboxItem | null> {
  return firstRow<InboxItem>(db, INBOXES, { workspaceId, itemId });
}
