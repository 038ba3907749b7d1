#!/usr/bin/env node
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { readConfig, type Config, type RealConfig, type SandboxConfig } from "./config.ts";
import { describeError } from "./errors.ts";
import { createLog, prettyOutput } from "./log.ts";
import { startService } from "./service.ts";

/** How long calls and jobs under way are waited for at the end, in milliseconds. */
const DRAIN_MS = 30_000;

interface Running {
  /** How long calls are taken after the signal, in milliseconds. */
  readonly drainsForMs?: number;
  /** `isUrgent` ends the time in which calls are still taken; those under way are finished all the same. */
  stop(isUrgent: AbortSignal): Promise<void>;
}

/** Why the process ends. */
interface Reason {
  readonly code: number;
  readonly signal?: string;
  /** What the embedded PostgreSQL wrote last before it ended by itself. */
  readonly lastWords?: string;
}

type End = (reason: Reason) => Promise<void>;

async function runSandbox(config: SandboxConfig, log: Logger): Promise<End> {
  // Only here: nothing in production loads the sandbox.
  const { startSandbox } = await import("../sandbox/start-sandbox.ts");
  const { welcome } = await import("../sandbox/welcome.ts");
  const sandbox = await startSandbox(config, { pid: process.pid, searchPath: process.env["PATH"] }, log);
  process.stdout.write(`${welcome(sandbox.file, join(config.dataDir, "sandbox.json"))}\n`);
  const end = endOf(sandbox, log);
  void sandbox.databaseEnded.then((lastWords) => end({ code: 1, lastWords }));
  endWithNpm(end);
  return end;
}

async function runReal(config: RealConfig, log: Logger): Promise<End> {
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
    metrics: config.metricsToken === null ? "off" : { token: config.metricsToken },
    log,
  });
  const { syncInstallations } = await import("./actions/installations/sync-installation.ts");
  await syncInstallations(service.deps).catch((error: unknown) => {
    log.error({ err: error }, "the forge's installations could not be read; they are tried again every hour");
  });
  log.info({ baseUrl: service.baseUrl }, "listening");
  const running: Running = {
    drainsForMs: config.drainSeconds * 1_000,
    stop: async (isUrgent) => {
      service.drain();
      log.info(
        { seconds: config.drainSeconds },
        "/readyz says that this process ends; calls are still taken",
      );
      await sleep(config.drainSeconds * 1_000, undefined, { signal: isUrgent }).catch(() => undefined);
      await service.stop();
    },
  };
  return endOf(running, log);
}

/** Ends the process in good order. Asked a second time, it waits for load balancers no longer, and still for what is under way. */
function endOf(running: Running, log: Logger): End {
  /** There once the process is ending. */
  let urgency: AbortController | undefined;
  return async ({ code, signal, lastWords }) => {
    if (signal) log.info({ signal }, urgency ? "asked again to end" : "asked to end");
    if (urgency) {
      urgency.abort();
      return;
    }
    urgency = new AbortController();
    if (lastWords !== undefined) log.fatal({ lastWords }, "the embedded PostgreSQL has ended");
    setTimeout(
      () => {
        log.error("calls or jobs were still under way at the end of the drain");
        process.exit(1);
      },
      DRAIN_MS + (running.drainsForMs ?? 0),
    ).unref();
    await running.stop(urgency.signal);
    log.info("ended: every call was answered, every job at work finished");
    process.exitCode = code;
  };
}

/** npm does not take its children with it when it is killed; a sandbox nobody can stop any more must not stay. */
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
  const end = await (config.mode === "sandbox" ? runSandbox(config, log) : runReal(config, log));
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => void end({ code: 0, signal }));
  }
}

main().catch((error: unknown) => {
  const isPortTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  const advice = isPortTaken
    ? ". Set PORT, or SANDBOX_FORGE_PORT for the sandbox forge, to a free port."
    : "";
  process.stderr.write(`${describeError(error)}${advice}\n`);
  process.exitCode = 1;
});
