import { beforeAll, describe, expect, it } from "@jest/globals";
import { commandLineOf, type CommandLine } from "../support/processes/command-line.ts";
import { newContributor } from "../support/gates/contributors.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let line: CommandLine;
let board: TestBoard;
beforeAll(async () => {
  line = commandLineOf(world);
  board = await world.board();
});

const issue = (owner: string) =>
  line.run([
    ..."credential issue --name coder --scopes read,write --json --board".split(" "),
    `${board.workspaceId}:member`,
    "--owner",
    owner,
  ]);
const addAgent = (login: string, ...options: string[]) =>
  line.run(["agent", "add", "--workspace", board.workspaceId, "--login", login, "--json", ...options]);
const agents = async () =>
  JSON.parse((await line.run(["agent", "list", "--workspace", board.workspaceId, "--json"])).stdout) as {
    login: string;
    owner: string | null;
  }[];

describe("the owner of a key or an agent", () => {
  it("is looked up on GitHub, stored with the key, and listed", async () => {
    const { login } = newContributor(world, board, "ann");
    const issued = await issue(login);
    expect(issued.code).toBe(0);
    const { clientId, owner } = JSON.parse(issued.stdout) as { clientId: string; owner: string };
    expect(owner).toBe(login);
    const { stdout } = await line.run(["credential", "list", "--json"]);
    const listed = JSON.parse(stdout) as { clientId: string; owner: string | null }[];
    expect(listed.find((each) => each.clientId === clientId)?.owner).toBe(login);
    expect(listed.filter((each) => each.clientId !== clientId).map((each) => each.owner)).toEqual([null]);
  });

  it("is a person whom GitHub knows", async () => {
    const bot = newContributor(world, board, "helper", "Bot");
    const agent = newContributor(world, board, "agent");
    await addAgent(agent.login);
    for (const { login } of [bot, agent]) {
      const refused = await issue(login);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`${login} is a bot or an agent. The owner must be a person.`);
    }
    expect((await issue("nobody-at-all")).stderr).toContain("GitHub has no user or bot nobody-at-all.");
  });

  it("is kept when the agent is registered again, and replaced by another one", async () => {
    const [ann, bob] = [newContributor(world, board, "ann2"), newContributor(world, board, "bob2")];
    const { login } = newContributor(world, board, "coder", "Bot");
    const ownerOf = async () => (await agents()).find((each) => each.login === login)?.owner;
    await addAgent(login);
    expect(await ownerOf()).toBeNull();
    expect(JSON.parse((await addAgent(login, "--owner", ann.login)).stdout)).toMatchObject({
      login,
      owner: ann.login,
    });
    await addAgent(login);
    expect(await ownerOf()).toBe(ann.login);
    await addAgent(login, "--owner", bob.login);
    expect(await ownerOf()).toBe(bob.login);
    const own = await addAgent(ann.login, "--owner", ann.login);
    expect([own.code, own.stderr]).toEqual([1, expect.stringContaining("cannot be its own owner")]);
  });
});
