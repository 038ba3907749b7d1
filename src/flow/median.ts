/** The middle of some numbers, to two decimals; null where there are none. */
export function median(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  const high = sorted[Math.floor(sorted.length / 2)];
  const low = sorted[Math.floor((sorted.length - 1) / 2)];
  if (high === undefined || low === undefined) return null;
  return Math.round(((low + high) / 2) * 100) / 100;
}
