import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** What is to be done at the end of a run, the last first. */
export type Ends = (() => Promise<unknown>)[];

/** How long a measurement may take to notice that what it works with is gone. */
const LAST_STEP_MS = 10_000;

/**
 * Runs a measurement, and then what it has left to be done at the end: also when it fails, and when it is told to end (SIGINT, SIGTERM). Its exit code is what `main`
 * gives, 1 where it fails and 130 where it was told to end.
 */
export async function runToItsEnd(main: (ends: Ends) => Promise<number>): Promise<void> {
  const ends: Ends = [];
  const told = new AbortController();
  const toldToEnd = once(told.signal, "abort");
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => told.abort());
  const over = codeOf(main(ends), told.signal);
  await Promise.race([over, toldToEnd]);
  await endAll(ends);
  if (told.signal.aborted) {
    // It may have been about to start something.
    await Promise.race([over, sleep(LAST_STEP_MS)]);
    await endAll(ends);
    process.exit(130);
  }
  process.exitCode = await over;
}

/** Once it is told to end, all that a measurement works with is taken from it, and what it says of that is no news. */
async function codeOf(measuring: Promise<number>, told: AbortSignal): Promise<number> {
  try {
    return await measuring;
  } catch (error) {
    if (!told.aborted) console.error(error);
    return 1;
  }
}

async function endAll(ends: Ends): Promise<void> {
  for (let end = ends.pop(); end; end = ends.pop()) {
    await end().catch((error: unknown) => console.error(error));
  }
}
