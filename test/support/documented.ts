import { expect } from "@jest/globals";
import type { ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { openApiDocument } from "../../src/http/openapi.ts";
import { routes } from "../../src/http/v1/routes.ts";

const NAME = "trunkline";
const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
addFormats.default(ajv);
ajv.addSchema(openApiDocument(routes), NAME);

interface DocumentedAnswer {
  /** The method and the path with its parameters in braces, as `GET /v1/cards/{number}`. */
  readonly operation: string;
  /** Null where the answer has no body. */
  readonly validate: ValidateFunction | null;
}

/** What the document says of this answer; undefined where it knows no such call. */
export function documentedAnswer(method: string, path: string, status: number): DocumentedAnswer | undefined {
  const [pathname = ""] = path.split("?");
  const route = routes.find(
    ({ definition }) =>
      definition.method === method.toLowerCase() &&
      new RegExp(`^${definition.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(pathname),
  );
  if (!route) return undefined;
  const { definition } = route;
  const operation = `${method.toUpperCase()} ${definition.path}`;
  const known = definition.responses[status];
  if (known && known.schema === null) return { operation, validate: null };
  const pointer = [
    "paths",
    definition.path,
    definition.method,
    "responses",
    known ? String(status) : "default",
    "content",
    "application/json",
    "schema",
  ].map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")));
  return { operation, validate: ajv.compile({ $ref: `${NAME}#/${pointer.join("/")}` }) };
}

/**
 * Holds an answer against the document and gives the operation it is of. Whatever is no documented success has to be an error in the
 * one shape, with its status in it.
 */
export function expectDocumented(method: string, path: string, status: number, body: unknown): string {
  const documented = documentedAnswer(method, path, status);
  if (!documented) throw new Error(`${method} ${path} is not in the document`);
  const { operation, validate } = documented;
  const where = `${operation} ${status}`;
  if (validate === null) {
    expect([where, body]).toEqual([where, undefined]);
    return operation;
  }
  validate(body);
  expect([where, validate.errors ?? []]).toEqual([where, []]);
  if (status >= 400) expect(body).toMatchObject({ statusCode: status });
  return operation;
}
