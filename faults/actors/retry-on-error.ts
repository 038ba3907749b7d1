import { setTimeout as sleep } from "node:timers/promises";

/** Repeats work on the database, which may have just crashed, until it succeeds. */
export async function retryOnError<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(100);
    }
  }
}
