import type { JournalEntry } from "./journal.ts";

/** Rows by id and by group, such as one commit's; every change is written to the journal. */
export class Table<Row extends { readonly id: number }> {
  readonly name: string;
  readonly #groupOf: (row: Row) => string | number;
  readonly #write: (entry: JournalEntry) => void;
  readonly #rows = new Map<number, Row>();
  readonly #groups = new Map<string | number, Map<number, Row>>();

  constructor(name: string, groupOf: (row: Row) => string | number, write: (entry: JournalEntry) => void) {
    this.name = name;
    this.#groupOf = groupOf;
    this.#write = write;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: number): Row | undefined {
    return this.#rows.get(id);
  }

  /** Returns a row that must exist. */
  need(id: number): Row {
    const row = this.#rows.get(id);
    if (row === undefined) throw new Error(`No row ${id} in ${this.name}`);
    return row;
  }

  /** All rows, oldest first. */
  all(): Row[] {
    return [...this.#rows.values()];
  }

  /** The rows of one group, such as a repository's, oldest first. `state.ts` says how each table is grouped. */
  inGroup(group: string | number): Row[] {
    return [...(this.#groups.get(group)?.values() ?? [])];
  }

  find(matches: (row: Row) => boolean): Row | undefined {
    for (const row of this.#rows.values()) if (matches(row)) return row;
    return undefined;
  }

  save(row: Row): Row {
    this.#write({ table: this.name, row });
    this.#put(row);
    return row;
  }

  update(id: number, change: Partial<Omit<Row, "id">>): Row {
    return this.save({ ...this.need(id), ...change });
  }

  /** An independent copy in memory, without the journal. */
  copy(): Table<Row> {
    const copy = new Table(this.name, this.#groupOf, () => undefined);
    for (const row of this.#rows.values()) copy.#put(row);
    return copy;
  }

  delete(id: number): void {
    if (!this.#rows.has(id)) return;
    this.#write({ table: this.name, gone: id });
    this.#forget(id);
  }

  #put(row: Row): void {
    const group = this.#groupOf(row);
    const earlier = this.#rows.get(row.id);
    if (earlier !== undefined && this.#groupOf(earlier) !== group)
      this.#groups.get(this.#groupOf(earlier))?.delete(row.id);
    this.#rows.set(row.id, row);
    const rows = this.#groups.get(group);
    if (rows === undefined) this.#groups.set(group, new Map([[row.id, row]]));
    else rows.set(row.id, row);
  }

  restoreEntry(entry: JournalEntry): void {
    // Rows in the journal come from `save`, so they have this table's type.
    if ("row" in entry) this.#put(entry.row as Row);
    else this.#forget(entry.gone);
  }

  #forget(id: number): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#rows.delete(id);
    const group = this.#groupOf(row);
    const rows = this.#groups.get(group);
    rows?.delete(id);
    if (rows?.size === 0) this.#groups.delete(group);
  }
}
