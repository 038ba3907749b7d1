/** The log of the sandbox at a terminal. `script`, a tool of Linux and macOS, provides the terminal. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { platform, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { eventually, makeApi } from "../support/api.ts";
import type { SandboxFile } from "../support/processes/npm-start.ts";

const MAIN = resolve(import.meta.dirname, "../../src/main.ts");
const COMMAND = `${process.execPath} --import tsx ${MAIN}`;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "trunkline-terminal-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Starts the sandbox, reads the board, creates a card and stops the sandbox. Returns what it printed. */
async function printed(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ text: string; apiKey: string }> {
  const child = spawn(command, args, {
    env: {
      PATH: process.env["PATH"],
      TRUNKLINE_DATA_DIR: dir,
      PORT: "0",
      SANDBOX_FORGE_PORT: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (part) => (text += String(part)));
  const ended = once(child, "close");
  await eventually(
    () => Promise.resolve(text),
    (welcome) => welcome.includes("Ctrl-C"),
    60_000,
  );
  const file = JSON.parse(await readFile(join(dir, "sandbox.json"), "utf8")) as SandboxFile;
  const api = makeApi(file.baseUrl, file.apiKey);
  await api.get("/v1/board");
  await api.card({ title: "Say hello" });
  const lock = (await readdir(dir)).find((name) => name.startsWith("lock."));
  process.kill(Number(lock?.split(".")[1]), "SIGTERM");
  await ended;
  return { text, apiKey: file.apiKey };
}

const SCRIPT_ARGS =
  platform() === "darwin"
    ? ["-q", "/dev/null", ...COMMAND.split(" ")]
    : ["--quiet", "--return", "--command", COMMAND, "/dev/null"];
const inTerminal = (env: Readonly<Record<string, string>> = {}) => printed("script", SCRIPT_ARGS, env);

it("is short text at a terminal: the API key, then a line for each write", async () => {
  const { text, apiKey } = await inTerminal({ NO_COLOR: "1" });
  const [welcome = "", log = ""] = text.split(/^.*Ctrl-C.*$/m);
  expect(welcome).toContain(`API key   ${apiKey}`);
  expect(welcome).not.toContain("INFO");
  expect(log).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: POST \/v1\/cards 201 \(\d+ ms\)\r?$/m);
  expect(log).not.toMatch(/GET |webhooks|tlk_|"level"/);
  expect(log.trim().split("\n")).toHaveLength(3);
});

it("is JSON at a terminal with LOG_FORMAT=json", async () => {
  const { text } = await inTerminal({ LOG_FORMAT: "json" });
  expect(text).toMatch(/^\{"level":30,.*"method":"GET","path":"\/v1\/board".*\}\r?$/m);
  expect(text).not.toContain("INFO");
});

it("is JSON without a terminal, and text with LOG_FORMAT=pretty", async () => {
  const [command = "", ...args] = COMMAND.split(" ");
  const json = await printed(command, args);
  expect(json.text).toMatch(/^\{"level":30,.*"method":"GET","path":"\/v1\/board".*\}$/m);
  const pretty = await printed(command, args, { LOG_FORMAT: "pretty" });
  expect(pretty.text).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: POST \/v1\/cards 201 \(\d+ ms\)$/m);
  expect(pretty.text).not.toContain('"level"');
});
