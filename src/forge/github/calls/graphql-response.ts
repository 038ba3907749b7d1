import { z } from "zod";
import type { Refusal, RefusalReason } from "../../../flow/refusal.ts";
import type { ForgeResult } from "../../values.ts";
import { type GitHubResponse, parseResponse } from "./client.ts";
import { CallFailure, UnknownOutcome } from "./failures.ts";
import { refusalOf } from "./refusals.ts";
import { VALIDATION_TIMEOUT } from "./validation-timeout.ts";

const errorShape = z.looseObject({
  type: z.string().nullish(),
  message: z.string().catch(""),
  path: z.array(z.union([z.string(), z.number()])).nullish(),
});
const responseShape = z.looseObject({
  data: z.unknown(),
  errors: z
    .array(errorShape)
    .nullish()
    .transform((errors) => errors ?? []),
});

export type GraphqlError = z.infer<typeof errorShape>;

export const pageInfoShape = z.looseObject({ hasNextPage: z.boolean(), endCursor: z.string().nullish() });

/** The nodes of a connection; GitHub returns null for one that the App may not read. */
export const nodesOf = <Node>(node: z.ZodType<Node>) =>
  z
    .array(node.nullable())
    .nullable()
    .transform((nodes) => (nodes ?? []).filter((each) => each !== null));

/** An enumeration in lower case. */
export const enumOf = <const Word extends string>(words: readonly Word[]) =>
  z.string().toLowerCase().pipe(z.enum(words));

/** The body's `data` and `errors`, since GraphQL reports a refusal with status 200. */
export function graphqlOutcome(response: GitHubResponse): ForgeResult<z.infer<typeof responseShape>> {
  if (response.status >= 400) return { ok: false, refusal: refusalOf(response.status, response.body) };
  return { ok: true, value: parseResponse(responseShape, response) };
}

/** The response's data, or a refusal from its first error. */
export function graphqlData<T>(
  shape: z.ZodType<T>,
  response: GitHubResponse,
  forbiddable: ForbiddableFields = {},
): ForgeResult<T> {
  const outcome = graphqlOutcome(response);
  if (!outcome.ok) return outcome;
  const { data } = outcome.value;
  const [error] = withoutForbidden(outcome.value.errors, data, forbiddable);
  if (error !== undefined) return { ok: false, refusal: refusalOfError(error, response) };
  return { ok: true, value: parseResponse(shape, { ...response, body: data }) };
}

/**
 * Fields that GitHub may forbid for lack of a permission while it returns the others. Each is the
 * end of its path without indexes, such as `contexts.nodes`.
 */
export interface ForbiddableFields {
  /** Null, as if they were missing. */
  readonly asMissing?: readonly string[];
  /** `FORBIDDEN`, to tell them from missing ones. */
  readonly asForbidden?: readonly string[];
}

const FORBIDDEN = { isForbidden: true } as const;
/** Parses a field of `asForbidden` that GitHub forbids. */
export const forbiddenShape = z.object({ isForbidden: z.literal(true) });

/** The errors that are not about such fields. Puts `FORBIDDEN` into the data. */
export function withoutForbidden(
  errors: readonly GraphqlError[],
  data: unknown,
  { asMissing = [], asForbidden = [] }: ForbiddableFields,
): GraphqlError[] {
  return errors.filter(({ type, path }) => {
    if (type !== "FORBIDDEN" || !path) return true;
    const names = `.${path.filter((each) => typeof each === "string").join(".")}`;
    const isOneOf = (fields: readonly string[]): boolean =>
      fields.some((field) => names.endsWith(`.${field}`));
    if (isOneOf(asForbidden)) return !replaceAt(data, path, FORBIDDEN);
    return !isOneOf(asMissing);
  });
}

/** False if the data ends before the path does: an error inside a list of values that are not null. */
function replaceAt(data: unknown, path: readonly (string | number)[], value: unknown): boolean {
  const parent = path.slice(0, -1).reduce<unknown>((at, key) => Object(at)[key], data);
  if (typeof parent !== "object" || parent === null) return false;
  Object.assign(parent, { [path.at(-1) ?? ""]: value });
  return true;
}

/** The types of transient errors: a repeated call may succeed. GitHub gives its own failures no type. */
const TRANSIENT_TYPES = new Set(["INTERNAL", "SERVICE_UNAVAILABLE", "TIMEOUT"]);
const TRANSIENT_MESSAGE = /something went wrong|timed? ?out/i;

/** For messages that the table does not know. */
const REASON_OF_TYPE: Readonly<Record<string, RefusalReason>> = {
  BRANCH_PROTECTION_RULE_VIOLATION: "protected",
  FORBIDDEN: "not_permitted",
  INSUFFICIENT_SCOPES: "not_permitted",
  NOT_FOUND: "not_permitted",
  SAML_FAILURE: "not_permitted",
  STALE_DATA: "head_moved",
  "UNAUTHORIZED-WRITE": "not_permitted",
};

/** Throws `UnknownOutcome` for a transient error; any other is GitHub's response to the request. */
export function refusalOfError({ type, message }: GraphqlError, response: GitHubResponse): Refusal {
  const isTransient = type ? TRANSIENT_TYPES.has(type) : TRANSIENT_MESSAGE.test(message);
  if (isTransient || VALIDATION_TIMEOUT.test(message)) {
    const what = `responded with a GraphQL error of type ${type ?? "unknown"}`;
    const cause = new CallFailure(what, response.facts);
    throw new UnknownOutcome("GitHub could not respond", { reason: "unusable_response", cause });
  }
  const refusal = refusalOf(200, { message: message || `GitHub returned ${type ?? "an error"}` });
  if (refusal.reason !== "unknown") return refusal;
  return { ...refusal, reason: REASON_OF_TYPE[type ?? ""] ?? "unknown" };
}
