import { Problem, tooMany } from "../errors.ts";

/** The limits of one process. */
export interface ScheduleLimits {
  /** Running calls of all boards. */
  readonly running: number;
  /** Running calls of one board. */
  readonly boardRunning: number;
  /** Waiting calls of one board. */
  readonly boardWaiting: number;
}

/** The calls of one board. */
interface BoardCalls {
  running: number;
  readonly waiting: WaitingCall[];
}

interface WaitingCall {
  readonly start: () => void;
  /** Whether nobody waits for its response any more. */
  readonly isGone: () => boolean;
  readonly drop: () => void;
}

/**
 * Limits the running calls, in total and per board. The other calls wait; boards take turns. See docs/adr/0012-boards-take-turns.md.
 */
export class CallScheduler {
  readonly #limits: ScheduleLimits;
  #running = 0;
  /** The boards that have calls. The board whose turn is next comes first. */
  readonly #boards = new Map<string, BoardCalls>();
  /** The boards of the calls that run. */
  readonly #places = new WeakMap<object, string>();

  constructor(limits: ScheduleLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves when the call may run; at once if it runs already. Throws `too_many` if too many
   * calls wait, and `Problem` if `isGone` when its turn comes. `board` is the key of the shared limit:
   * the id of a board or of a credential, or a network.
   */
  async enter(call: object, board: string, isGone = (): boolean => false): Promise<void> {
    if (this.#places.has(call)) return;
    const calls = this.#boards.get(board) ?? { running: 0, waiting: [] };
    this.#boards.set(board, calls);
    if (!this.#mayRun(calls)) {
      const { boardWaiting } = this.#limits;
      if (calls.waiting.length >= boardWaiting) {
        throw tooMany(`${boardWaiting} calls are waiting already. Wait for their responses.`, 1);
      }
      await new Promise<void>((resolve, reject) => {
        const start = (): void => {
          this.#start(call, board, calls);
          resolve();
        };
        const drop = (): void => reject(new Problem("unavailable", "The connection was closed."));
        calls.waiting.push({ start, isGone, drop });
      });
    } else this.#start(call, board, calls);
  }

  /** Runs `work` as a call, unless `isGone` when its turn comes. */
  async run<T>(board: string, work: () => Promise<T>, isGone?: () => boolean): Promise<T> {
    const call = {};
    await this.enter(call, board, isGone);
    try {
      return await work();
    } finally {
      this.leave(call);
    }
  }

  /** Ends a call, or lets it continue without its place. May be called again. */
  leave(call: object): void {
    const board = this.#places.get(call);
    const calls = board === undefined ? undefined : this.#boards.get(board);
    if (board === undefined || calls === undefined) return;
    this.#places.delete(call);
    calls.running--;
    this.#running--;
    if (calls.running === 0 && calls.waiting.length === 0) this.#boards.delete(board);
    this.#startNext();
  }

  #mayRun({ running }: BoardCalls): boolean {
    return this.#running < this.#limits.running && running < this.#limits.boardRunning;
  }

  #start(call: object, board: string, calls: BoardCalls): void {
    calls.running++;
    this.#running++;
    this.#places.set(call, board);
  }

  /** Starts the oldest waiting call of the next board, and puts this board behind the others. */
  #startNext(): void {
    for (const [board, calls] of this.#boards) {
      if (!this.#mayRun(calls)) continue;
      const next = firstPresent(calls);
      if (!next && calls.running > 0) continue;
      this.#boards.delete(board);
      if (!next) continue;
      this.#boards.set(board, calls);
      next.start();
      return;
    }
  }
}

/** Takes the oldest waiting call, and drops those that are gone. */
function firstPresent({ waiting }: BoardCalls): WaitingCall | undefined {
  for (let call = waiting.shift(); call; call = waiting.shift()) {
    if (!call.isGone()) return call;
    call.drop();
  }
  return undefined;
}
