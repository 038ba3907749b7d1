import { z } from "zod";
import { invalid, type Issue } from "../errors.ts";
import { isBlank } from "../flow/text.ts";

/** The maximum number of invalid fields in one response. */
const MAX_ISSUES = 50;

/** Validates input. Throws `invalid` with every invalid field and what it must contain. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  where: "body" | "query" | "path" | "arguments",
): z.output<Schema> {
  const checked = schema.safeParse(input, { error: messageOf });
  if (checked.success) return checked.data;
  const issues = firstOfEach(checked.error.issues.flatMap((issue) => issuesOf(issue, where)));
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  throw invalid(
    first ? `${first.path}: ${first.message}${more}` : "The request is not valid.",
    issues.slice(0, MAX_ISSUES),
  );
}

/**
 * Validates the query of a request. Throws `invalid` for a parameter that the schema does not have.
 */
export function validateQuery(schema: z.ZodObject | undefined, query: object): unknown {
  const known = Object.keys(schema?.shape ?? {});
  const unknown = Object.keys(query).filter((name) => !known.includes(name));
  if (unknown.length === 0) return schema && validate(schema, query, "query");
  const message =
    known.length === 0
      ? "is unknown; this call has no query parameters"
      : `is unknown; this call has the query parameters ${known.join(", ")}`;
  const names = unknown.slice(0, MAX_ISSUES).map((name) => `query.${name}`);
  throw invalid(
    `${names.join(", ")}: ${message}`,
    names.map((path) => ({ path, message })),
  );
}

function issuesOf(issue: z.core.$ZodIssue, where: string): Issue[] {
  const path = [where, ...issue.path.map(String)].join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: `${path}.${key}`, message: "unknown field" }));
  }
  return [{ path, message: issue.message }];
}

/** Keeps the first issue of each field. */
const firstOfEach = (issues: readonly Issue[]): Issue[] =>
  [...new Map(issues.toReversed().map((issue) => [issue.path, issue])).values()].toReversed();

const LONE_SURROGATE = /\p{Surrogate}/u;

interface TextOptions {
  readonly min?: number;
  readonly max: number;
  /** Removes leading and trailing whitespace. */
  readonly isTrimmed?: boolean;
}

/**
 * Text that PostgreSQL and JSON can store: no NUL, no lone surrogate. A name or title (`isTrimmed`)
 * needs a visible character. The length is in characters
 * as in JSON Schema, where an emoji is one character and not two.
 */
export const text = ({ min = 0, max, isTrimmed = false }: TextOptions): z.ZodString =>
  (isTrimmed ? z.string().trim() : z.string())
    .refine((value) => !value.includes("\0"), "must not contain a NUL character")
    .refine((value) => !LONE_SURROGATE.test(value), "must not contain a lone surrogate")
    .refine(
      (value) => {
        const length = value.length <= max ? value.length : Array.from(value).length;
        return length >= min && length <= max;
      },
      `must have ${min > 0 ? `${min} to` : "at most"} ${max.toLocaleString("en")} characters${isTrimmed ? ", without leading and trailing spaces" : ""}`,
    )
    .refine(
      (value) => !isTrimmed || min === 0 || value === "" || !isBlank(value),
      "must have a character that is visible",
    )
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });

/** A UUID in upper or lower case. */
export const id = (): z.ZodGUID => z.guid("must be an id (a UUID), not a name or slug").toLowerCase();

/** A number from 0 to `max` in a query. */
export const digits = (max: number, message: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value <= max, message);

/** A date. PostgreSQL has no year 0. */
const DATE_FORMAT = "must be a date (YYYY-MM-DD)";
export const day = (): z.ZodISODate =>
  z.iso.date(DATE_FORMAT).refine((value) => !value.startsWith("0000"), DATE_FORMAT);

const NOUNS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** The message of an issue if its schema defines none. */
const messageOf: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return typeMessage(issue.expected, issue.input);
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_big":
      return limitMessage("at most", issue.maximum, issue.origin);
    case "too_small":
      return limitMessage("at least", issue.minimum, issue.origin);
    default:
      return "has the wrong format";
  }
};

function typeMessage(expected: string, input: unknown): string {
  const noun = NOUNS[expected] ?? expected;
  if (input === undefined) return `is required (${noun})`;
  const got = nounOf(input);
  return got === noun ? `must be ${noun}` : `must be ${noun}, not ${got}`;
}

function nounOf(input: unknown): string {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  return NOUNS[typeof input] ?? typeof input;
}

const UNITS: Readonly<Record<string, string>> = { array: "entries", string: "characters" };
const limitMessage = (bound: string, limit: number | bigint, origin: string): string => {
  const unit = UNITS[origin];
  const amount = `${bound} ${limit.toLocaleString("en")}`;
  return unit ? `must have ${amount} ${unit}` : `must be ${amount}`;
};
