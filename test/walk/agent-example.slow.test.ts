import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { startWorld, type TestWorld } from "../support/world.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const MODULES = join(ROOT, "node_modules");

let world: TestWorld;
let dir: string;
let example: string;
beforeAll(async () => {
  example = await readFile(join(ROOT, "examples/agent.ts"), "utf8");
  world = await startWorld();
  dir = await mkdtemp(join(tmpdir(), "trunkline-agent-"));
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
  await world.stop();
});

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in the agent's folder and returns its result, whatever its exit code. */
async function run(program: string, args: readonly string[], env: Record<string, string>): Promise<Result> {
  const options = { cwd: dir, env: { PATH: process.env["PATH"] ?? "", HOME: dir, ...env } };
  try {
    const { stdout, stderr } = await promisify(execFile)(program, [...args], options);
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Result;
  }
}

const runAgent = (env: { readonly API: string; readonly KEY: string }): Promise<Result> =>
  run(join(MODULES, ".bin/tsx"), ["agent.ts"], env);

describe.each([
  ["a folder without a package.json", null],
  ["an ES module", "module"],
  ["a CommonJS package", "commonjs"],
])("examples/agent.ts in %s", (_, type) => {
  beforeAll(async () => {
    await rm(join(dir, "package.json"), { force: true });
    if (type !== null) await writeFile(join(dir, "package.json"), JSON.stringify({ type }));
    await writeFile(join(dir, "agent.ts"), example);
  });

  it("compiles with strict settings", async () => {
    const settings = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
    const modules = ["--module", "nodenext", "--typeRoots", join(MODULES, "@types"), "--types", "node"];
    const tsc = join(MODULES, "typescript/bin/tsc");
    const compiled = await run(process.execPath, [tsc, ...settings, ...modules, "agent.ts"], {});
    expect(compiled).toMatchObject({ code: 0, stdout: "" });
  });

  it("prints the card's branch and the reason of the refused merge", async () => {
    const board = await world.board();
    const result = await runAgent({ API: board.api.baseUrl, KEY: board.api.apiKey });
    expect(result).toEqual({
      code: 0,
      stdout: `${board.owner}/web card/1-fix-the-footer\nnothing_to_merge - 409 No commits between main and card/1-fix-the-footer\n`,
      stderr: "",
    });
  });

  it("exits with the status and message of an error", async () => {
    const wrongKey = await runAgent({ API: world.service.baseUrl, KEY: "wrong" });
    expect(wrongKey).toMatchObject({ code: 1, stdout: "" });
    expect(wrongKey.stderr).toMatch(/^401 .*valid API key/);
    const board = await world.board();
    const reader = await board.as({ scopes: ["read"] });
    const readOnly = await runAgent({ API: reader.baseUrl, KEY: reader.apiKey });
    expect(readOnly).toMatchObject({ code: 1, stdout: "" });
    expect(readOnly.stderr).toMatch(/^403 .*scope read only/);
  });
});
