import { openApiDocument } from "../../src/http/openapi.ts";
import { routes } from "../../src/http/v1/routes.ts";
import type { Sample } from "./samples.ts";

/** Where a call takes an id or a card's number: `path.number`, `body.labelIds.*`, `header.X-Service-Workspace`. */
export type IdField = string;

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

/** Integers that are card numbers are told by their names: `number`, `parentNumber`, `taskNumbers`, `card`. */
const isCardNumber = (field: string): boolean => /numbers?(\.\*)?$|\.card$/i.test(field);
/** These number nothing on a board of Trunkline's. */
const isId = ({ type, format }: Schema, field: string): boolean =>
  format === "uuid" || (type === "integer" && isCardNumber(field));

function fieldsOf(schema: Schema, field: string): IdField[] {
  if (schema.$ref !== undefined) {
    const named = document.components.schemas[schema.$ref.split("/").at(-1) ?? ""];
    return named ? fieldsOf(named, field) : [];
  }
  const inner = Object.entries(schema.properties ?? {}).map(([name, each]) => [`${field}.${name}`, each]);
  return [
    ...(isId(schema, field) ? [field] : []),
    ...(inner as [string, Schema][]).flatMap(([name, each]) => fieldsOf(each, name)),
    ...(schema.items ? fieldsOf(schema.items, `${field}.*`) : []),
    ...(schema.anyOf ?? []).flatMap((each) => fieldsOf(each, field)),
  ];
}

/** All fields of a route that take an id or a card's number, read from the document. */
export function idFieldsOf(name: string): IdField[] {
  const [method = "", path = ""] = name.split(" ");
  const operation = document.paths[path]?.[method.toLowerCase()];
  const body = operation?.requestBody?.content["application/json"].schema;
  return [
    ...(operation?.parameters ?? []).flatMap((each) => fieldsOf(each.schema, `${each.in}.${each.name}`)),
    ...(body ? fieldsOf(body, "body") : []),
  ];
}

/** The value of a field in a sample, of a list the first; undefined where the sample leaves it out. */
export const valueAt = (sample: Sample, field: IdField): unknown =>
  field
    .split(".")
    .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[stepOf(step)], sample);

/** The sample with another value in a field. */
export function withValueAt(sample: Sample, field: IdField, value: unknown): Sample {
  const copy = structuredClone(sample);
  const steps = field.split(".");
  const last = steps.pop() ?? "";
  const holder = valueAt(copy, steps.join(".")) as Record<string, unknown>;
  holder[stepOf(last)] = value;
  return copy;
}

const stepOf = (step: string): string => (step === "*" ? "0" : step);
