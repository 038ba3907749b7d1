import type { Db } from "./connect.ts";

/** PostgreSQL's code for a full disk. */
export const DISK_FULL = "53100";
/** Several heartbeats, which all need space, in milliseconds. */
const REMEMBERED_MS = 15_000;

/** Whether PostgreSQL has room on its disk, as its responses in the last seconds show. */
export class DiskSpace {
  readonly #onFull: () => void;
  #fullAt = -Infinity;

  /** `onFull` is called when the disk becomes full. */
  constructor(onFull: () => void) {
    this.#onFull = onFull;
  }

  /** PostgreSQL has refused a statement with `DISK_FULL`. */
  recordFull(): void {
    const wasFull = this.isFull();
    this.#fullAt = performance.now();
    if (!wasFull) this.#onFull();
  }

  isFull(): boolean {
    return performance.now() - this.#fullAt < REMEMBERED_MS;
  }
}

/**
 * Fails with `DISK_FULL` if PostgreSQL's disk is full: it needs a temporary file of 280 kB. Updates
 * may succeed for long on a full disk, because they reuse space.
 */
export async function useDiskSpace(db: Db): Promise<void> {
  // Statements that are sent as one are one transaction.
  await db.raw("set local work_mem = '64kB'; select count(*) from generate_series(1, 20000)");
}
