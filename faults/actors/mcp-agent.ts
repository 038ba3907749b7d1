import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../../test/support/api.ts";
import { connectMcp, type Mcp, type ToolResult } from "../../test/support/mcp/client.ts";
import { uniqueText } from "./board-knowledge.ts";
import type { Commenting } from "./commenting.ts";

/** Longer than a call takes; then it is repeated. */
const TIMEOUT_MS = 15_000;
const RETRY_MS = 300;

/** Reads the board and comments on cards with tools until `isOver`. Repeats as the tools say. */
export async function runMcpAgent(api: Api, context: Commenting): Promise<void> {
  const { own, comments, isOver, pauseMs } = context;
  while (!isOver()) {
    const [cardNumber] = own.cards.slice(-1);
    if (cardNumber !== undefined) {
      const body = uniqueText(own, "said by a tool");
      const input = { number: cardNumber, body, requestId: `mcp-${randomUUID()}` };
      await untilResponse(api, "get_board", {}, context);
      const result = await untilResponse(api, "comment", input, context);
      if (result?.isError === false) comments.push({ id: String(result.data["id"]), body, at: Date.now() });
    }
    await sleep(pauseMs);
  }
}

async function untilResponse(
  api: Api,
  name: string,
  input: Readonly<Record<string, unknown>>,
  { failed, withoutResponse, retryUntil }: Commenting,
): Promise<ToolResult | null> {
  for (;;) {
    const result = await callOnce(api, name, input).catch((error: unknown) => String(error));
    const isRefused = typeof result === "object" && result.isError;
    if (typeof result === "object" && !(isRefused && /same requestId|Repeat the request/.test(result.text)))
      return result;
    failed.push(`tool ${name}: ${typeof result === "string" ? result : result.text}`);
    if (Date.now() > retryUntil()) {
      withoutResponse.push(`tool ${name} ${JSON.stringify(input)} has no final response`);
      return null;
    }
    await sleep(RETRY_MS);
  }
}

const sendInTime: typeof fetch = (url, init) =>
  fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });

async function callOnce(
  api: Api,
  name: string,
  input: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  const mcp: Mcp = await connectMcp(api, { fetch: sendInTime });
  try {
    return await mcp.call(name, input);
  } finally {
    await mcp.client.close().catch(() => undefined);
  }
}
