import {
  destination as destinationOf,
  pino,
  stdSerializers,
  type DestinationStream,
  type Logger,
} from "pino";

/** What must never be in a log: forge tokens, API keys, secrets of monitors, the App's tokens and private keys, whole or cut off. */
const SECRETS = [
  /gh[a-z]_[A-Za-z0-9._-]{20,}/g,
  /github_pat_[A-Za-z0-9_]{20,}/g,
  /tlk_[0-9A-Za-z]{12}_[0-9A-Za-z]+/g,
  /tlm_[0-9A-Za-z]{20,}/g,
  // A JWT. Only at the start of a word, or a long run of its letters would be walked from each of them.
  /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+/g,
  // Line breaks are written out here, once more for each time the text was made JSON.
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\+[nr])*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g,
];

/** Fields whose value is a secret whatever it looks like, at any depth. */
const SECRET_FIELDS =
  /"(authorization|cookie|password|secret|token|api_?key|private_?key|(?:webhook|client)_?secret)":"(?:[^"\\]|\\.)*"/gi;

/** The password in an address, as of a database or a clone. */
const PASSWORD = /:\/\/([^\s:@/"]+):[^\s@/"]+@/g;

const withoutSecrets = (line: string): string =>
  SECRETS.reduce(
    (clean, secret) => clean.replaceAll(secret, "[redacted]"),
    line.replaceAll(SECRET_FIELDS, '"$1":"[redacted]"').replaceAll(PASSWORD, "://$1:[redacted]@"),
  );

/** An error without what PostgreSQL quotes of rows and statements in it. */
function withoutRows(error: Error): object {
  const {
    detail: _rows,
    where: _statement,
    ...rest
  } = stdSerializers.err(error) as unknown as Record<string, unknown>;
  return rest;
}

/**
 * How long a line of no urgency waits for others to be written with, in milliseconds. A write for each call woke a thread and the loop again: at 10, with writes left to threads, that was a
 * twenty-fifth of what changing a card over one connection took node.
 */
const GATHER_MS = 50;
/** So many bytes are written without waiting. */
const GATHER_BYTES = 65_536;
/** From trace to info, as pino begins such a line. */
const NOT_URGENT = /^\{"level":[123]0,/;

/**
 * The standard output, and what is to be told of each line that goes there. It is written to while the process stands still, as pino does by itself: a write that is left to a thread is lost
 * when the process exits before it.
 */
function gatheringOutput(): { output: DestinationStream; noteLine: (line: string) => void } {
  const output = destinationOf({ minLength: GATHER_BYTES - 1, maxWrite: GATHER_BYTES, sync: true });
  let timer: NodeJS.Timeout | undefined;
  let isUrgent = false;
  let isWaiting = false;
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    isUrgent = false;
    if (!isWaiting) return;
    isWaiting = false;
    output.flush();
  };
  process.on("exit", write);
  return {
    output,
    noteLine: (line) => {
      isWaiting = true;
      if (NOT_URGENT.test(line)) timer ??= setTimeout(write, GATHER_MS).unref();
      else if (!isUrgent) {
        isUrgent = true;
        setImmediate(write);
      }
    },
  };
}

/**
 * The log, as JSON lines, with secrets taken out of whatever is written to it. Without a destination it goes to the standard output, where lines are gathered for a moment: to write
 * each by itself cost more than to make it. Warnings and errors do not wait, nor does what comes before them; what waits when the process ends, by itself or by
 * an exception, is written then.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = { level, base: null, serializers: { err: withoutRows } };
  if (destination) return pino({ ...options, hooks: { streamWrite: withoutSecrets } }, destination);
  const { output, noteLine } = gatheringOutput();
  const streamWrite = (line: string): string => {
    noteLine(line);
    return withoutSecrets(line);
  };
  return pino({ ...options, hooks: { streamWrite } }, output);
}
