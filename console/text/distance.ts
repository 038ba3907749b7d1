const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** For example `2 minutes ago`, `in 3 days`. A future time is rounded, a past one truncated. */
export function distance(at: string, now: number): string {
  const seconds = Math.round((Date.parse(at) - now) / 1_000);
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? [null, 1];
  if (unit === null) return "just now";
  const count = seconds > 0 ? Math.round(seconds / length) : Math.trunc(seconds / length);
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(count, unit);
}
