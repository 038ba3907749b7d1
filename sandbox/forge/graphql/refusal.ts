import type { ApiError } from "../server/api-error.ts";

/** What GitHub's GraphQL answers with HTTP 200 and an `errors[].type`. */
export type GraphqlRefusalType =
  | "NOT_FOUND"
  | "FORBIDDEN"
  | "UNPROCESSABLE"
  | "INSUFFICIENT_SCOPES"
  | "RATE_LIMITED"
  | "EXCESSIVE_PAGINATION"
  | "MISSING_PAGINATION_BOUNDARIES"
  | "ARGUMENT_LIMIT"
  | "STALE_DATA";

/** Ends one field of a GraphQL answer with a message for the caller. */
export class GraphqlRefusal extends Error {
  override readonly name = "GraphqlRefusal";
  readonly type: GraphqlRefusalType;

  constructor(type: GraphqlRefusalType, message: string) {
    super(message);
    this.type = type;
  }
}

export const notFound = (id: string): GraphqlRefusal =>
  new GraphqlRefusal("NOT_FOUND", `Could not resolve to a node with the global id of '${id}'`);

export const forbidden = (): GraphqlRefusal =>
  new GraphqlRefusal("FORBIDDEN", "Resource not accessible by integration");

export const unprocessable = (message: string): GraphqlRefusal =>
  new GraphqlRefusal("UNPROCESSABLE", message);

/** What the REST API refuses with a status, in GraphQL's terms. */
export function refusalOf(error: ApiError): GraphqlRefusal {
  const details = error.errors?.map((each) => each.message ?? `${each.field ?? "input"} ${each.code}`) ?? [];
  const message =
    error.message === "Validation Failed" && details.length > 0 ? details.join(", ") : error.message;
  const types: Readonly<Record<number, GraphqlRefusalType>> = { 403: "FORBIDDEN", 404: "NOT_FOUND" };
  return new GraphqlRefusal(types[error.status] ?? "UNPROCESSABLE", message);
}
