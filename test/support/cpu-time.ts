/** CPU milliseconds of a function. They distinguish linear from quadratic work on a busy machine. */
export function cpuMillisecondsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const SMALL = 2_500;
const LARGE = 8 * SMALL;

/** How much longer a size takes than an eighth of it: about 8 if linear, 64 if quadratic. */
export function growthOf(work: (size: number) => void): number {
  const fastest = (size: number): number =>
    Math.min(...Array.from({ length: 4 }, () => cpuMillisecondsOf(() => work(size))));
  return fastest(LARGE) / Math.max(1, fastest(SMALL));
}

/** Between both, with a margin for garbage collection and slow machines. */
export const LINEAR_GROWTH = 30;
