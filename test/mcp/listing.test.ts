import { beforeAll, describe, expect, it } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NOT_FOR_AGENTS, tools } from "../../src/http/mcp/tools.ts";
import { routeNamed } from "../../src/http/mcp/tool.ts";
import { connectMcp } from "../support/mcp/client.ts";
import { sampleCalls, writeCalls } from "../support/routes.ts";
import { samples } from "../support/samples.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

/** The bytes of `tools/list` as they were sent. */
async function listedOnTheWire(role: "viewer" | "member" | "maintainer", query = ""): Promise<string> {
  const bodies: string[] = [];
  const recording: typeof fetch = async (...input) => {
    const response = await fetch(...input);
    bodies.push(await response.clone().text());
    return response;
  };
  const mcp = await connectMcp(await board.as({ role }), { query, fetch: recording });
  await mcp.client.listTools();
  const { result } = JSON.parse(bodies.at(-1) ?? "") as { result: { tools: unknown } };
  return JSON.stringify(result.tools);
}

const fileOf = (name: string): string => join(import.meta.dirname, "listed", `${name}.json`);

describe.each([
  ["viewer", "viewer", ""],
  ["member", "member", ""],
  ["maintainer", "maintainer", ""],
  ["maintainer-releases", "maintainer", "?toolsets=releases"],
] as const)("tools/list of a %s", (name, role, query) => {
  it("is the committed file; WRITE_LISTED=1 writes it", async () => {
    const listed = await listedOnTheWire(role, query);
    expect(await listedOnTheWire(role, query)).toBe(listed);
    const pretty = `${JSON.stringify(JSON.parse(listed), null, 2)}\n`;
    if (process.env["WRITE_LISTED"] === "1") writeFileSync(fileOf(name), pretty);
    const committed: unknown = JSON.parse(readFileSync(fileOf(name), "utf8"));
    // Line by line, so that a failure shows the difference only.
    expect(pretty).toBe(`${JSON.stringify(committed, null, 2)}\n`);
  });

  it("is short, and names no path of the API", async () => {
    const listed = await listedOnTheWire(role, query);
    expect(listed).not.toContain("/v1/");
    if (query !== "") return;
    expect((JSON.parse(listed) as unknown[]).length).toBeLessThanOrEqual(14);
    // Four bytes of JSON have at most one token.
    expect(Buffer.byteLength(listed) / 4).toBeLessThanOrEqual(4_000);
  });
});

describe("each tool", () => {
  const routesOf = tools.map(({ name, route, reads }) => [name, [route, ...reads]] as const);

  it.each(routesOf)("%s runs routes that exist, and at most one write", (_, names) => {
    const known = sampleCalls.map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining([...names]));
    expect(names.slice(1).filter((name) => !name.startsWith("GET "))).toEqual([]);
  });

  it.each(tools.map((tool) => [tool.name, tool] as const))("%s can be called", async (name, tool) => {
    const mcp = await connectMcp(board.api, { query: "?toolsets=releases" });
    expect(await mcp.names()).toContain(name);
    const { path, query, body } = await samples[tool.route]!(board, board.api);
    const input = { ...path, ...query, ...body };
    const isRead = routeNamed(tool.route).definition.method === "get";
    const { isError, data } = await (isRead ? mcp.call(name, input) : mcp.write(name, input));
    expect([isError, data["message"]]).toEqual([false, undefined]);
  });

  it("of a write of the API is here, or on the list of those that are not for agents", () => {
    const inTools = tools
      .flatMap(({ route, otherWrite }) => [route, ...(otherWrite === null ? [] : [otherWrite])])
      .filter((route) => !route.startsWith("GET "));
    const all = writeCalls.map(({ name }) => name);
    expect([...inTools, ...NOT_FOR_AGENTS].toSorted()).toEqual(all.toSorted());
  });
});
