import { z } from "zod";
import { invalid, type Issue } from "../errors.ts";

/** The most invalid fields that one answer lists. */
const MAX_ISSUES = 50;

/** Validates input. Throws `invalid` with every invalid field and what is expected there. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  where: "body" | "query" | "path",
): z.output<Schema> {
  const checked = schema.safeParse(input, { error: zodMessage });
  if (checked.success) return checked.data;
  const issues = firstOfEach(checked.error.issues.flatMap((issue) => issuesOf(issue, where)));
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  throw invalid(
    first ? `${first.path}: ${first.message}${more}` : "The request is not valid.",
    issues.slice(0, MAX_ISSUES),
  );
}

function issuesOf(issue: z.core.$ZodIssue, where: string): Issue[] {
  const path = [where, ...issue.path.map(String)].join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: `${path}.${key}`, message: "unknown field" }));
  }
  return [{ path, message: issue.message }];
}

/** The first issue of each field: a value that is not text is not also too long. */
const firstOfEach = (issues: readonly Issue[]): Issue[] =>
  [...new Map(issues.toReversed().map((issue) => [issue.path, issue])).values()].toReversed();

const LONE_SURROGATE = /\p{Surrogate}/u;

interface TextOptions {
  readonly min?: number;
  readonly max: number;
  /** Removes the spaces around the text. */
  readonly isTrimmed?: boolean;
}

/**
 * Text that PostgreSQL and JSON can store: no NUL, no lone surrogate. Length counts characters as
 * JSON Schema does, so that the OpenAPI document is right: an emoji is one character, not two.
 */
export const text = ({ min = 0, max, isTrimmed = false }: TextOptions): z.ZodString =>
  (isTrimmed ? z.string().trim() : z.string())
    .refine((value) => !value.includes("\0"), "must not contain NUL")
    .refine((value) => !LONE_SURROGATE.test(value), "must not contain half a surrogate pair")
    .refine(
      (value) => {
        const length = value.length <= max ? value.length : Array.from(value).length;
        return length >= min && length <= max;
      },
      `${min > 0 ? `${min} to` : "at most"} ${max.toLocaleString("en")} characters${isTrimmed ? ", spaces around them not counted" : ""}`,
    )
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max });

/** A UUID in any letter case; never a name or slug. */
export const id = (): z.ZodGUID => z.guid("an id is required here, not a name or slug").toLowerCase();

/** A date; PostgreSQL has no year 0. */
export const day = (): z.ZodISODate =>
  z.iso.date("a date, as YYYY-MM-DD").refine((value) => !value.startsWith("0000"), "a date, as YYYY-MM-DD");

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

/** The message for a zod issue whose schema does not give one. */
const zodMessage: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return typeInWords(issue.expected, issue.input);
    case "invalid_value":
      return `one of ${issue.values.map(String).join(", ")}`;
    case "too_big":
      return `at most ${amountOf(issue.maximum, issue.origin)}`;
    case "too_small":
      return `at least ${amountOf(issue.minimum, issue.origin)}`;
    default:
      return "not in the form that is expected here";
  }
};

function typeInWords(expected: string, input: unknown): string {
  const required = `${NOUNS[expected] ?? expected} is required here`;
  if (input === undefined) return required;
  const got = nounOf(input);
  return got === NOUNS[expected] ? required : `${required}, not ${got}`;
}

function nounOf(input: unknown): string {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  return NOUNS[typeof input] ?? typeof input;
}

const amountOf = (limit: number | bigint, origin: string): string =>
  `${limit.toLocaleString("en")}${UNITS[origin] ?? ""}`;
const UNITS: Readonly<Record<string, string>> = { array: " entries", string: " characters" };
