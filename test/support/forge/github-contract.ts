/**
 * Holds what a forge sends against GitHub's published descriptions (test/fixtures/github, made by
 * scripts/update-github-contract.mjs). Shapes only: a valid answer can still be the wrong one.
 */
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

/** One way in which an answer or a webhook differs from its description; `toString` reads as a sentence. */
export class ContractMismatch extends Error {
  override readonly name = "ContractMismatch";
  readonly mismatches: readonly string[];

  constructor(subject: string, mismatches: readonly string[]) {
    super(`${subject} is not as GitHub describes it:\n  ${mismatches.join("\n  ")}`);
    this.mismatches = mismatches;
  }
}

/** Parameters at the end of a path that may hold unescaped slashes. */
const ROOMY = new Set(["{ref}", "{path}", "{basehead}", "{tag}"]);
/** Refusals that any operation may answer with; GitHub describes them for few. */
const ANYWHERE = /^(?:301|307|400|401|403|404|429|5..)$/;
const rest = load<RestOperation>("rest");
const webhooks = load<object>("webhooks");
/** Addresses with fewer parameters come first: `/issues/comments` before `/issues/{issue_number}`. */
const templates = Object.keys(rest.contract.operations)
  .map(toTemplate)
  .toSorted((a, b) => a.operation.split("{").length - b.operation.split("{").length);

/** What is wrong with an answer of the REST API; empty when it is as described. `path` may carry `/api/v3` and a query. */
export function answerMismatches(method: string, path: string, status: number, body: unknown): string[] {
  const operation = operationOf(method, path);
  if (operation === undefined) return [`no such operation in ${rest.contract.source}: ${method} ${path}`];
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

/** What is wrong with the body of a request to the REST API. */
export function requestMismatches(method: string, path: string, body: unknown): string[] {
  const operation = operationOf(method, path);
  if (operation === undefined) return [`no such operation in ${rest.contract.source}: ${method} ${path}`];
  if (rest.contract.operations[operation]!.request === null) return [];
  return isEmpty(body) ? [] : rest.check(`/operations/${pointer(operation)}/request`, body);
}

/** What is wrong with the payload of a webhook. */
export function webhookMismatches(event: string, action: string | undefined, payload: unknown): string[] {
  const operation = action === undefined ? event : `${event} ${action}`;
  if (!(operation in webhooks.contract.operations)) {
    return [`no such webhook in ${webhooks.contract.source}: ${operation}`];
  }
  return webhooks.check(`/operations/${pointer(operation)}`, payload);
}

/** Throws a `ContractMismatch` unless the answer is as GitHub describes it. */
export function validateAnswer(method: string, path: string, status: number, body: unknown): void {
  const mismatches = answerMismatches(method, path, status, body);
  if (mismatches.length > 0) throw new ContractMismatch(`${status} to ${method} ${path}`, mismatches);
}

/** Throws a `ContractMismatch` unless the payload is as GitHub describes it. */
export function validateWebhook(event: string, action: string | undefined, payload: unknown): void {
  const mismatches = webhookMismatches(event, action, payload);
  if (mismatches.length > 0)
    throw new ContractMismatch(`webhook ${event} ${action ?? ""}`.trim(), mismatches);
}

/** The operation a request is for, as `get /repos/{owner}/{repo}`; undefined where the description has none. */
export function operationOf(method: string, path: string): string | undefined {
  const plain = path
    .replace(/[?#].*$/, "")
    .replace(/^\/api\/v3(?=\/)/, "")
    .replace(/^\/repositories\/\d+/, "/repos/id/id")
    // The root folder's contents, whose path is empty.
    .replace(/\/contents\/?$/, "/contents/.");
  return templates.find((t) => t.method === method.toLowerCase() && t.pattern.test(plain))?.operation;
}

function toTemplate(operation: string) {
  const [method = "", path = ""] = operation.split(" ");
  const pattern = path
    .replaceAll(/[.]/g, "\\.")
    .replaceAll(/\{\w+\}/g, (name, at: number) =>
      ROOMY.has(name) && at + name.length === path.length && !path.endsWith("/commits/{ref}")
        ? ".+"
        : "[^/]+",
    );
  return { operation, method, pattern: new RegExp(`^${pattern}$`) };
}

function load<Operation>(name: string) {
  const file = new URL(`../../fixtures/github/${name}.json`, import.meta.url);
  const contract: Contract<Operation> = JSON.parse(readFileSync(file, "utf8"));
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false, unicodeRegExp: false });
  addFormats.default(ajv);
  ajv.addSchema(contract, name);
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

/** A name inside a JSON pointer that is part of a URI. */
function pointer(name: string): string {
  return encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function isEmpty(body: unknown): boolean {
  return body === undefined || body === null || body === "";
}
