#!/usr/bin/env node
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { syncInstallations } from "./actions/installations/sync-installation.ts";
import { readConfig, type Config, type GitHubConfig, type SandboxConfig } from "./config.ts";
import { describeError } from "./errors.ts";
import { createLog, prettyOutput } from "./log.ts";
import { startService } from "./service.ts";

/** How long running calls and jobs may take during the shutdown, in milliseconds. */
const SHUTDOWN_TIMEOUT_MS = 30_000;

interface Running {
  /** How long new calls are accepted after the signal, in milliseconds. */
  readonly drainsForMs?: number;
  /** Finishes running calls and jobs. `skipDrain` ends the time in which new calls are accepted. */
  stop(skipDrain: AbortSignal): Promise<void>;
}

interface Reason {
  readonly code: number;
  readonly signal?: string;
  /** The last output of the embedded PostgreSQL, when it ended unexpectedly. */
  readonly lastOutput?: string;
}

type End = (reason: Reason) => Promise<void>;

async function runSandbox(config: SandboxConfig, log: Logger): Promise<void> {
  // Loaded here, so that production never loads the sandbox.
  const { startSandbox } = await import("../sandbox/start-sandbox.ts");
  const { welcome } = await import("../sandbox/welcome.ts");
  const sandbox = await startSandbox(config, { pid: process.pid, searchPath: process.env["PATH"] }, log);
  process.stdout.write(`${welcome(sandbox.file, join(config.dataDir, "sandbox.json"))}\n`);
  const end = endOf(sandbox, log);
  void sandbox.databaseEnded.then((lastOutput) => end({ code: 1, lastOutput }));
  endWithNpm(end);
  endOnSignals(end);
}

async function runWithGitHub(config: GitHubConfig, log: Logger): Promise<void> {
  const service = await startService({
    databaseUrl: config.databaseUrl,
    host: config.host,
    port: config.port,
    github: {
      apiUrl: config.apiUrl,
      appId: config.app.id,
      privateKey: config.app.privateKey,
      webhookSecrets: config.webhookSecrets,
      paceWrites: true,
    },
    retention: config.retention,
    limits: config.limits,
    connections: config.connections,
    webhooks: { allowedAddresses: config.webhookAddresses },
    claimsPerCredential: config.claimsPerCredential,
    console: config.console,
    metrics: config.metricsToken === null ? "off" : { token: config.metricsToken },
    log,
  });
  const running: Running = {
    drainsForMs: config.drainSeconds * 1_000,
    stop: async (skipDrain) => {
      service.drain();
      log.info({ seconds: config.drainSeconds }, "/readyz returns 503; new calls are still accepted");
      await sleep(config.drainSeconds * 1_000, undefined, { signal: skipDrain }).catch(() => undefined);
      await service.stop();
    },
  };
  // It already serves calls, which a signal must not cut off.
  endOnSignals(endOf(running, log));
  await syncInstallations(service.deps).catch((error: unknown) => {
    log.error({ err: error }, "the installations could not be read from GitHub; this is retried every hour");
  });
  log.info({ baseUrl: service.baseUrl }, "listening");
}

/** Finishes running calls and jobs. A second signal skips the wait for load balancers. */
function endOf(running: Running, log: Logger): End {
  /** Set while the process is shutting down. */
  let ending: AbortController | undefined;
  return async ({ code, signal, lastOutput }) => {
    if (signal) log.info({ signal }, ending ? "shutdown requested again" : "shutdown requested");
    if (ending) {
      ending.abort();
      return;
    }
    ending = new AbortController();
    if (lastOutput !== undefined) log.fatal({ lastOutput }, "the embedded PostgreSQL ended unexpectedly");
    setTimeout(
      () => {
        log.error("calls or jobs did not finish before the shutdown timeout");
        process.exit(1);
      },
      SHUTDOWN_TIMEOUT_MS + (running.drainsForMs ?? 0),
    ).unref();
    await running.stop(ending.signal);
    log.info("shutdown complete: all calls have ended and all running jobs have finished");
    process.exitCode = code;
  };
}

function endOnSignals(end: End): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => void end({ code: 0, signal }));
  }
}

/** Ends the sandbox when npm is killed: npm does not end its children then. */
function endWithNpm(end: End): void {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void end({ code: 1 });
  }, 500).unref();
}

/** Text at a terminal, JSON elsewhere and in production, unless LOG_FORMAT is set. */
const isPretty = ({ logFormat }: Config): boolean =>
  logFormat === undefined
    ? process.stdout.isTTY && process.env["NODE_ENV"] !== "production"
    : logFormat === "pretty";

/** Requests are routine in the sandbox. With LOG_LEVEL=debug all are shown. */
const isQuiet = ({ mode, logLevel }: Config): boolean => mode === "sandbox" && logLevel === "info";

async function main(): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const log = createLog(config.logLevel, isPretty(config) ? prettyOutput(isQuiet(config)) : undefined);
  await (config.mode === "sandbox" ? runSandbox(config, log) : runWithGitHub(config, log));
}

main().catch((error: unknown) => {
  const isPortTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  const advice = isPortTaken
    ? ". Set PORT, or SANDBOX_FORGE_PORT for the sandbox forge, to a free port."
    : "";
  process.stderr.write(`${describeError(error)}${advice}\n`);
  process.exitCode = 1;
});
