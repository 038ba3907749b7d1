/**
 * What the inbox holds. Stored items are written down when they happen and stay until somebody puts them away (`stored-items.ts`); derived
 * ones are computed when the inbox is read, and clear by themselves.
 *
 * To add a derived kind, write a file beside this one that exports a `DerivedKind`, and put it into the list in `list-inbox.ts`. To add a
 * stored one, call `putInboxItem` in the transaction that records what happened.
 */
export const STORED_KINDS = ["branch_suggestion", "branch_deleted", "error_reported"] as const;
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
] as const;

export type StoredInboxKind = (typeof STORED_KINDS)[number];
export type DerivedInboxKind = (typeof DERIVED_KINDS)[number];

/** One kind of derived items, as a part of the one statement that reads the inbox. */
export interface DerivedKind {
  readonly kind: DerivedInboxKind;
  /**
   * Selects a row for each item of the project `:projectId`, by an index; of a list of projects (`any`) PostgreSQL takes there to be ten, and reads whole
   * tables for them. Deleted cards have none. Columns, in any
   * order: `project_id`, `card_id`, `repository_id` (either may be null), `at`, `detail` (text, in the forge's words where it gave any), `data`
   * (jsonb, an object) and `happening`: a text that is the same for as long as the item lasts, and another when the same thing happens
   * again. The item's id is made from it.
   */
  readonly sql: string;
}
