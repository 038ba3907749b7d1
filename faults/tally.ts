import type { History } from "./history.ts";

type Tally = Readonly<Record<string, number>>;

/** The note that says how many calls met each fault of the forge: a fault that is added may meet none. */
export const STRUCK = "calls that met a fault";

/** How often what happened: each fault, each thing people did and were not refused, each kind of answer to a call. */
export function whatHappened({ calls, events }: Pick<History, "calls" | "events">): Tally {
  const answers = calls.map(({ status, isReplay }) =>
    isReplay ? "call: replayed" : status === null ? "call: no answer" : `call: ${Math.floor(status / 100)}xx`,
  );
  const struck = events.filter(({ name }) => name === STRUCK).map(({ detail }) => detail as Tally);
  const done = events.filter(
    ({ type, detail }) => (type === "fault" && !isRule(detail)) || (type === "person" && wasDone(detail)),
  );
  const names = [...answers, ...done.map(({ type, name }) => `${type}: ${name}`)];
  return added([...names.map((name) => ({ [name]: 1 })), ...struck.map(asFaults)]);
}

const asFaults = (struck: Tally): Tally =>
  Object.fromEntries(Object.entries(struck).map(([name, count]) => [`fault: ${name}`, count]));

/** A rule for calls to come, which is told of by what it struck. */
const isRule = (detail: unknown): boolean => Boolean((detail as { readonly rule?: unknown } | null)?.rule);

/** The sums of what is called alike. */
export function added(tallies: readonly Tally[]): Tally {
  const sums: Record<string, number> = {};
  for (const tally of tallies)
    for (const [name, count] of Object.entries(tally)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function wasDone(detail: unknown): boolean {
  const { status = 200 } = detail as { readonly status?: number };
  return status < 300;
}
