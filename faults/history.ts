import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** One request of an actor to the service, with its response. */
export interface RecordedCall {
  readonly type: "call";
  readonly actor: string;
  /** The owner of the credential's board. */
  readonly owner: string;
  /** The public half of the API key. */
  readonly clientId: string;
  /** Its user agent, by which its row in the audit log is found even without a response. */
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly sent: unknown;
  readonly key: string | null;
  /** The header `X-Claim`. */
  readonly claim: string | null;
  readonly attempt: number;
  readonly process: string;
  /** Unix time in milliseconds, by the harness's clock. */
  readonly start: number;
  readonly end: number;
  /** Null without a response: the connection broke, or the caller timed out. */
  readonly status: number | null;
  readonly isReplay: boolean;
  readonly retryAfter: string | null;
  /** The body of the response, unchanged. */
  readonly text: string;
}

/** An injected fault, an action of a person on the forge, or a note. */
interface RecordedEvent {
  readonly type: "fault" | "person" | "note";
  readonly name: string;
  readonly at: number;
  readonly detail: unknown;
}

/** A call to the forge, its response with the same `id`, or a finished webhook delivery. */
interface RecordedTraffic {
  readonly type: "forge" | "webhook";
  readonly at: number;
  readonly [field: string]: unknown;
}

/** The record of a run, in the order in which things ended. Forge traffic is only in the file. */
export interface History {
  readonly folder: string;
  readonly calls: readonly RecordedCall[];
  readonly events: readonly RecordedEvent[];
  call(call: Omit<RecordedCall, "type">): void;
  event(type: RecordedEvent["type"], name: string, detail?: unknown): void;
  forge(traffic: Readonly<Record<string, unknown>>): void;
  webhook(traffic: Readonly<Record<string, unknown>>): void;
}

/** Records a history in memory and as JSON lines in `history.jsonl` of the folder. */
export function openHistory(folder: string): History {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "history.jsonl");
  const write = (entry: RecordedCall | RecordedEvent | RecordedTraffic): void =>
    appendFileSync(file, `${JSON.stringify(entry)}\n`);
  const calls: RecordedCall[] = [];
  const events: RecordedEvent[] = [];
  return {
    folder,
    calls,
    events,
    call(call) {
      const entry: RecordedCall = { type: "call", ...call };
      calls.push(entry);
      write(entry);
    },
    event(type, name, detail = null) {
      const entry: RecordedEvent = { type, name, at: Date.now(), detail };
      events.push(entry);
      write(entry);
    },
    forge: (traffic) => write({ type: "forge", at: Date.now(), ...traffic }),
    webhook: (traffic) => write({ type: "webhook", at: Date.now(), ...traffic }),
  };
}

type Tally = Readonly<Record<string, number>>;

/** The event with the number of calls that each injected forge fault affected, which may be 0. */
export const FAULT_HITS = "calls that met a fault";

/** Counts faults, actions of people that were not refused, and responses to calls by status class. */
export function countEvents({ calls, events }: Pick<History, "calls" | "events">): Tally {
  const responses = calls.map(({ status, isReplay }) =>
    isReplay
      ? "call: replayed"
      : status === null
        ? "call: no response"
        : `call: ${Math.floor(status / 100)}xx`,
  );
  const hits = events.filter(({ name }) => name === FAULT_HITS).map(({ detail }) => detail as Tally);
  const counted = events.filter(
    ({ type, detail }) => (type === "fault" && !isRule(detail)) || (type === "person" && wasAccepted(detail)),
  );
  const names = [...responses, ...counted.map(({ type, name }) => `${type}: ${name}`)];
  return addTallies([...names.map((name) => ({ [name]: 1 })), ...hits.map(asFaults)]);
}

const asFaults = (hits: Tally): Tally =>
  Object.fromEntries(Object.entries(hits).map(([name, count]) => [`fault: ${name}`, count]));

/** A rule for future calls. It is counted by the calls that it affected. */
const isRule = (detail: unknown): boolean => Boolean((detail as { readonly rule?: unknown } | null)?.rule);

/** Adds tallies by name. */
export function addTallies(tallies: readonly Tally[]): Tally {
  const sums: Record<string, number> = {};
  for (const tally of tallies)
    for (const [name, count] of Object.entries(tally)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

function wasAccepted(detail: unknown): boolean {
  const { status = 200 } = detail as { readonly status?: number };
  return status < 300;
}
