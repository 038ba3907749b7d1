/** Variants of GitHub's webhooks that its descriptions (test/fixtures/github) allow. */
import { readFileSync } from "node:fs";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}
type Json = Readonly<Record<string, unknown>>;

const file = new URL("../../fixtures/github/webhooks.json", import.meta.url);
const described = JSON.parse(readFileSync(file, "utf8")) as {
  readonly operations: Readonly<Record<string, Schema>>;
  readonly schemas: Readonly<Record<string, Schema>>;
};

/** Sets every field to null that may be null. Unchanged if the webhook is not described. */
export function withNulls(event: string, payload: Json): Json {
  const action = typeof payload["action"] === "string" ? payload["action"] : undefined;
  const schema = described.operations[action === undefined ? event : `${event} ${action}`];
  return schema === undefined ? payload : (nullIn(payload, alternativesOf([schema])) as Json);
}

/** The schemas and all parts and alternatives of them, without references. */
function alternativesOf(schemas: readonly Schema[]): Schema[] {
  return schemas.flatMap((given) => {
    const schema = given.$ref ? described.schemas[given.$ref.replace("#/schemas/", "")]! : given;
    const { allOf = [], anyOf = [], oneOf = [] } = schema;
    return [schema, ...alternativesOf([...allOf, ...anyOf, ...oneOf])];
  });
}

function nullIn(value: unknown, schemas: readonly Schema[]): unknown {
  if (schemas.some(({ type }) => [type].flat().includes("null"))) return null;
  if (Array.isArray(value)) {
    const items = alternativesOf(schemas.flatMap((schema) => schema.items ?? []));
    return value.map((item) => nullIn(item, items));
  }
  return mapFields(value, (field, name) =>
    nullIn(field, alternativesOf(schemas.flatMap(({ properties }) => properties?.[name] ?? []))),
  );
}

export function withEmptyLists(value: unknown): unknown {
  return Array.isArray(value) ? [] : mapFields(value, withEmptyLists);
}

/** The longest texts that GitHub allows, in characters. */
const LIMITS: ReadonlyMap<string, number> = new Map([
  ["body", 65_536],
  ["message", 65_536],
  ["text", 65_536],
  ["summary", 65_536],
  ["title", 256],
  ["description", 350],
  ["context", 255],
  ["name", 100],
]);

/**
 * Makes every text as long as GitHub allows: `start` and then emoji. With a start of an odd length,
 * and with one of an even length, any cut that does not count characters halves one.
 */
export function withLongTexts(value: unknown, start: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withLongTexts(item, start));
  return mapFields(value, (field, name) => {
    const limit = LIMITS.get(name);
    if (limit === undefined || typeof field !== "string") return withLongTexts(field, start);
    return start + "😀".repeat(limit - start.length);
  });
}

function mapFields(value: unknown, change: (field: unknown, name: string) => unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, change(field, name)]));
}
