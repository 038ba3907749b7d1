import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** One request of an actor to the service, as it was sent and as it was answered. */
export interface RecordedCall {
  readonly type: "call";
  readonly actor: string;
  /** The board the credential belongs to. */
  readonly owner: string;
  readonly method: string;
  readonly path: string;
  readonly sent: unknown;
  readonly key: string | null;
  readonly attempt: number;
  readonly process: string;
  /** Milliseconds since 1970, by the harness's clock. */
  readonly start: number;
  readonly end: number;
  /** Null where no answer came: the connection broke, or the caller gave up waiting. */
  readonly status: number | null;
  readonly isReplay: boolean;
  readonly retryAfter: string | null;
  /** The very text of the answer. */
  readonly text: string;
}

/** Something that was done to the world: a fault, or an act of a person on the forge. */
export interface RecordedEvent {
  readonly type: "fault" | "person" | "note";
  readonly name: string;
  readonly at: number;
  readonly detail: unknown;
}

/** A call of the service to the forge, or its answer, which has the same `id`; or a webhook, when its delivery was over. */
interface RecordedTraffic {
  readonly type: "forge" | "webhook";
  readonly at: number;
  readonly [field: string]: unknown;
}

/** All that happened in a run, in the order it ended. What passes between the forge and the service is in the file alone. */
export interface History {
  readonly folder: string;
  readonly calls: readonly RecordedCall[];
  readonly events: readonly RecordedEvent[];
  call(call: Omit<RecordedCall, "type">): void;
  event(type: RecordedEvent["type"], name: string, detail?: unknown): void;
  forge(traffic: Readonly<Record<string, unknown>>): void;
  webhook(traffic: Readonly<Record<string, unknown>>): void;
}

/** Keeps a history, also as JSON lines in `history.jsonl` of a folder. */
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
