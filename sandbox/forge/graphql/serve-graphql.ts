import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  buildSchema,
  execute,
  getOperationAST,
  OperationTypeNode,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  parse,
  validate,
  type DocumentNode,
} from "graphql";
import type { ForgeContext } from "../context.ts";
import type { GraphqlCall, GraphqlHandler } from "../hooks.ts";
import type { ForgeResponse } from "../server/api-error.ts";
import { ApiError } from "../server/api-error.ts";
import { isGiven } from "./connection.ts";
import { makeScope } from "./make-scope.ts";
import { mutations } from "./mutations.ts";
import { query } from "./query.ts";
import { GraphqlRefusal, refusalOf } from "./refusal.ts";
import type { Scope } from "./scope.ts";

/** The compiled file is one folder deeper, in `dist`. */
const SCHEMA_FILE =
  ["../../..", "../../../.."]
    .map((root) => join(import.meta.dirname, root, "sandbox/forge/graphql/github-schema.graphql"))
    .find((file) => existsSync(file)) ?? "github-schema.graphql";

let built: GraphQLSchema | undefined;

/** The part of GitHub's schema that the forge serves, parsed on first use (about 15 ms). */
export const githubSchema = (): GraphQLSchema => (built ??= buildSchema(readFileSync(SCHEMA_FILE, "utf8")));

/** Responds to one GraphQL call as GitHub does: HTTP 200, with `errors` where a field was refused. */
export const serveGraphql: GraphqlHandler = async (forge, call) => {
  const document = parseQuery(call.query);
  if (document instanceof GraphQLError) return response({ errors: [document.toJSON()] });
  const invalid = validate(githubSchema(), document);
  if (invalid.length > 0) return response({ errors: invalid.map((each) => each.toJSON()) });
  const operation = getOperationAST(document, call.operationName);
  if (!isGiven(operation)) return response({ errors: [{ message: "An operation name is required" }] });
  const scope = makeScope(forge, call, operation.operation);
  const { data, errors } = await execute({
    schema: githubSchema(),
    document,
    rootValue: operation.operation === OperationTypeNode.MUTATION ? mutations : query,
    contextValue: scope,
    variableValues: call.variables,
    operationName: call.operationName,
    fieldResolver: resolveField,
  });
  if (errors === undefined) return response({ data });
  return response({ data: data ?? null, errors: errors.map((each) => presentError(forge, call, each)) });
};

function parseQuery(text: string): DocumentNode | GraphQLError {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

/**
 * A field is a property of its object, or a function of the field's arguments and the scope. Throws
 * for a field that the object lacks: that is a bug of the forge and must not become null.
 */
const resolveField: GraphQLFieldResolver<Readonly<Record<string, unknown>>, Scope> = (
  source,
  args,
  scope,
  info,
) => {
  if (!(info.fieldName in source)) throw new Error(`${info.parentType.name}.${info.fieldName} is not served`);
  const value = source[info.fieldName];
  return typeof value === "function" ? value(args, scope) : value;
};

function presentError(forge: ForgeContext, call: GraphqlCall, error: GraphQLError): object {
  const { originalError } = error;
  if (originalError instanceof GraphqlRefusal) return { type: originalError.type, ...error.toJSON() };
  if (originalError instanceof ApiError) {
    const { type, message } = refusalOf(originalError);
    return { type, ...error.toJSON(), message };
  }
  // graphql itself reports errors such as invalid variables. Anything else is a bug of the forge.
  if (originalError === undefined || originalError instanceof GraphQLError) return error.toJSON();
  forge.log.error({ err: originalError, query: call.query }, "a GraphQL field could not be resolved");
  return { ...error.toJSON(), message: "Something went wrong while executing your query." };
}

const response = (body: object): ForgeResponse => ({ status: 200, body });
