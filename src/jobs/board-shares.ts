import type { Task, TaskList } from "graphile-worker";
import type { Db } from "../store/db/connect.ts";
import { boardOfJob } from "../store/db/jobs.ts";
import { runAgain } from "./run-again.ts";

/** The pause before a job that was taken above the share of its board is looked at again, in milliseconds. */
const PAUSE_MS = 100;

/**
 * Gives each board a share of the workers of a pool. Otherwise the jobs of one board would delay those
 * of all others while GitHub is slow.
 */
export class BoardShares {
  readonly #running = new Map<string, number>();
  readonly #perBoard: number;

  /** `perBoard`: how many jobs of one board run at a time. */
  constructor(perBoard: number) {
    this.#perBoard = perBoard;
  }

  /** The flags of the boards whose jobs must wait. Workers take no job with one of them. */
  full(): string[] {
    return [...this.#running.keys()].filter((flag) => this.#isFull(flag));
  }

  /** Wraps the tasks. A job of a full board is put back: two workers may take one at the same moment. */
  limit(db: Db, tasks: TaskList): TaskList {
    return Object.fromEntries(
      Object.entries(tasks).map(([name, task]) => [name, this.#limited(db, name, task as Task)]),
    );
  }

  #limited(db: Db, name: string, task: Task): Task {
    return async (payload, helpers) => {
      const board = boardOfJob(helpers.job);
      if (!board) return task(payload, helpers);
      if (this.#isFull(board.flag)) return runAgain(db, name, payload, helpers, PAUSE_MS);
      this.#count(board.flag, 1);
      try {
        return await task(payload, helpers);
      } finally {
        this.#count(board.flag, -1);
      }
    };
  }

  #isFull(flag: string): boolean {
    return (this.#running.get(flag) ?? 0) >= this.#perBoard;
  }

  #count(flag: string, change: 1 | -1): void {
    const count = (this.#running.get(flag) ?? 0) + change;
    if (count === 0) this.#running.delete(flag);
    else this.#running.set(flag, count);
  }
}
