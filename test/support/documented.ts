import type { ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { openApiDocument } from "../../src/http/openapi.ts";
import type { RouteDefinition } from "../../src/http/route.ts";
import { routes } from "../../src/http/v1/routes.ts";

const NAME = "trunkline";
// Optimizing a validator takes longer than the checks of a test file.
const code = { optimize: false };
const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, code });
addFormats.default(ajv);
// The openapi tests validate the document itself; here it would take 0.1 s for each test file.
ajv.addSchema(openApiDocument(routes), NAME, false, false);

const known = routes.map(({ definition }) => ({
  definition,
  pattern: new RegExp(`^${definition.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

interface DocumentedResponse {
  /** The method and the path template, such as `GET /v1/cards/{number}`. */
  readonly operation: string;
  /** Null if the response has no body. */
  readonly validate: ValidateFunction | null;
}

/** The description of this response in the document; undefined for an unknown call. */
export function documentedResponse(
  method: string,
  path: string,
  status: number,
): DocumentedResponse | undefined {
  const [pathname = ""] = path.split("?");
  const route = known.find(
    ({ definition, pattern }) => definition.method === method.toLowerCase() && pattern.test(pathname),
  );
  if (!route) return undefined;
  const { definition } = route;
  const operation = `${definition.method.toUpperCase()} ${definition.path}`;
  const isWithoutBody = status === 304 || definition.responses[status]?.schema === null;
  return { operation, validate: isWithoutBody ? null : validatorOf(definition, status) };
}

const validators = new Map<string, ValidateFunction>();

/** Compiled at its first use, because that takes longer than a hundred checks. */
function validatorOf({ path, method, responses }: RouteDefinition, status: number): ValidateFunction {
  const result = status in responses ? String(status) : "default";
  const contentType = responses[status]?.contentType ?? "application/json";
  const place = ["paths", path, method, "responses", result, "content", contentType, "schema"];
  const pointer = place.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")));
  const address = `${NAME}#/${pointer.join("/")}`;
  const compiled = validators.get(address) ?? ajv.compile({ $ref: address });
  validators.set(address, compiled);
  return compiled;
}

/** Throws unless the response matches the document. Returns its operation, if the call is known. */
export function checkDocumented(
  method: string,
  path: string,
  status: number,
  body: unknown,
): string | undefined {
  const documented = documentedResponse(method, path, status);
  if (!documented) return undefined;
  const { operation, validate } = documented;
  const fail = (why: string): never => {
    throw new Error(`${operation}: the response ${status} has undocumented content:\n${why}`);
  };
  if (validate === null) {
    if (body !== undefined) fail(`a body, ${JSON.stringify(body)}`);
    return operation;
  }
  if (!validate(body)) {
    fail(`${JSON.stringify(validate.errors, null, 2)}\nin ${JSON.stringify(body, null, 2)}`);
  }
  if (status >= 400 && (body as { statusCode?: unknown }).statusCode !== status) {
    fail(`a statusCode other than the status, in ${JSON.stringify(body)}`);
  }
  return operation;
}
