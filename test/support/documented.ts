import type { ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import { Ajv2020 } from "ajv/dist/2020.js";
import { openApiDocument } from "../../src/http/openapi.ts";
import type { RouteDefinition } from "../../src/http/route.ts";
import { routes } from "../../src/http/v1/routes.ts";

const NAME = "trunkline";
const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
addFormats.default(ajv);
// Whether it is a document at all is for the openapi suite to say: checking that here took a tenth of a second from every suite.
ajv.addSchema(openApiDocument(routes), NAME, false, false);

const known = routes.map(({ definition }) => ({
  definition,
  pattern: new RegExp(`^${definition.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
}));

interface DocumentedAnswer {
  /** The method and the path with its parameters in braces, as `GET /v1/cards/{number}`. */
  readonly operation: string;
  /** Null where the answer has no body. */
  readonly validate: ValidateFunction | null;
}

/** What the document says of this answer; undefined where it knows no such call. */
export function documentedAnswer(method: string, path: string, status: number): DocumentedAnswer | undefined {
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

/** Compiled when it is first asked for, and once: that takes longer than a hundred checks. */
function validatorOf({ path, method, responses }: RouteDefinition, status: number): ValidateFunction {
  const answer = status in responses ? String(status) : "default";
  const contentType = responses[status]?.contentType ?? "application/json";
  const place = ["paths", path, method, "responses", answer, "content", contentType, "schema"];
  const pointer = place.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1")));
  const address = `${NAME}#/${pointer.join("/")}`;
  const compiled = validators.get(address) ?? ajv.compile({ $ref: address });
  validators.set(address, compiled);
  return compiled;
}

/**
 * Holds an answer against the document and gives the operation it is of; undefined where the document knows no such call. Throws for
 * anything that is neither a documented success nor an error in the one shape, with its status in it.
 */
export function holdDocumented(
  method: string,
  path: string,
  status: number,
  body: unknown,
): string | undefined {
  const documented = documentedAnswer(method, path, status);
  if (!documented) return undefined;
  const { operation, validate } = documented;
  const refuse = (why: string): never => {
    throw new Error(`${operation} answered ${status} with what is not documented:\n${why}`);
  };
  if (validate === null) {
    if (body !== undefined) refuse(`a body, ${JSON.stringify(body)}`);
    return operation;
  }
  if (!validate(body)) {
    refuse(`${JSON.stringify(validate.errors, null, 2)}\nin ${JSON.stringify(body, null, 2)}`);
  }
  if (status >= 400 && (body as { statusCode?: unknown }).statusCode !== status) {
    refuse(`a statusCode that is not the status, in ${JSON.stringify(body)}`);
  }
  return operation;
}
