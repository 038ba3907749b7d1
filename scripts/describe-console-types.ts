import { typedRoutes } from "../src/http/console/console-routes.ts";
import { openApiDocument } from "../src/http/openapi.ts";

/** A schema of openapi.json, as far as zod writes it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Content>>;
}

/** An OpenAPI document. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * The TypeScript declarations of `console/api/schema.d.ts`: a type for each schema, and the interface
 * `Operations` with parameters, body and response of each route, also of those that only the console has.
 */
export function describeConsoleTypes(openApi: OpenApi): string {
  const own = openApiDocument(typedRoutes) as OpenApi;
  const paths = { ...openApi.paths, ...own.paths };
  const schemas = Object.entries({ ...openApi.components.schemas, ...own.components.schemas }).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};\n`,
  );
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        `${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${operationType(operation)}`,
    ),
  );
  return [
    "// Generated from openapi.json and the routes of the console by `npm run console-types`.\n",
    ...schemas.map(oneFieldPerLine),
    oneFieldPerLine(`export interface Operations { ${operations.join("; ")} }\n`),
  ].join("\n");
}

/** Breaks and indents a declaration, so that a changed field is a changed line. Strings have no braces. */
function oneFieldPerLine(declaration: string): string {
  let depth = 0;
  return declaration.replaceAll(/\{ | \}|; /g, (mark) => {
    if (mark === "{ ") depth++;
    if (mark === " }") depth--;
    const indent = `\n${"  ".repeat(depth)}`;
    return mark === " }" ? `;${indent}}` : `${mark.trim()}${indent}`;
  });
}

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const parametersIn = (place: string): string => {
    const found = parameters.filter((each) => each.in === place);
    const fields = found.map(
      ({ name, required, schema }) => `${fieldName(name)}${required ? "" : "?"}: ${typeOf(schema)}`,
    );
    return fields.length === 0 ? "undefined" : `{ ${fields.join("; ")} }`;
  };
  const body = schemaOf(requestBody);
  const bodies = Object.entries(responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([, response]) => schemaOf(response))
    .map((schema) => (schema ? typeOf(schema) : "undefined"));
  return `{ path: ${parametersIn("path")}; query: ${parametersIn("query")}; body: ${
    body ? typeOf(body) : "undefined"
  }; response: ${[...new Set(bodies)].join(" | ") || "undefined"} }`;
}

const schemaOf = (from: Content | undefined): Schema | undefined =>
  from?.content?.["application/json"]?.schema;

function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.split("/").at(-1) ?? "never";
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (alternatives) return `(${alternatives.map(typeOf).join(" | ")})`;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return `(${schema.enum.map((value) => JSON.stringify(value)).join(" | ")})`;
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (types.length === 0) return "unknown";
  return types.length === 1
    ? plainType(types[0] ?? "", schema)
    : `(${types.map((type) => plainType(type, schema)).join(" | ")})`;
}

function plainType(type: string, schema: Schema): string {
  if (type === "array") return `readonly ${itemType(typeOf(schema.items ?? {}))}[]`;
  if (type === "object") return objectType(schema);
  return type === "integer" ? "number" : type;
}

const fieldName = (name: string): string => (/^\w+$/.test(name) ? name : JSON.stringify(name));

const itemType = (type: string): string => (type.startsWith("readonly ") ? `(${type})` : type);

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `readonly ${fieldName(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`,
  );
  if (fields.length === 0 && additionalProperties) {
    return `Readonly<Record<string, ${additionalProperties === true ? "unknown" : typeOf(additionalProperties)}>>`;
  }
  return fields.length === 0 ? "Readonly<Record<string, never>>" : `{ ${fields.join("; ")} }`;
}
