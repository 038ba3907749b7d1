// From GitHub's OpenAPI schemas to plain JSON Schema: prose removed, `nullable` written as a type, identical parts shared.
import { createHash } from "node:crypto";

const PLAIN = [
  "type",
  "enum",
  "const",
  "format",
  "pattern",
  "required",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
];
const MAPS = ["properties", "patternProperties"];
const LISTS = ["allOf", "anyOf"];
const NESTED = ["items", "additionalProperties", "not"];

/** The validating part of one schema; `$ref`s are rewritten to `#/schemas/<name>`. */
export function toJsonSchema(schema) {
  if (typeof schema !== "object") return schema;
  if (schema.$ref) {
    const reference = { $ref: schema.$ref.replace("#/components/", "#/") };
    return schema.nullable ? { anyOf: [reference, { type: "null" }] } : reference;
  }
  const out = {};
  for (const key of PLAIN) if (key in schema) out[key] = schema[key];
  for (const key of MAPS) if (key in schema) out[key] = mapValues(schema[key], toJsonSchema);
  for (const key of LISTS) if (key in schema) out[key] = schema[key].map(toJsonSchema);
  for (const key of NESTED) if (key in schema) out[key] = toJsonSchema(schema[key]);
  // Many of GitHub's `oneOf`s overlap (a team is also a user), so that a right answer matches two: any of them will do.
  if (schema.oneOf) out.allOf = [...(out.allOf ?? []), { anyOf: schema.oneOf.map(toJsonSchema) }];
  return schema.nullable ? withNull(out) : out;
}

function withNull(schema) {
  if (schema.enum && !schema.enum.includes(null)) schema.enum = [...schema.enum, null];
  if (typeof schema.type === "string") return { ...schema, type: [schema.type, "null"] };
  if (Array.isArray(schema.type)) return { ...schema, type: [...new Set([...schema.type, "null"])] };
  return { anyOf: [schema, { type: "null" }] };
}

export function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** The named schemas that `roots` reach, directly or through one another. */
export function reached(roots, all) {
  const found = {};
  const visit = (value) => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (value === null || typeof value !== "object") return undefined;
    const name = typeof value.$ref === "string" && value.$ref.replace("#/schemas/", "");
    if (name && !found[name]) {
      if (!all[name]) throw new Error(`unknown schema ${name}`);
      found[name] = toJsonSchema(all[name]);
      visit(found[name]);
    }
    return Object.values(value).forEach(visit);
  };
  visit(roots);
  return found;
}

function sorted(object) {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Object schemas that occur more than once (a user is spelt out 500 times) move to `schemas` under a name made of their
 * content. Works from the inside out, so that shared parts of shared parts are shared too.
 */
export function shareRepeated(document) {
  const counts = new Map();
  const count = (value) => {
    if (value === null || typeof value !== "object") return;
    if (isShareable(value)) {
      const key = JSON.stringify(value);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (counts.get(key) > 1) return;
    }
    Object.values(value).forEach(count);
  };
  count(document);
  const shared = {};
  const replace = (value, isNamed) => {
    if (value === null || typeof value !== "object") return value;
    const key = !isNamed && isShareable(value) ? JSON.stringify(value) : undefined;
    const inner = Array.isArray(value) ? value.map((v) => replace(v)) : mapValues(value, (v) => replace(v));
    if (key === undefined || counts.get(key) < 2) return inner;
    const name = `shared-${createHash("sha256").update(key).digest("hex").slice(0, 8)}`;
    shared[name] = inner;
    return { $ref: `#/schemas/${name}` };
  };
  const operations = replace(document.operations);
  const schemas = mapValues(document.schemas, (schema) => replace(schema, true));
  return { operations, schemas: sorted({ ...schemas, ...shared }) };
}

/** Worth a name: an object description longer than its reference would be. */
function isShareable(value) {
  return !Array.isArray(value) && typeof value.properties === "object" && JSON.stringify(value).length > 200;
}
