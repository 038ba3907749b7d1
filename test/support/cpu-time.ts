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
