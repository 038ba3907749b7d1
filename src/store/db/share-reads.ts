type ShareRead = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Shares work between concurrent callers with the same key. At most one run per key is in progress.
 * Callers that arrive during a run share the next run, so every result is read after the call.
 */
export function createReadSharing(): ShareRead {
  const current = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<unknown>>();

  async function start(key: string, work: () => Promise<unknown>): Promise<unknown> {
    const run = work();
    current.set(key, run);
    try {
      return await run;
    } finally {
      current.delete(key);
    }
  }

  function startAfter(before: Promise<unknown>, key: string, work: () => Promise<unknown>): Promise<unknown> {
    const run = Promise.allSettled([before]).then(() => {
      next.delete(key);
      return start(key, work);
    });
    next.set(key, run);
    return run;
  }

  return <T>(key: string, work: () => Promise<T>) => {
    const before = current.get(key);
    const shared = next.get(key) ?? (before ? startAfter(before, key, work) : start(key, work));
    return shared as Promise<T>;
  };
}
