import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningForge } from "../../sandbox/forge/start-forge.ts";
import { environmentOf } from "../../test/support/processes/shipped-service.ts";

interface ServiceSettings {
  readonly name: string;
  /** The folder that holds `dist`, `migrations` and `node_modules`. */
  readonly root: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  /** The folder of its log, `<name>.log`. */
  readonly logFolder: string;
  readonly clockSkewMs: number;
}

/** The environment of a service that uses this database and forge. */
export function serviceEnvironment(
  databaseUrl: string,
  forge: RunningForge,
  env: Readonly<Record<string, string>>,
) {
  const { apiUrl, app } = forge;
  const { id: appId, privateKey, webhookSecret } = app;
  const github = { apiUrl, appId, privateKey, webhookSecrets: [webhookSecret], paceWrites: true };
  return environmentOf({ databaseUrl, github, env });
}

/** Killed when this process exits. */
const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** The compiled service in a process that may be killed at any time. */
export interface ServiceProcess {
  readonly name: string;
  readonly baseUrl: string;
  readonly pid: () => number | undefined;
  readonly isUp: () => boolean;
  start(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  terminate(): Promise<number | null>;
}

const SENT_AT = join(import.meta.dirname, "sent-at.mjs");
const SKEWED_CLOCK = join(import.meta.dirname, "skewed-clock.mjs");

export function makeServiceProcess(settings: ServiceSettings): ServiceProcess {
  const { name, port, root, clockSkewMs } = settings;
  const baseUrl = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const isRunning = (): boolean =>
    child !== undefined && child.exitCode === null && child.signalCode === null;
  const signal = async (which: "SIGKILL" | "SIGTERM"): Promise<number | null> => {
    if (!child || !isRunning()) return null;
    const exited = once(child, "exit") as Promise<[number | null]>;
    child.kill(which);
    return (await exited)[0];
  };
  return {
    name,
    baseUrl,
    pid: () => child?.pid,
    isUp: isRunning,
    async start() {
      if (isRunning()) return;
      const skew = clockSkewMs === 0 ? {} : { CLOCK_SKEW_MS: String(clockSkewMs) };
      const loaded = clockSkewMs === 0 ? [SENT_AT] : [SENT_AT, SKEWED_CLOCK];
      const args = loaded.flatMap((each) => ["--import", each]);
      child = spawn(process.execPath, [...args, "dist/src/main.js"], {
        cwd: root,
        env: { PATH: process.env["PATH"], ...settings.env, ...skew, PORT: String(port) },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const own = child;
      running.add(own);
      own.once("exit", () => running.delete(own));
      const file = createWriteStream(join(settings.logFolder, `${name}.log`), { flags: "a" });
      child.stdout?.pipe(file, { end: false });
      child.stderr?.pipe(file, { end: false });
      await untilReady(baseUrl, isRunning);
    },
    kill: async () => void (await signal("SIGKILL")),
    terminate: () => signal("SIGTERM"),
  };
}

/** Also returns if the process ends, for example without a database. The caller restarts it. */
async function untilReady(baseUrl: string, isRunning: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600 && isRunning(); tries++) {
    const isHealthy = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isHealthy) return;
    await sleep(50);
  }
}
