import { Kind, OperationTypeNode, parse } from "graphql";
import type { ApiCall } from "../hooks.ts";

/** Selects calls; an omitted field matches all. */
export interface CallMatch {
  readonly method?: string | undefined;
  /**
   * The path below the API's root, such as `/repos/acme/web/git/**` or `/graphql`. `*` or a name
   * in braces matches one segment, `**` any number.
   */
  readonly path?: string | undefined;
  /** The name of a GraphQL operation or of a top-level field such as `createRef`. */
  readonly operation?: string | undefined;
  /** Calls made with a token of this installation. */
  readonly installationId?: number | undefined;
}

/** Returns the installation a call acts for; null for users and for the App. */
export type InstallationOf = (call: ApiCall) => number | null;

export function matches(match: CallMatch, call: ApiCall, installationOf: InstallationOf): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== call.method) return false;
  if (match.path !== undefined && !pathPattern(match.path).test(isGraphql(call) ? "/graphql" : call.path))
    return false;
  if (match.operation !== undefined && !graphqlRequest(call).names.includes(match.operation)) return false;
  return match.installationId === undefined || match.installationId === installationOf(call);
}

export const isGraphql = (call: ApiCall): boolean => call.route === "POST /graphql";

const patterns = new Map<string, RegExp>();

function pathPattern(path: string): RegExp {
  const known = patterns.get(path);
  if (known !== undefined) return known;
  const source = path
    .split(/(\*\*|\*|\{\w+\})/)
    .map((part) => {
      if (part === "**") return ".*";
      return part === "*" || /^\{\w+\}$/.test(part) ? "[^/]+" : part.replaceAll(/[$()+.?[\\\]^{|}]/g, "\\$&");
    })
    .join("");
  const pattern = new RegExp(`^${source}$`);
  patterns.set(path, pattern);
  return pattern;
}

interface GraphqlRequest {
  /** The operation's name and its top-level fields. */
  readonly names: readonly string[];
  readonly isMutation: boolean;
  /** The number of top-level fields: a query about several repositories has one for each. */
  readonly size: number;
}

const NO_GRAPHQL: GraphqlRequest = { names: [], isMutation: false, size: 0 };
const parsedRequests = new WeakMap<ApiCall, GraphqlRequest>();

/** The parsed operations of a GraphQL call; empty for other calls and on a parse error. */
export function graphqlRequest(call: ApiCall): GraphqlRequest {
  const known = parsedRequests.get(call);
  if (known !== undefined) return known;
  const request = isGraphql(call) ? parseGraphql(call.body) : NO_GRAPHQL;
  parsedRequests.set(call, request);
  return request;
}

function parseGraphql(body: Buffer): GraphqlRequest {
  try {
    const { query }: { query: string } = JSON.parse(body.toString("utf8"));
    const operations = parse(query, { noLocation: true }).definitions.filter(
      (definition) => definition.kind === Kind.OPERATION_DEFINITION,
    );
    const names = operations.flatMap(({ name, selectionSet }) => {
      const fields = selectionSet.selections.flatMap((each) =>
        each.kind === Kind.FIELD ? [each.name.value] : [],
      );
      return name === undefined ? fields : [name.value, ...fields];
    });
    const isMutation = operations.some((each) => each.operation === OperationTypeNode.MUTATION);
    const size = operations.reduce((sum, { selectionSet }) => sum + selectionSet.selections.length, 0);
    return { names, isMutation, size };
  } catch {
    return NO_GRAPHQL;
  }
}
