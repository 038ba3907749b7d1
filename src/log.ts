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
 * The log, as JSON lines, with secrets taken out of whatever is written to it. Without a destination it goes to the standard
 * output, written by the process itself: a write that is left to a thread is lost when the process exits before it.
 */
export function createLog(
  level: string,
  destination: DestinationStream = destinationOf({ sync: true }),
): Logger {
  const options = { level, base: null, serializers: { err: withoutRows } };
  return pino({ ...options, hooks: { streamWrite: withoutSecrets } }, destination);
}
