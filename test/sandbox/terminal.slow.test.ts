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
const TIMEOUT_MS = 120_000;
const COMMAND = `${process.execPath} --import tsx ${MAIN}`;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "trunkline-terminal-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Starts the sandbox, reads the board, creates a card and stops. Returns the output. */
async function printed(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ text: () => string; apiKey: string }> {
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
  try {
    await eventually(
      () => Promise.resolve(text),
      (welcome) => welcome.includes("Ctrl-C"),
      TIMEOUT_MS,
    );
    const file = JSON.parse(await readFile(join(dir, "sandbox.json"), "utf8")) as SandboxFile;
    const api = makeApi(file.baseUrl, file.apiKey);
    await api.get("/v1/board");
    await api.card({ title: "Say hello" });
    return { text: () => text, apiKey: file.apiKey };
  } finally {
    const lock = (await readdir(dir)).find((name) => name.startsWith("lock."));
    process.kill(Number(lock?.split(".")[1]), "SIGTERM");
    await ended;
  }
}

const SCRIPT_ARGS =
  platform() === "darwin"
    ? ["-q", "/dev/null", ...COMMAND.split(" ")]
    : ["--quiet", "--return", "--command", COMMAND, "/dev/null"];
const inTerminal = (env: Readonly<Record<string, string>> = {}) => printed("script", SCRIPT_ARGS, env);
const withoutTerminal = (env: Readonly<Record<string, string>> = {}) =>
  printed(process.execPath, COMMAND.split(" ").slice(1), env);

it(
  "is short text at a terminal: the API key, then a line for each write",
  async () => {
    const { text, apiKey } = await inTerminal({ NO_COLOR: "1" });
    const [welcome = "", log = ""] = text().split(/^.*Ctrl-C.*$/m);
    expect(welcome).toContain(`API key   ${apiKey}`);
    expect(welcome).not.toContain("INFO");
    expect(log).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: POST \/v1\/cards 201 \(\d+ ms\)\r?$/m);
    expect(log).not.toMatch(/GET |webhooks|tlk_|"level"/);
    expect(log.trim().split("\n")).toHaveLength(3);
  },
  TIMEOUT_MS,
);

it.each([
  ["at a terminal with LOG_FORMAT=json", () => inTerminal({ LOG_FORMAT: "json" })],
  ["without a terminal", () => withoutTerminal()],
])(
  "is JSON %s",
  async (_where, start) => {
    const { text } = await start();
    expect(text()).toMatch(/^\{"level":30,.*"method":"GET","path":"\/v1\/board".*\}\r?$/m);
    expect(text()).not.toContain("INFO");
  },
  TIMEOUT_MS,
);

it(
  "is text without a terminal with LOG_FORMAT=pretty",
  async () => {
    const { text } = await withoutTerminal({ LOG_FORMAT: "pretty" });
    expect(text()).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: POST \/v1\/cards 201 \(\d+ ms\)$/m);
    expect(text()).not.toContain('"level"');
  },
  TIMEOUT_MS,
);
