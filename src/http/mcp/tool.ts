import { z } from "zod";
import type { Request, Response } from "express";
import type { Deps } from "../../actions/deps.ts";
import type { Caller } from "../../actions/write.ts";
import { invalid } from "../../errors.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
import type { Scope } from "../../store/tenancy/credentials.ts";
import { CLAIM_TOKEN_PATTERN, isAboutCard } from "../claim-header.ts";
import { REPLAY_HEADER } from "../idempotency.ts";
import { requireRole, requireWriteScope } from "../resolve.ts";
import type { Exchange, Route, RouteDefinition } from "../route.ts";
import { audited } from "../attempts.ts";
import { validate } from "../validate.ts";
import { routes } from "../v1/routes.ts";

/** The arguments of a call, not validated yet. */
export type Arguments = Readonly<Record<string, unknown>>;

/** The response of a route to a tool. */
export interface RunResult {
  readonly status: number;
  readonly body: unknown;
  /** The cursor of the next page of a list; null on the last page. */
  readonly nextCursor: string | null;
  /** Whether it is the stored response to an earlier call. */
  readonly isReplay: boolean;
}

/** Runs a route for the caller of a tool. Throws what the route throws. */
export type RunRoute = (route: string, input: Arguments) => Promise<RunResult>;

/** What a tool returns: a sentence of Trunkline, and data with texts of other people. */
export interface Output {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A tool of the MCP server. It runs routes of `/v1`, with their checks, results and refusals. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** As in `POST /v1/cards/{number}/move`. Its role and scope are those of the tool. */
  readonly route: string;
  /** A write that the tool makes instead of `route`, depending on its arguments. */
  readonly otherWrite: string | null;
  /** Further routes that the tool reads. */
  readonly reads: readonly string[];
  /** The toolset that has it, null for the default one. */
  readonly toolset: string | null;
  readonly input: z.ZodObject;
  /** The arguments that are not those of the route, which validates its own. */
  readonly extra: z.ZodObject;
  /** Whether its effect may not be reversible, such as a merge. */
  readonly isDestructive: boolean;
  readonly run: (run: RunRoute, input: Arguments) => Promise<Output>;
}

const byName = new Map(
  routes.map((route) => [`${route.definition.method.toUpperCase()} ${route.definition.path}`, route]),
);

/** The route with this name, as in `GET /v1/cards/{number}`. */
export function routeNamed(name: string): Route & { readonly run: NonNullable<Route["run"]> } {
  const route = byName.get(name);
  if (!route?.run) throw new Error(`there is no route ${name} for a tool`);
  return { ...route, run: route.run };
}

const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,200}$/;
/** Lengthens a request id, which may have one character, to an idempotency key, which has at least 16. */
const KEY_PREFIX = "mcp-request-id::";

const requestId = z.string().regex(REQUEST_ID).meta({
  description: "A new unique string for each change; the same one to repeat a call",
});

const claim = z.string().regex(new RegExp(CLAIM_TOKEN_PATTERN)).optional().meta({
  description: "`<claimId>.<generation>` of your claim of the card: the call fails if you have lost it",
});

interface ToolDefinition extends Pick<Tool, "name" | "title" | "description" | "route"> {
  readonly otherWrite?: string;
  readonly reads?: readonly string[];
  readonly toolset?: string;
  readonly isDestructive?: boolean;
  /** Arguments besides those of the route. */
  readonly extra?: z.ZodRawShape;
  /** Arguments that the tool does not take. */
  readonly without?: readonly string[];
  /** By default runs the route and returns its response, with the text of `describe`. */
  readonly run?: Tool["run"];
  readonly describe?: (result: RunResult) => string;
}

/** A tool with the arguments of its route. */
export function tool(definition: ToolDefinition): Tool {
  const { route, describe = () => "Done.", without = [], ...rest } = definition;
  const { method, path, params, query, body } = routeNamed(route).definition;
  const isCardWrite = method !== "get" && isAboutCard(path) && !without.includes("claim");
  const extra = { ...definition.extra, ...(isCardWrite && { claim }) };
  const shape: z.ZodRawShape = {
    ...params?.shape,
    ...query?.shape,
    ...(body instanceof z.ZodObject && body.shape),
    ...extra,
    ...(method !== "get" && { requestId }),
  };
  return {
    otherWrite: null,
    reads: [],
    toolset: null,
    isDestructive: false,
    run: async (run, input) => {
      const result = await run(route, input);
      return { text: describe(result), data: dataOf(result) };
    },
    ...rest,
    route,
    extra: z.object(extra),
    input: z.object(Object.fromEntries(Object.entries(shape).filter(([name]) => !without.includes(name)))),
  };
}

/** Items on a page of a list, unless the call asks for another number. */
const PAGE = 30;

/** The arguments of a tool that lists. */
export const listArguments = {
  limit: z
    .int()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: `By default ${PAGE}` }),
  cursor: z.string().optional().meta({ description: "`nextCursor` of the previous page" }),
};

/** Runs a route that lists. */
export const runList = (run: RunRoute, route: string, input: Arguments): Promise<RunResult> =>
  run(route, { limit: PAGE, ...input });

/** Wraps a list in an object, because `structuredContent` must be an object. */
export function dataOf({ body, nextCursor }: RunResult): Readonly<Record<string, unknown>> {
  if (Array.isArray(body)) return { items: body, nextCursor };
  return (body ?? {}) as Record<string, unknown>;
}

export const isWrite = ({ route }: Tool): boolean => routeNamed(route).definition.method !== "get";

/** What a credential may do on the board of the call. */
export interface Rights {
  readonly role: Role;
  readonly scopes: readonly Scope[];
}

/** Throws `forbidden`, as the route of the tool would, unless these rights suffice. */
export function requireRights(tool: Tool, rights: Rights): void {
  if (isWrite(tool)) requireWriteScope(rights);
  requireRole(rights.role, routeNamed(tool.route).definition.role);
}

export const mayCall = (tool: Tool, { role, scopes }: Rights): boolean =>
  mayAct(role, routeNamed(tool.route).definition.role) && (!isWrite(tool) || scopes.includes("write"));

/** A request to the MCP server, and its caller with the rights on the board. */
export interface McpRequest {
  readonly deps: Deps;
  readonly request: Request;
  readonly response: Response;
  readonly rights: Rights;
  readonly caller: Pick<Caller, "userId" | "credentialId" | "workspaceId">;
}

/** Runs a tool. Throws what its routes throw, and `invalid` for arguments that it does not have. */
export async function runTool(call: McpRequest, called: Tool, input: Arguments): Promise<Output & Replay> {
  const key = isWrite(called) ? await admitWrite(call, called, input) : undefined;
  if (!isWrite(called)) requireValid(call, called, input);
  let isReplay = false;
  const run: RunRoute = async (name, fields) => {
    const result = await runRoute(call, name, fields, key);
    isReplay ||= result.isReplay;
    return result;
  };
  const output = await called.run(run, input);
  return { ...output, isReplay };
}

function requireValid({ rights }: McpRequest, called: Tool, input: Arguments): void {
  requireRights(called, rights);
  const known = Object.keys(called.input.shape);
  const unknown = Object.keys(input).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw unknownArguments(unknown, known);
  validate(called.extra, input, "arguments");
}

/** Returns the idempotency key of a write. Records a call that is refused before it reaches the route. */
function admitWrite(call: McpRequest, called: Tool, input: Arguments): Promise<string> {
  const { deps, request, response, caller } = call;
  const { definition } = routeNamed(called.route);
  const admit = audited(definition, (_, __, attempt) => {
    Object.assign(attempt, caller);
    requireValid(call, called, input);
    return Promise.resolve(keyOf(input["requestId"]));
  });
  return admit(deps, { request, response, params: inputOf(definition, input).params });
}

interface Replay {
  readonly isReplay: boolean;
}

function unknownArguments(unknown: readonly string[], known: readonly string[]): Error {
  const message =
    known.length === 0
      ? "is unknown; this tool has no arguments"
      : `is unknown; this tool has ${known.join(", ")}`;
  const issues = unknown.slice(0, 50).map((path) => ({ path, message }));
  return invalid(`The call has arguments that the tool does not have.`, issues);
}

function keyOf(given: unknown): string {
  if (typeof given === "string" && REQUEST_ID.test(given)) return KEY_PREFIX + given;
  const message = `must have 1 to 200 characters from A-Z a-z 0-9 _ . : -`;
  throw invalid(`requestId: ${message}`, [{ path: "requestId", message }]);
}

async function runRoute(
  { deps, request, response }: McpRequest,
  name: string,
  input: Arguments,
  key: string | undefined,
): Promise<RunResult> {
  const { definition, run } = routeNamed(name);
  const headers = new Map<string, string>();
  const exchange: Exchange = {
    request,
    response,
    ...inputOf(definition, input),
    key,
    claim: typeof input["claim"] === "string" ? input["claim"] : undefined,
    ifMatch: undefined,
    requireNoBody: () => undefined,
    setHeader: (header, value) => void headers.set(header, value),
  };
  const { status, body } = await run(deps, exchange);
  const isReplay = headers.has(REPLAY_HEADER);
  if (isReplay) response.set(REPLAY_HEADER, "true");
  const [, next] = /<([^>]*)>/.exec(headers.get("Link") ?? "") ?? [];
  return {
    status,
    body: body === null ? null : (JSON.parse(body.toString()) as unknown),
    nextCursor: new URLSearchParams(next?.split("?")[1]).get("cursor"),
    isReplay,
  };
}

/** Distributes arguments to the path, the query and the body of a route. */
function inputOf({ path, params, query, body }: RouteDefinition, input: Arguments) {
  const pick = (schema: z.ZodType | undefined): [string, unknown][] => {
    const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    return Object.entries(input).filter(([name]) => names.includes(name));
  };
  const texts = (schema: z.ZodType | undefined) =>
    Object.fromEntries(pick(schema).map(([name, value]) => [name, textOf(value)]));
  const inPath = texts(params);
  const fields = body && Object.fromEntries(pick(body));
  return {
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => asText(inPath[name])),
    params: inPath,
    query: texts(query),
    readBody: () => Promise.resolve(fields),
  };
}

/** Empty for a value that is not a text: the route refuses it. */
const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** A value as it is written in a URL. The route refuses values of other types. */
function textOf(value: unknown): unknown {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) && value.every((part) => typeof part === "string") ? value.join(",") : value;
}
