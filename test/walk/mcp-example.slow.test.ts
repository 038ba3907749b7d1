import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { startWorld, type TestWorld } from "../support/world.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const EXAMPLE = join(ROOT, "examples/mcp-agent.ts");

let world: TestWorld;
let home: string;
beforeAll(async () => {
  world = await startWorld();
  home = await mkdtemp(join(tmpdir(), "trunkline-agent-"));
  await writeFile(join(home, ".gitconfig"), "[user]\n  name = Agent\n  email = agent@example.com\n");
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
  await world.stop();
});

it("the MCP example takes a card to Done, over a refused merge", async () => {
  const board = await world.board();
  const { api, stages, owner } = board;
  const { number } = await api.card({ title: "Add a line", statusId: stages["To do"] });
  // Its branch is older than a change of the same lines.
  await api.move(number, stages["In progress"]);
  await api.move(number, stages["To do"]);
  const trunk = await board.clone();
  await trunk.commit("Change the same lines", { "app.txt": "one\ntwo\n" });
  await trunk.push("origin", "HEAD:main");
  const repository = await trunk.git("remote", "get-url", "origin");
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, REPOSITORY: repository };
  const { stdout } = await promisify(execFile)(join(ROOT, "node_modules/.bin/tsx"), [EXAMPLE], {
    cwd: ROOT,
    env: { ...env, API: api.baseUrl, KEY: (await board.as({ role: "member" })).apiKey },
  });
  expect(stdout).toContain(
    "move_card: The move was refused and the card stays in its stage. Merge the target",
  );
  expect(stdout).toMatch(/move_card: The card has moved\. .*\n$/);
  expect((await api.readCard(number)).statusId).toBe(stages["Done"]);
  const { body } = await board.person("ada", "GET", `/repos/${owner}/web/contents/app.txt`);
  expect(Buffer.from(String(body["content"]), "base64").toString()).toContain("done by an agent");
});

it("the MCP example has at most 60 lines", () => {
  expect(readFileSync(EXAMPLE, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(60);
});
