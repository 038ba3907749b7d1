/** Validates messages of a forge with GitHub's published descriptions (test/fixtures/github). */
import { readFileSync } from "node:fs";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";

interface RestOperation {
  readonly request: object | null;
  readonly responses: Readonly<Record<string, object | null>>;
}

interface Contract<Operation> {
  readonly source: string;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly schemas: Readonly<Record<string, object>>;
}

/** A difference between a message and its description. */
export class ContractMismatch extends Error {
  override readonly name = "ContractMismatch";
  readonly mismatches: readonly string[];

  constructor(subject: string, mismatches: readonly string[]) {
    super(`${subject} differs from GitHub's description:\n  ${mismatches.join("\n  ")}`);
    this.mismatches = mismatches;
  }
}

/** Parameters at the end of a path that may contain unescaped slashes. */
const PATH_PARAMETERS = new Set(["{ref}", "{path}", "{basehead}", "{tag}"]);
/** Refusals that any operation may respond with; GitHub describes them for few. */
const ANYWHERE = /^(?:301|307|400|401|403|404|429|5..)$/;
const rest = load<RestOperation>("rest");
const webhooks = load<object>("webhooks");
/** Paths with fewer parameters come first: `/issues/comments` before `/issues/{issue_number}`. */
const templates = Object.keys(rest.contract.operations)
  .map(toTemplate)
  .toSorted((a, b) => a.operation.split("{").length - b.operation.split("{").length);

/** Differences of a REST response; `path` may have `/api/v3` and a query. */
export function responseMismatches(method: string, path: string, status: number, body: unknown): string[] {
  const operation = operationOf(method, path);
  if (operation === undefined) return [`there is no operation in ${rest.contract.source}: ${method} ${path}`];
  const { responses } = rest.contract.operations[operation]!;
  const documented = responses[String(status)];
  if (documented === undefined) {
    const known = Object.keys(responses).join(", ");
    if (!ANYWHERE.test(String(status))) return [`status ${status} is not described; ${known} are`];
    return rest.check("/schemas/basic-error", body);
  }
  if (documented === null) return isEmpty(body) || status >= 300 ? [] : [`status ${status} has no body`];
  return rest.check(`/operations/${pointer(operation)}/responses/${status}`, body);
}

/** Differences of a REST request's body. */
export function requestMismatches(method: string, path: string, body: unknown): string[] {
  const operation = operationOf(method, path);
  if (operation === undefined) return [`there is no operation in ${rest.contract.source}: ${method} ${path}`];
  if (rest.contract.operations[operation]!.request === null) return [];
  return isEmpty(body) ? [] : rest.check(`/operations/${pointer(operation)}/request`, body);
}

/** Differences of a webhook's payload. */
export function webhookMismatches(event: string, action: string | undefined, payload: unknown): string[] {
  const operation = action === undefined ? event : `${event} ${action}`;
  if (!(operation in webhooks.contract.operations)) {
    return [`there is no webhook in ${webhooks.contract.source}: ${operation}`];
  }
  return webhooks.check(`/operations/${pointer(operation)}`, payload);
}

/** Throws a `ContractMismatch` unless the response matches GitHub's description. */
export function validateResponse(method: string, path: string, status: number, body: unknown): void {
  const mismatches = responseMismatches(method, path, status, body);
  if (mismatches.length > 0) throw new ContractMismatch(`${status} to ${method} ${path}`, mismatches);
}

/** Throws a `ContractMismatch` unless the payload matches GitHub's description. */
export function validateWebhook(event: string, action: string | undefined, payload: unknown): void {
  const mismatches = webhookMismatches(event, action, payload);
  if (mismatches.length > 0)
    throw new ContractMismatch(`webhook ${event} ${action ?? ""}`.trim(), mismatches);
}

/** The operation of a request, such as `get /repos/{owner}/{repo}`; undefined if there is none. */
export function operationOf(method: string, path: string): string | undefined {
  const plain = path
    .replace(/[?#].*$/, "")
    .replace(/^\/api\/v3(?=\/)/, "")
    .replace(/^\/repositories\/\d+/, "/repos/id/id")
    // The contents of the root folder have an empty path.
    .replace(/\/contents\/?$/, "/contents/.");
  return templates.find((t) => t.method === method.toLowerCase() && t.pattern.test(plain))?.operation;
}

function toTemplate(operation: string) {
  const [method = "", path = ""] = operation.split(" ");
  const pattern = path
    .replaceAll(/[.]/g, "\\.")
    .replaceAll(/\{\w+\}/g, (name, at: number) =>
      PATH_PARAMETERS.has(name) && at + name.length === path.length && !path.endsWith("/commits/{ref}")
        ? ".+"
        : "[^/]+",
    );
  return { operation, method, pattern: new RegExp(`^${pattern}$`) };
}

function load<Operation>(name: string) {
  const file = new URL(`../../fixtures/github/${name}.json`, import.meta.url);
  const contract: Contract<Operation> = JSON.parse(readFileSync(file, "utf8"));
  const code = { optimize: false };
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false, unicodeRegExp: false, code });
  addFormats.default(ajv);
  ajv.addSchema(contract, name, false, false);
  const compiled = new Map<string, ValidateFunction>();
  const check = (path: string, value: unknown): string[] => {
    const validate = compiled.get(path) ?? ajv.compile({ $ref: `${name}#${path}` });
    compiled.set(path, validate);
    return validate(value) ? [] : (validate.errors ?? []).slice(0, 20).map(toSentence);
  };
  return { contract, check };
}

function toSentence(error: ErrorObject): string {
  const params = Object.values(error.params).map((value) => JSON.stringify(value));
  return `${error.instancePath || "the body"} ${error.message ?? error.keyword} (${params.join(", ")})`;
}

/** A name in a JSON pointer that is part of a URI. */
function pointer(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function isEmpty(body: unknown): boolean {
  return body === undefined || body === null || body === "";
}
