import type { z } from "zod";

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

/** What is expected in a field, in words, where its schema says nothing better itself. */
export const inWords: z.core.$ZodErrorMap = (issue) => {
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
