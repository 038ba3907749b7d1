import { z } from "zod";
import { invalid, type Issue } from "../errors.ts";
import { inWords } from "./in-words.ts";

/** A body of a thousand wrong fields need not be answered with all of them. */
const MAX_ISSUES = 50;

/** Checks input against its schema. Throws `invalid` naming every field that is wrong and what it should be. */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  where: "body" | "query" | "path",
): z.output<Schema> {
  const checked = schema.safeParse(input, { error: inWords });
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

/** What is no text is not also too long: one thing is said of each field. */
const firstOfEach = (issues: readonly Issue[]): Issue[] =>
  [...new Map(issues.toReversed().map((issue) => [issue.path, issue])).values()].toReversed();

const LONE_SURROGATE = /\p{Surrogate}/u;

export interface TextOptions {
  readonly min?: number;
  readonly max: number;
  /** Spaces around it do not belong to it. */
  readonly isTrimmed?: boolean;
}

/**
 * Text as PostgreSQL and JSON can carry it: no NUL, no half of a character. Its length is counted in characters as JSON Schema counts
 * them, so that the document says what holds: an emoji is one, not the two that JavaScript counts.
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

/** An identifier, which is never a name or a slug. Upper-case letters are the same id. */
export const id = (): z.ZodGUID => z.guid("an id is required here, not a name or slug").toLowerCase();

/** A day of our era: PostgreSQL knows no year 0. */
export const day = (): z.ZodISODate =>
  z.iso.date("a date, as YYYY-MM-DD").refine((value) => !value.startsWith("0000"), "a date, as YYYY-MM-DD");
