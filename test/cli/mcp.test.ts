import { beforeAll, describe, expect, it } from "@jest/globals";
import { commandLineOf, type CommandLine } from "../support/processes/command-line.ts";
import { connectMcp } from "../support/mcp/client.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let line: CommandLine;
let board: TestBoard;
beforeAll(async () => {
  line = commandLineOf(world);
  board = await world.board();
});

interface Configuration {
  readonly mcpServers: { readonly trunkline: { readonly url: string; readonly headers: Headers } };
}
type Headers = Readonly<Record<string, string>>;

const issueFor = (...words: string[]) => [
  ..."credential issue --name coder --scopes read,write".split(" "),
  ...words,
];

describe("credential issue --for mcp", () => {
  it("prints a configuration with which an MCP client connects", async () => {
    const { code, stdout } = await line.run(
      issueFor("--board", `${board.workspaceId}:member`, "--for", "mcp"),
    );
    expect(code).toBe(0);
    const { url, headers } = (JSON.parse(stdout.slice(stdout.indexOf("{"))) as Configuration).mcpServers
      .trunkline;
    expect(url).toBe(`${board.api.baseUrl}/v1/mcp`);
    expect(Object.keys(headers)).toEqual(["Authorization"]);
    const apiKey = headers["Authorization"]?.slice("Bearer ".length) ?? "";
    expect(await (await connectMcp({ apiKey, baseUrl: board.api.baseUrl })).names()).toContain("move_card");
  });

  it("names the first of several boards", async () => {
    const other = await world.board();
    const boards = [other, board].flatMap(({ workspaceId }) => ["--board", `${workspaceId}:viewer`]);
    const { mcp } = await line.json<{ mcp: Configuration }>(...issueFor(...boards, "--for", "mcp"));
    expect(mcp.mcpServers.trunkline.headers).toMatchObject({ "X-Service-Workspace": other.workspaceId });
  });

  it("issues no key when the address or the client is unknown", async () => {
    const member = ["--board", `${board.workspaceId}:member`];
    const count = () => board.db("credentials").count();
    const before = await count();
    const elsewhere = commandLineOf(world, { PUBLIC_URL: "" });
    const noAddress = await elsewhere.run(issueFor(...member, "--for", "mcp"));
    expect(noAddress).toMatchObject({ code: 2, stderr: expect.stringContaining("Set PUBLIC_URL") });
    const noClient = await line.run(issueFor(...member, "--for", "smoke"));
    expect(noClient).toMatchObject({ code: 2, stderr: expect.stringContaining("--for must be mcp") });
    expect(await count()).toEqual(before);
  });
});
