import { randomUUID } from "node:crypto";
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import type { Api, ApiResponse } from "../api.ts";

type Key = Pick<Api, "apiKey" | "baseUrl">;

export interface McpOptions {
  /** By default the revision of 2026; null leaves the choice to the client. */
  readonly mode?: VersionNegotiationMode | null;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

/** The result of a tool, as a model gets it. */
export interface ToolResult {
  readonly isError: boolean;
  /** What Trunkline says. */
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read deep into the responses of routes
  readonly data: Readonly<Record<string, any>>;
}

export interface Mcp {
  readonly client: Client;
  /** Calls a tool. A write gets a new `requestId` unless it has one. */
  call(name: string, input?: Readonly<Record<string, unknown>>): Promise<ToolResult>;
  write(name: string, input?: Readonly<Record<string, unknown>>): Promise<ToolResult>;
  names(): Promise<string[]>;
}

/** An MCP client with the credential of `api`. */
export async function connectMcp(
  { apiKey, baseUrl }: Key,
  { mode = { pin: "2026-07-28" }, query = "", headers = {}, fetch: send }: McpOptions = {},
): Promise<Mcp> {
  const info = { name: "test", version: "1" };
  const client = mode === null ? new Client(info) : new Client(info, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`${baseUrl}/v1/mcp${query}`), {
    requestInit: { headers: { authorization: `Bearer ${apiKey}`, ...headers } },
    ...(send && { fetch: send }),
  });
  await client.connect(transport);
  const call = async (name: string, input: Readonly<Record<string, unknown>> = {}) =>
    toolResult(await client.callTool({ name, arguments: input }));
  return {
    client,
    call,
    write: (name, input) => call(name, { requestId: randomUUID(), ...input }),
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
  };
}

/** Checks that the second text is the data. */
export function toolResult({ isError, content, structuredContent }: CallToolResult): ToolResult {
  const [said, shown, ...more] = content.map((part) => (part.type === "text" ? part.text : part.type));
  if (said === undefined || more.length > 0 || shown !== JSON.stringify(structuredContent))
    throw new Error(`not a result of a tool: ${JSON.stringify(content)}`);
  return { isError: isError === true, text: said, data: structuredContent as ToolResult["data"] };
}

/** Calls a tool as HTTP only, so that nothing repeats it. The status is that of the route. */
export async function callTool<Body>(
  { apiKey, baseUrl }: Key,
  name: string,
  input: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<ApiResponse<Body>> {
  const version = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(`${baseUrl}/v1/mcp?toolsets=releases`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { _meta: meta, name, arguments: input },
    }),
    ...(signal && { signal }),
  });
  const result = (await response.json()) as { readonly result?: CallToolResult };
  if (!result.result) throw new Error(`${response.status}: ${JSON.stringify(result)}`);
  const { isError, data, text } = toolResult(result.result);
  const status = isError ? Number(data["statusCode"]) : 200;
  return { status, body: data as Body, text, headers: response.headers };
}
