import type { ApiError } from "../server/api-error.ts";

/** `errors[].type` in GitHub's GraphQL responses, whose HTTP status is 200. */
type GraphqlRefusalType =
  | "NOT_FOUND"
  | "FORBIDDEN"
  | "UNPROCESSABLE"
  | "INSUFFICIENT_SCOPES"
  | "RATE_LIMITED"
  | "EXCESSIVE_PAGINATION"
  | "MISSING_PAGINATION_BOUNDARIES"
  | "ARGUMENT_LIMIT"
  | "STALE_DATA";

/** Fails one field of a GraphQL response; the caller sees the message. */
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

/** The GraphQL form of a refusal of the REST API. */
export function refusalOf(error: ApiError): GraphqlRefusal {
  const details = error.errors?.map((each) => each.message ?? `${each.field ?? "input"} ${each.code}`) ?? [];
  const message =
    error.message === "Validation Failed" && details.length > 0 ? details.join(", ") : error.message;
  const types: Readonly<Record<number, GraphqlRefusalType>> = { 403: "FORBIDDEN", 404: "NOT_FOUND" };
  return new GraphqlRefusal(types[error.status] ?? "UNPROCESSABLE", message);
}
