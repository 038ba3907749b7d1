import { beforeAll, describe, expect, it } from "@jest/globals";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import { mayCall } from "../../src/http/mcp/tool.ts";
import { tools } from "../../src/http/mcp/tools.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import type { Api } from "../support/api.ts";
import { connectMcp } from "../support/mcp/client.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const clientIdOf = ({ apiKey }: Api): string => apiKey.split("_")[1] ?? "";

const LIST = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/list",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};

/** The status of a request for the list of tools. */
async function send(
  headers: Readonly<Record<string, string>>,
  body: unknown = LIST,
  baseUrl: string = board.api.baseUrl,
): Promise<Response> {
  return fetch(`${baseUrl}/v1/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${board.api.apiKey}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

describe("the MCP server", () => {
  it("returns to a valid key one JSON document", async () => {
    const result = await send({});
    expect([result.status, result.headers.get("content-type")]).toEqual([
      200,
      "application/json; charset=utf-8",
    ]);
  });

  it.each([{ authorization: "" }, { authorization: "Bearer tlk_wrong" }])(
    "returns 401 for %j",
    async (headers) => {
      const result = await send(headers);
      expect([result.status, result.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    },
  );

  it("accepts a key that never expires, and refuses it once it is revoked", async () => {
    const api = await board.as({ role: "member" });
    const mcp = await connectMcp(api);
    expect((await mcp.call("get_board")).isError).toBe(false);
    await revokeCredential(board.db, clientIdOf(api));
    await expect(mcp.call("get_board")).rejects.toThrow("nauthorized");
    expect((await send({ authorization: `Bearer ${api.apiKey}` })).status).toBe(401);
  });

  it.each([
    ["https://evil.example.com", 403],
    ["http://localhost.evil.example.com", 403],
    ["null", 403],
    ["http://localhost:6274", 200],
    ["http://127.0.0.1:6274", 200],
  ])("responds to the origin %s with %i", async (origin, status) => {
    expect((await send({ origin })).status).toBe(status);
  });

  it("uses the board in the header, which a key with several boards must name", async () => {
    const other = await world.board();
    const both = await board.as({ role: "member", boards: [board, other] });
    const { number } = await other.api.card({ title: "On the other board" });
    const unnamed = await send({ authorization: `Bearer ${both.apiKey}` });
    expect([unnamed.status, await unnamed.text()]).toEqual([400, expect.stringContaining("Name the board")]);
    const mcp = await connectMcp(both, { headers: { "X-Service-Workspace": other.workspaceId } });
    expect((await mcp.call("get_card", { number })).data.card.title).toBe("On the other board");
    const single = await connectMcp(board.api);
    expect((await single.call("get_card", { number })).data.statusCode).toBe(404);
  });

  it("refuses a batch, other query parameters and other methods", async () => {
    expect((await send({}, [LIST, LIST])).status).toBe(400);
    const url = `${board.api.baseUrl}/v1/mcp`;
    const headers = { authorization: `Bearer ${board.api.apiKey}` };
    for (const query of ["?toolsets=all", "?toolsets=", "?tools=releases"])
      expect((await fetch(url + query, { method: "POST", headers })).status).toBe(400);
    for (const method of ["GET", "DELETE"]) expect((await fetch(url, { method, headers })).status).toBe(405);
  });

  it("limits its calls as those of the API", async () => {
    const service = await startSecondService(world, { ...DEFAULT_LIMITS, callsPerSecond: 1 });
    const calls = Array.from({ length: 20 }, () => send({}, LIST, service.baseUrl));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    await service.stop();
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });

  it("opens no stream of subscriptions", async () => {
    const params = { ...LIST.params, notifications: { toolsListChanged: true } };
    const listen = { ...LIST, method: "subscriptions/listen", params };
    const result = await send({ "mcp-method": "subscriptions/listen" }, listen);
    expect(await result.text()).toContain("error");
  });
});

describe("a credential", () => {
  it.each([
    ["viewer", ["read", "write"]],
    ["member", ["read"]],
    ["member", ["read", "write"]],
    ["maintainer", ["read", "write"]],
  ] as const)(
    "with the role %s and the scopes %j sees what it may call, and cannot call the rest",
    async (role, scopes) => {
      const mcp = await connectMcp(await board.as({ role, scopes }), { query: "?toolsets=releases" });
      const visible = tools.filter((tool) => mayCall(tool, { role, scopes })).map(({ name }) => name);
      expect(await mcp.names()).toEqual(visible);
      for (const { name } of tools.filter(({ name }) => !visible.includes(name))) {
        const { isError, data } = await mcp.write(name, { number: 4711 });
        expect([name, isError, data.statusCode]).toEqual([name, true, 403]);
      }
    },
  );

  it("sees the tools of its new role at once", async () => {
    const api = await board.as({ role: "viewer" });
    const mcp = await connectMcp(api);
    expect(await mcp.names()).not.toContain("move_card");
    const { db } = board;
    const user = db("credentials").where({ client_id: clientIdOf(api) });
    await db("memberships").where("user_id", user.select("user_id")).update({ role: "member" });
    expect(await (await connectMcp(api)).names()).toContain("move_card");
  });
});
