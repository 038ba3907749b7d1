/**
 * The processor time a piece of work takes, in milliseconds: unlike the clock's, it hardly grows on a busy machine. Only for telling work that
 * grows with its input from work that grows with its square, with a wide margin between the two.
 */
export function cpuMillisecondsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const SMALL = 2_500;
const LARGE = 8 * SMALL;

/**
 * How many times longer the work for a size takes than the work for an eighth of it: about 8 where it
 * grows with the size, 64 where it grows with its square. Less than a millisecond counts as one.
 */
export function growthOf(work: (size: number) => void): number {
  const fastest = (size: number): number =>
    Math.min(...Array.from({ length: 4 }, () => cpuMillisecondsOf(() => work(size))));
  return fastest(LARGE) / Math.max(1, fastest(SMALL));
}

/** Between the two, so that neither a garbage collection nor a slow machine decides. */
export const LINEAR_GROWTH = 30;
