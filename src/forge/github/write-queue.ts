import { ForgeUnavailable } from "../forge.ts";

/** With a second between two writes, what comes after these would wait in vain. */
const MAX_WAITING = 20;

/** Counts the writes of each account that wait for their turn, so that one too many is told so at once. */
export interface WriteQueue {
  /** Answers what to call, any number of times, when the write has left the queue. */
  enter(account: string): () => void;
}

export function createWriteQueue(): WriteQueue {
  const waiting = new Map<string, Set<symbol>>();
  return {
    enter(account) {
      const writes = waiting.get(account) ?? new Set();
      if (writes.size >= MAX_WAITING) {
        throw new ForgeUnavailable("Too many writes wait for their turn", { retryAfter: writes.size });
      }
      const write = Symbol(account);
      waiting.set(account, writes.add(write));
      return () => {
        writes.delete(write);
        if (writes.size === 0) waiting.delete(account);
      };
    },
  };
}
