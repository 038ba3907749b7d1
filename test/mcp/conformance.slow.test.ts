import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request as send, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { startWorld, type TestWorld } from "../support/world.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SUITE = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const NODE_20 = join(ROOT, "test/support/mcp/node-20.mjs");

let world: TestWorld;
let proxy: Server;
let output: string;
beforeAll(async () => {
  world = await startWorld();
  const { apiKey, baseUrl } = (await world.board()).api;
  // The suite cannot send an API key.
  proxy = createServer((incoming, outgoing) => {
    const { method = "GET", url = "/", rawHeaders } = incoming;
    const headers = [...rawHeaders, "authorization", `Bearer ${apiKey}`];
    const forwarded = send(`${baseUrl}${url}`, { method, headers, agent: false }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  output = await mkdtemp(join(tmpdir(), "trunkline-conformance-"));
});
afterAll(async () => {
  proxy.close();
  proxy.closeAllConnections();
  await rm(output, { recursive: true, force: true });
  await world.stop();
});

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
}

/** Runs a scenario in a revision and returns its checks. */
async function checksOf(scenario: string, version: string): Promise<Check[]> {
  const { port } = proxy.address() as AddressInfo;
  const folder = join(output, `${version}-${scenario}`);
  const words = ["--url", `http://127.0.0.1:${port}/v1/mcp`, "--scenario", scenario];
  const args = ["--import", NODE_20, SUITE, "server", ...words, "--spec-version", version, "-o", folder];
  // It ends with 1 if any check fails.
  await promisify(execFile)(process.execPath, args, { cwd: output }).catch(() => undefined);
  const [run = ""] = await readdir(folder);
  return JSON.parse(await readFile(join(folder, run, "checks.json"), "utf8")) as Check[];
}

/** The checks of each scenario that need what the suite's own server has, by their ids. */
const NOT_APPLICABLE: Readonly<Record<string, readonly string[]>> = {
  "server-stateless": [
    // Tools of the suite.
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
    // Lists that change: the server declares none.
    "sep-2575-server-sends-subscription-ack",
    "sep-2575-server-tags-subscription-id",
  ],
  // Prompts and resources.
  caching: [
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
  ],
};

const HTTP = ["tools-list", "dns-rebinding-protection"];

describe.each([
  ["2026-07-28", [...HTTP, "server-stateless", "http-header-validation", "caching"]],
  ["2025-11-25", [...HTTP, "server-initialize", "ping"]],
])("the MCP server in revision %s", (version, scenarios) => {
  it.each(scenarios)("passes the applicable checks of %s", async (scenario) => {
    const checks = await checksOf(scenario, version);
    const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
    expect(failed.map(({ id }) => id)).toEqual(NOT_APPLICABLE[scenario] ?? []);
    expect(checks.some(({ status }) => status === "SUCCESS")).toBe(true);
  });
});
