import { openApiDocument } from "../../src/http/openapi.ts";
import { routes } from "../../src/http/v1/routes.ts";
import type { Sample } from "./samples.ts";

/** A field of a call: `path.number`, `body.labelIds.*`, `header.X-Service-Workspace`. */
export type Field = string;

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: Schema } };
  };
}
const document = openApiDocument(routes) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

/** Card numbers are recognized by their names: `number`, `parentNumber`, `taskNumbers`, `card`. */
const isCardNumber = (field: string): boolean =>
  /numbers?(\.\*)?$|\.card$/i.test(field) && !/prNumber$|pullRequest\.number$/.test(field);
const isId = ({ type, format }: Schema, field: string): boolean =>
  format === "uuid" || (type === "integer" && isCardNumber(field));

function fieldsOf(schema: Schema, field: Field): [Field, Schema][] {
  if (schema.$ref !== undefined) {
    const named = document.components.schemas[schema.$ref.split("/").at(-1) ?? ""];
    return named ? fieldsOf(named, field) : [];
  }
  return [
    [field, schema],
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => fieldsOf(each, `${field}.${name}`)),
    ...(schema.items ? fieldsOf(schema.items, `${field}.*`) : []),
    ...(schema.anyOf ?? []).flatMap((each) => fieldsOf(each, field)),
  ];
}

function schemasOf(name: string): [Field, Schema][] {
  const [method = "", path = ""] = name.split(" ");
  const operation = document.paths[path]?.[method.toLowerCase()];
  const body = operation?.requestBody?.content["application/json"].schema;
  return [
    ...(operation?.parameters ?? []).flatMap((each) => fieldsOf(each.schema, `${each.in}.${each.name}`)),
    ...(body ? fieldsOf(body, "body") : []),
  ];
}

/** All fields of a route in the document. */
export const inputFieldsOf = (name: string): Field[] => [...new Set(schemasOf(name).map(([field]) => field))];

/** Other names of fields; a call has one of the two. */
export const OTHER_NAMES: Readonly<Record<Field, Field>> = {
  "body.assignee": "body.assigneeId",
  "body.branch.repositoryId": "body.pullRequest.repositoryId",
};

/** The fields of a route with an id or a card's number. */
export const idFieldsOf = (name: string): Field[] =>
  schemasOf(name).flatMap(([field, schema]) => (isId(schema, field) ? [field] : []));

/** The value of a field in a sample, the first one of a list; undefined if it is omitted. */
export const valueAt = (sample: Sample, field: Field): unknown =>
  field
    .split(".")
    .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[stepOf(step)], sample);

/** The sample with another value in a field. */
export function withValueAt(sample: Sample, field: Field, value: unknown): Sample {
  const copy = structuredClone(sample);
  const steps = field.split(".");
  const last = steps.pop() ?? "";
  let parent = copy as Record<string, unknown>;
  for (const step of steps) parent = (parent[stepOf(step)] ??= {}) as Record<string, unknown>;
  parent[stepOf(last)] = value;
  return copy;
}

const stepOf = (step: string): string => (step === "*" ? "0" : step);
