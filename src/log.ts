import {
  destination as destinationOf,
  pino,
  stdSerializers,
  type DestinationStream,
  type Logger,
} from "pino";
import { isColorSupported, prettyFactory } from "pino-pretty";

/**
 * Secrets, whole or truncated: tokens, API keys, cookies of sessions, one-time links, secrets of
 * monitors and webhooks, private keys.
 */
const SECRETS = [
  /gh[a-z]_[A-Za-z0-9._-]{20,}/g,
  /github_pat_[A-Za-z0-9_]{20,}/g,
  /tl[ks]_[0-9A-Za-z]{12}_[0-9A-Za-z]+/g,
  /tl[fm]_[0-9A-Za-z]{20,}/g,
  /whsec_[0-9A-Za-z+/=]{20,}/g,
  // A JWT, at the start of a word: else a long run of its letters is scanned from each of them.
  /(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]+/g,
  // Line breaks are escaped here, once more for each time the text became JSON.
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\+[nr])*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g,
];

/** Fields whose value is always a secret, at any depth. */
const SECRET_FIELDS =
  /"(authorization|cookie|password|secret|token|api_?key|private_?key|(?:webhook|client)_?secret)":"(?:[^"\\]|\\.)*"/gi;

/** The password in a URL, such as that of a database or a clone. */
const PASSWORD = /:\/\/([^\s:@/"]+):[^\s@/"]+@/g;

const redact = (line: string): string =>
  SECRETS.reduce(
    (redacted, secret) => redacted.replaceAll(secret, "[redacted]"),
    line.replaceAll(SECRET_FIELDS, '"$1":"[redacted]"').replaceAll(PASSWORD, "://$1:[redacted]@"),
  );

/** An error without the rows and statements that PostgreSQL quotes in it. */
function withoutRows(error: Error): object {
  const {
    detail: _rows,
    where: _statement,
    ...rest
  } = stdSerializers.err(error) as unknown as Record<string, unknown>;
  return rest;
}

/** Synchronous: lines that a thread has not written yet are lost when the process exits. */
const standardOutput = (): DestinationStream => destinationOf({ sync: true });

/** Logs JSON lines, by default to standard output. Secrets are redacted before writing. */
export function createLog(level: string, destination: DestinationStream = standardOutput()): Logger {
  const options = { level, base: null, serializers: { err: withoutRows } };
  return pino({ ...options, hooks: { streamWrite: redact } }, destination);
}

interface Entry {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly ms?: number;
  readonly err?: { readonly message: string };
}

/** Successful requests other than a caller's writes: reads, and webhooks of the sandbox forge. */
const isRoutine = ({ msg, method, path, status }: Entry): boolean =>
  msg === "request" &&
  Number(status) < 400 &&
  (method === "GET" || !/^(?:\/console)?\/v1\//.test(path ?? "/v1/"));

/** Control characters in JSON, except line breaks and tabs. A terminal would execute them. */
const CONTROL = /\\u00[01]\w|\\[bfr]|[\u007f-\u009f]|(\\.)/g;

const ERROR_LEVEL = 50;

/** A request as one message, and the error of a warning without its stack. */
function shorten(entry: Entry): object {
  const { level, time, msg, method, path, status, ms } = entry;
  if (msg === "request") return { level, time, msg: `${method} ${path} ${status} (${ms} ms)` };
  const { err, ...rest } = entry;
  return err && level < ERROR_LEVEL ? { ...rest, reason: err.message } : entry;
}

/**
 * Formats the lines of a log for a terminal. A quiet one omits the requests that would scroll the
 * sandbox's API key away.
 */
export function prettyOutput(
  isQuiet: boolean,
  out: DestinationStream = standardOutput(),
  colorize: boolean = isColorSupported,
): DestinationStream {
  const format = prettyFactory({ colorize, singleLine: true, translateTime: "SYS:HH:MM:ss" });
  return {
    write: (line) => {
      const entry = JSON.parse(line.replaceAll(CONTROL, (_, other?: string) => other ?? "?")) as Entry;
      if (!(isQuiet && isRoutine(entry))) out.write(format(shorten(entry)));
    },
  };
}
