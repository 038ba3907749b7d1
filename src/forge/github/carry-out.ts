import type { ForgeClock } from "./clock.ts";
import { UnknownOutcome } from "./failures.ts";

const TRIES = 3;
/** An order is begun again only this long after the first try, so that an answer comes in time. */
const REPEAT_WITHIN_MS = 8_000;
/** GitHub may still be at work when its own gateway has given up. */
const LOOK_AFTER_MS = 500;

/**
 * Carries out an order whose answer may get lost. GitHub takes no idempotency keys, so before an order is repeated `find`
 * looks for what it would have done: null means that nothing is there.
 */
export type CarryOut = <T>(order: () => Promise<T>, find: () => Promise<NoInfer<T> | null>) => Promise<T>;

export function createCarryOut(clock: ForgeClock): CarryOut {
  return async (order, find) => {
    const begun = clock.now();
    for (let tries = 1; ; tries++) {
      try {
        return await order();
      } catch (error) {
        if (!(error instanceof UnknownOutcome)) throw error;
        await clock.sleep(LOOK_AFTER_MS * tries);
        const found = await find();
        if (found !== null) return found;
        if (tries === TRIES || clock.now() - begun > REPEAT_WITHIN_MS) throw error;
      }
    }
  };
}
