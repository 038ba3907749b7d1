/** Gives what `work` gives, to all who ask for the same under one key. */
export type Join = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Answers alike questions of one moment together: who asks while one is under way shares the next, which begins when that one has ended, and so after all who share it have asked.
 * So everybody gets what is true after he asked. At most one question of a key is under way.
 */
export function createJoin(): Join {
  const underWay = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<unknown>>();

  async function begin(key: string, work: () => Promise<unknown>): Promise<unknown> {
    const begun = work();
    underWay.set(key, begun);
    try {
      return await begun;
    } finally {
      underWay.delete(key);
    }
  }

  function afterwards(key: string, before: Promise<unknown>, work: () => Promise<unknown>): Promise<unknown> {
    const begun = before
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        next.delete(key);
        return begin(key, work);
      });
    next.set(key, begun);
    return begun;
  }

  return <T>(key: string, work: () => Promise<T>) => {
    const before = underWay.get(key);
    const shared = before
      ? (next.get(key) ?? afterwards(key, before, work))
      : (next.get(key) ?? begin(key, work));
    return shared as Promise<T>;
  };
}
