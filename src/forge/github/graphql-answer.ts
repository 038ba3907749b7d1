import { z } from "zod";
import type { Refusal } from "../../flow/refusal.ts";
import { type Answer, shaped } from "./client.ts";
import { CallFailure, UnknownOutcome } from "./failures.ts";
import { refusalOf } from "./refusals.ts";

const errorShape = z.looseObject({
  type: z.string().nullish(),
  message: z.string().catch(""),
  path: z.array(z.union([z.string(), z.number()])).nullish(),
});
const answerShape = z.looseObject({ data: z.unknown(), errors: z.array(errorShape).nullish() });

export type GraphqlError = z.infer<typeof errorShape>;

/** GraphQL refuses with status 200 and errors beside, or instead of, the data. */
export interface GraphqlAnswer {
  readonly data: unknown;
  readonly errors: readonly GraphqlError[];
}

export type GraphqlOutcome =
  | { readonly refusal: Refusal }
  | (GraphqlAnswer & { readonly refusal?: undefined });

export function graphqlOutcome(answer: Answer): GraphqlOutcome {
  if (answer.status >= 400) return { refusal: refusalOf(answer.status, answer.body) };
  const { data, errors } = shaped(answerShape, answer);
  return { data, errors: errors ?? [] };
}

const REFUSING_TYPES = new Set([
  "FORBIDDEN",
  "INSUFFICIENT_SCOPES",
  "NOT_FOUND",
  "UNPROCESSABLE",
  "SAML_FAILURE",
]);

/** What an error says to a question or order; one that is no refusal is thrown. */
export function refusalOfError(error: GraphqlError, answer: Answer): Refusal {
  if (!REFUSING_TYPES.has(error.type ?? "")) {
    const cause = new CallFailure(
      `answered with a GraphQL error of type ${error.type ?? "unknown"}`,
      answer.facts,
    );
    throw new UnknownOutcome("GitHub could not answer", { cause });
  }
  const refusal = refusalOf(200, { message: error.message });
  if (refusal.reason !== "unknown" || error.type === "UNPROCESSABLE") return refusal;
  return { ...refusal, reason: "not_permitted" };
}
