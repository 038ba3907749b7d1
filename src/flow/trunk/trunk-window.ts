const DAY_MS = 24 * 3_600_000;
const MAX_DAYS = 92;
const DEFAULT_DAYS = 30;

/** Whole days in UTC; `to` is the last one. */
interface TrunkWindow {
  readonly from: string;
  readonly to: string;
  /** The start of `from`. */
  readonly begin: Date;
  /** The end of `to`. */
  readonly end: Date;
}

/** The window of a trunk report, or which parameter is wrong and why. */
export function trunkWindow(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: Date,
): TrunkWindow | { readonly wrong: string; readonly message: string } {
  const to = asked.to ?? dayOf(now.getTime());
  for (const [wrong, day] of Object.entries({ to, from: asked.from ?? to })) {
    if (!isDay(day)) return { wrong, message: `\`${wrong}\` is a date, as YYYY-MM-DD` };
  }
  const from = asked.from ?? dayOf(Date.parse(`${to}T00:00:00Z`) - DEFAULT_DAYS * DAY_MS);
  const begin = new Date(`${from}T00:00:00Z`);
  const end = new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS);
  if (end <= begin) return { wrong: "to", message: "the window ends before it starts" };
  if (end.getTime() - begin.getTime() > MAX_DAYS * DAY_MS) {
    return { wrong: "to", message: "ask for 92 days or fewer at a time" };
  }
  return { from, to, begin, end };
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** False also for days that no calendar has, such as 2026-02-30, and the year 0, which PostgreSQL lacks. */
function isDay(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && dayOf(time) === text;
}
