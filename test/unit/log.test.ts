import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import type { Logger } from "pino";
import { makeCredentialKey } from "../../src/actions/credentials/credential-key.ts";
import { createLog, prettyOutput } from "../../src/log.ts";

/** The log after `write`. */
function logged(write: (log: Logger) => void): string {
  const lines: string[] = [];
  write(createLog("trace", { write: (line) => void lines.push(line) }));
  return lines.join("");
}

/** The log as printed at a terminal, without colors because the output of a test is not a terminal. */
function printed(write: (log: Logger) => void, isQuiet = true): string {
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  write(createLog("trace", prettyOutput(isQuiet, output, false)));
  return lines.join("");
}

const base64 = (length: number): string => randomBytes(length).toString("base64url").slice(0, length);
const pem = (type: "pkcs1" | "pkcs8"): string =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type, format: "pem" },
  }).privateKey;

/** Each secret with the part that must not appear. */
const secrets: [name: string, secret: string, core: string][] = [
  ["an API key", ...twice(makeCredentialKey().text, 17)],
  ["the secret of a monitor", ...twice(`tlm_${"aB3".repeat(14)}x`, 4)],
  ["a classic installation token", ...twice(`ghs_${"aB3".repeat(12)}`, 4)],
  [
    "an installation token of 520 characters with dots",
    ...twice(`ghs_${base64(170)}.${base64(172)}.${base64(172)}`, 4),
  ],
  ["a fine-grained personal token", ...twice(`github_pat_${"11ABCDE0".repeat(10)}`, 11)],
  [
    "the App's own JWT",
    ...twice(`eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0In0.${"sIgNaTuRe_-9".repeat(20)}`, 40),
  ],
  ["a PKCS#1 private key", ...lineOf(pem("pkcs1"))],
  ["a PKCS#8 private key", ...lineOf(pem("pkcs8"))],
  ["a truncated private key", ...lineOf(pem("pkcs1").slice(0, 900))],
  ["the password of a database", "postgres://trunkline:hunter2-hunter2@db.local:5432/x", "hunter2"],
  ["a private key with escaped line breaks", ...lineOf(pem("pkcs1").replaceAll("\n", "\\n"))],
];

function twice(secret: string, from: number): [string, string] {
  return [secret, secret.slice(from, from + 24)];
}

function lineOf(key: string): [string, string] {
  return [key, key.slice(120, 150)];
}

// Fault: C15
// Invariant: I10
describe.each(secrets)("%s is not in the log", (_, secret, core) => {
  it.each<[string, (log: Logger) => void]>([
    ["in the message", (log) => log.info(`using ${secret} now`)],
    ["in a field", (log) => log.warn({ note: secret }, "a note")],
    ["deep in a field", (log) => log.debug({ a: { b: [{ c: `x ${secret} y` }] } }, "deep")],
    ["in a field's name", (log) => log.info({ [secret]: 1 }, "a name")],
    ["in an error", (log) => log.error({ err: new Error(`refused ${secret}`) }, "failed")],
    [
      "in an error's cause",
      (log) => log.error({ err: new Error("outer", { cause: new Error(secret) }) }, "failed"),
    ],
    ["in JSON within text", (log) => log.info({ body: JSON.stringify({ inner: secret }) }, "nested")],
    ["in a field of a child logger", (log) => log.child({ about: secret }).info("child")],
  ])("%s", (_where, write) => {
    const text = logged(write);
    expect(text).not.toBe("");
    expect(text).not.toContain(core);
    expect(text).toContain("[redacted]");
    for (const line of text.trim().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(printed(write)).toContain("[redacted]");
    expect(printed(write)).not.toContain(core);
  });
});

describe("the log at a terminal", () => {
  const request = (method: string, path: string, status: number) => (log: Logger) =>
    log.info({ requestId: "0190", method, path, status, ms: 12 }, "request");

  it("shows a request in one short line", () => {
    expect(printed(request("POST", "/v1/cards", 201))).toMatch(
      /^\[\d\d:\d\d:\d\d\] INFO: POST \/v1\/cards 201 \(12 ms\)\n$/,
    );
  });

  it.each<[string, string, number]>([
    ["GET", "/v1/board", 200],
    ["GET", "/v1/board", 304],
    ["POST", "/api/github/webhooks", 202],
  ])("omits %s %s with %i, except at the most detailed level", (...facts) => {
    expect(printed(request(...facts))).toBe("");
    expect(printed(request(...facts), false)).toContain(facts.join(" "));
  });

  it.each<[string, string, number]>([
    ["GET", "/v1/cards/7", 404],
    ["POST", "/v1/cards/7/move", 200],
    ["POST", "/api/github/webhooks", 401],
    ["DELETE", "/v1/labels/1", 204],
  ])("shows %s %s with %i", (...facts) => {
    expect(printed(request(...facts))).toContain(facts.join(" "));
  });

  it("shows the stack of an error, but only the message of a warning", () => {
    expect(printed((log) => log.error({ err: new Error("broken") }, "failed"))).toMatch(
      /ERROR: failed ?\n[^]*broken\n +at /,
    );
    const warning = printed((log) => log.warn({ err: new Error("broken"), attempts: 2 }, "failed"));
    expect(warning).toMatch(/WARN: failed \{"attempts":2,"reason":"broken"\}\n/);
    expect(warning).not.toContain(" at ");
  });

  it("escapes control characters", () => {
    const hostile = "\u001b[2J\r\b\u0007\u009b1m";
    const text = printed((log) =>
      log.error({ note: hostile, err: new Error(hostile) }, `\\u001b ${hostile}`),
    );
    expect(text).toContain("\\u001b ?[2J????1m");
    expect(text.match(/(?!\n)\p{Cc}/gu)).toBeNull();
  });
});

describe("a log line", () => {
  it.each(["authorization", "token", "privateKey", "apiKey", "webhookSecret", "secret", "password"])(
    "omits a field called %s, whatever its value and depth",
    (name) => {
      const text = logged((log) => {
        log.info({ [name]: "plain-1" }, "top");
        log.info({ request: { [name]: "plain-2" } }, "one down");
        log.info({ request: { headers: { [name]: "plain-3" } } }, "two down");
        log.info({ err: { request: { headers: { [name]: "plain-4" } } } }, "three down");
      });
      expect(text).not.toContain("plain-");
      expect(text.trim().split("\n")).toHaveLength(4);
    },
  );

  it("keeps everything that is not secret", () => {
    const text = logged((log) =>
      log.info({ requestId: "0190", path: "/v1/cards/7", ghs: "ghs_short" }, "request"),
    );
    expect(JSON.parse(text)).toMatchObject({
      requestId: "0190",
      path: "/v1/cards/7",
      ghs: "ghs_short",
      msg: "request",
    });
  });

  it("is redacted in linear time", () => {
    const text = logged((log) =>
      log.info({ note: "-----BEGIN ".repeat(20_000) + "eyJ".repeat(60_000) + "\\".repeat(60_000) }, "long"),
    );
    expect(text.length).toBeGreaterThan(1_000);
  });
});

describe("a process", () => {
  const LOG = new URL("../../src/log.ts", import.meta.url).href;
  /** Arguments for a node process that logs to its standard output. */
  const argumentsFor = (work: string): string[] => [
    "--import",
    "tsx",
    "--input-type=module",
    "--eval",
    `import { createLog } from ${JSON.stringify(LOG)};
     import { setTimeout as sleep } from "node:timers/promises";
     const log = createLog("info");
     const logLines = (from, to) => { for (let line = from; line < to; line++) log.info({ line, much: "x".repeat(200) }, "said"); };
     ${work}`,
  ];
  const LINES = 2_000;

  it.each([
    ["ends", ""],
    ["exits", "process.exit(3);"],
    ["fails", "throw new Error('on purpose');"],
    ["fails with a fatal error", "log.fatal('over'); process.abort();"],
  ])("that %s writes its whole log", (_, ending) => {
    const { stdout } = spawnSync(
      process.execPath,
      // The last lines are logged while earlier ones may still be written.
      argumentsFor(`logLines(0, ${LINES - 5}); await sleep(15); logLines(${LINES - 5}, ${LINES}); ${ending}`),
      { encoding: "utf8" },
    );
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { line?: number }).line);
    expect(lines.filter((line) => line !== undefined)).toEqual(Array.from({ length: LINES }, (__, at) => at));
  });

  it.each([
    ["logged", "logLines(0, 1);"],
    ["logged while an earlier line is written", "logLines(0, 1); setTimeout(() => logLines(1, 2), 10);"],
    ["logged as a warning", "log.warn('said');"],
  ])("writes while it runs what it %s", async (_, work) => {
    const child = spawn(process.execPath, argumentsFor(`${work} setInterval(() => undefined, 60_000);`), {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const lines = createInterface({ input: child.stdout });
    const expected = work.includes("logLines(1, 2)") ? 2 : 1;
    let seen = 0;
    for await (const line of lines) {
      expect(line).toContain("said");
      if (++seen === expected) break;
    }
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    expect(seen).toBe(expected);
  });
});
