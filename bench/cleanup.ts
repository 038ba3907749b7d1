/** What a run undoes when it ends, the last entry first. */
export type Cleanups = (() => Promise<unknown>)[];

/**
 * Runs a measurement and then its cleanups, also after an error, SIGINT or SIGTERM. Exits with the
 * code that `main` returns, with 1 after an error and with 130 after a signal.
 */
export async function runAndCleanUp(main: (cleanups: Cleanups) => Promise<number>): Promise<void> {
  const cleanups: Cleanups = [];
  const interrupted = new Promise<{ exitCode: number }>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => resolve({ exitCode: 130 }));
    }
  });
  const finished = main(cleanups).then(
    (exitCode) => ({ exitCode }),
    (error: unknown) => ({ exitCode: 1, error }),
  );
  const outcome = await Promise.race([finished, interrupted]);
  if ("error" in outcome) console.error(outcome.error);
  for (let cleanUp = cleanups.pop(); cleanUp; cleanUp = cleanups.pop()) {
    await cleanUp().catch((error: unknown) => console.error(error));
  }
  process.exit(outcome.exitCode);
}
