import { formsOf, mayBeNull, nameOf, type ApiDocument, type Schema } from "./document.ts";

/** What a field of this name could hold, where its schema has no example of its own. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  title: "Say hello",
  name: "Greetings",
  description: "Greets everybody by name.",
  body: "See [[How we ship]].",
  slug: "say-hello",
  fullName: "acme/web",
  repository: "acme/web",
  repositoryFullName: "acme/web",
  branchName: "card/7-say-hello",
  targetBranch: "main",
  login: "ada",
  message: "The pull request has conflicts.",
  error: "Conflict",
  statusCode: 409,
  path: "src/hello.ts",
  line: 12,
  headSha: "8f2b1c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
  avatarUrl: "https://avatars.githubusercontent.com/u/1",
  url: "https://github.com/acme/web/pull/12",
  number: 7,
  prNumber: 12,
  index: 0,
  position: 0,
  limit: 50,
  dangling: ["how-we-ship"],
};

const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: "019a2f5e-7c1b-7d3a-9e42-5b8f60c1d2e3",
  "date-time": "2026-01-31T09:30:00.000Z",
  date: "2026-01-31",
  uri: "https://github.com/acme/web",
};

/** A value that a schema allows, as an example of it. The least of it (`isLeast`) has only what is required, or one field. */
export function exampleOf(document: ApiDocument, schema: Schema, isLeast = false, name = ""): unknown {
  if (schema.$ref !== undefined) {
    const found = document.components.schemas[nameOf(schema.$ref)];
    return found ? exampleOf(document, found, isLeast, name) : null;
  }
  if (schema.example !== undefined) return schema.example;
  const [form = schema] = formsOf(schema);
  // An object that may be missing would only make the example longer.
  if (mayBeNull(schema) && (form.$ref !== undefined || form.properties)) return null;
  if (form !== schema) return exampleOf(document, form, isLeast, name);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.items)
    return name in BY_NAME ? BY_NAME[name] : [exampleOf(document, schema.items, isLeast, name)];
  const { properties, required = [] } = schema;
  if (!properties) return plainValue(schema, name);
  const fields = Object.entries(properties)
    .filter(([field], at) => !isLeast || (required.length > 0 ? required.includes(field) : at === 0))
    .map(([field, inner]) => [field, exampleOf(document, inner, isLeast, field)] as const);
  return Object.fromEntries(fields);
}

function plainValue({ type, format, minimum = 0 }: Schema, name: string): unknown {
  const [first] = [type].flat();
  if (first === "boolean") return false;
  if (first === "object") return {};
  if (format !== undefined && format in BY_FORMAT) return BY_FORMAT[format];
  const named = BY_NAME[name];
  if (first === "integer" || first === "number")
    return typeof named === "number" ? named : Math.max(minimum, 1);
  return typeof named === "string" ? named : "text";
}
