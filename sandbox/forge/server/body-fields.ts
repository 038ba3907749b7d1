import { ApiError, unprocessable } from "./api-error.ts";

/** A JSON object from a request. */
export type Fields = Readonly<Record<string, unknown>>;

/** Parses a body; an empty one has no fields. Like GitHub, ignores the content type. */
export function parseFields(body: Buffer): Fields {
  const text = body.toString("utf8").trim();
  if (text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError(400, "Problems parsing JSON");
  }
  if (!isFields(value)) throw new ApiError(400, "Body should be a JSON object");
  return value;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const wrongType = (name: string, value: unknown, type: string) =>
  unprocessable(`Invalid request.\n\nFor 'properties/${name}', ${JSON.stringify(value)} is not ${type}.`);

const missing = (name: string) => unprocessable(`Invalid request.\n\n"${name}" wasn't supplied.`);

export function requiredText(fields: Fields, name: string): string {
  const value = optionalText(fields, name);
  if (value === undefined) throw missing(name);
  return value;
}

/** Undefined if the field is missing or null. */
export function optionalText(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw wrongType(name, value, "a string");
  return value;
}

export function optionalFlag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  // GitHub accepts "true", which curl users send.
  if (value === "true" || value === "false") return value === "true";
  if (typeof value !== "boolean") throw wrongType(name, value, "a boolean");
  return value;
}

export function optionalNumber(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value)) throw wrongType(name, value, "an integer");
  return value;
}

/** Throws unless the value is one of the choices. */
export function optionalChoice<const Choice extends string>(
  fields: Fields,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = optionalText(fields, name);
  if (value === undefined) return undefined;
  const choice = choices.find((each) => each === value);
  if (choice === undefined)
    throw unprocessable(
      `Invalid request.\n\nFor 'properties/${name}', ${value} is not a member of ${JSON.stringify(choices)}.`,
    );
  return choice;
}

export function optionalFields(fields: Fields, name: string): Fields | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (!isFields(value)) throw wrongType(name, value, "an object");
  return value;
}

export function optionalList(fields: Fields, name: string): readonly unknown[] | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw wrongType(name, value, "an array");
  return value;
}

export const optionalFieldsList = (fields: Fields, name: string): readonly Fields[] | undefined =>
  optionalList(fields, name)?.map((each, index) => {
    if (!isFields(each)) throw wrongType(`${name}/${index}`, each, "an object");
    return each;
  });

export const optionalTexts = (fields: Fields, name: string): readonly string[] | undefined =>
  optionalList(fields, name)?.map((each, index) => {
    if (typeof each !== "string") throw wrongType(`${name}/${index}`, each, "a string");
    return each;
  });
