import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { ServiceOptions } from "../../../src/service.ts";
import { eventually } from "../api.ts";
import { isCompiled } from "./compiled.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** The compiled service in its own folder, as in an image. */
export interface Shipped {
  readonly dir: string;
  /** Starts `node dist/src/main.js` with the settings of an App and resolves when it listens. */
  start(options: ShippedOptions): Promise<ShippedProcess>;
  remove(): Promise<void>;
}

export interface ShippedOptions {
  readonly databaseUrl: string;
  readonly github: ServiceOptions["github"];
  /** A free port by default. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ShippedProcess {
  readonly child: ChildProcess;
  readonly baseUrl: string;
  /** The standard output and standard error so far. */
  readonly wrote: () => string;
  /** The log lines so far. */
  readonly logged: () => readonly LogLine[];
  /** The exit code or signal after its end. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Kills it if it still runs. */
  kill(): Promise<void>;
}

export interface LogLine {
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The service as `npm run build` compiles it, with the image's other files. */
export async function shipService(): Promise<Shipped> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-shipped-"));
  const dist = join(dir, "dist");
  await (isCompiled() ? copyCompiled(dist) : compile(dist));
  const schema = "sandbox/forge/graphql/github-schema.graphql";
  for (const name of ["package.json", "app.yml", "openapi.json", "migrations", schema]) {
    await cp(join(ROOT, name), join(dir, name), { recursive: true });
  }
  await symlink(join(ROOT, "node_modules"), join(dir, "node_modules"));
  return {
    dir,
    start: (options) => startShipped(dir, options),
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

async function compile(dist: string): Promise<void> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const project = ["-p", join(ROOT, "tsconfig.build.json")];
  const into = ["--outDir", dist, "--tsBuildInfoFile", join(dist, ".tsbuildinfo")];
  await promisify(execFile)(process.execPath, [tsc, ...project, ...into]);
}

async function copyCompiled(dist: string): Promise<void> {
  for (const name of ["package.json", "src", "sandbox"])
    await cp(join(ROOT, "dist", name), join(dist, name), { recursive: true });
}

/** The settings of a service that uses a sandbox forge as GitHub. */
export const environmentOf = ({ databaseUrl, github, port = 0, env = {} }: ShippedOptions) => ({
  NODE_ENV: "production",
  DATABASE_URL: databaseUrl,
  APP_ID: String(github.appId),
  PRIVATE_KEY: github.privateKey,
  WEBHOOK_SECRET: github.webhookSecrets[0] ?? "",
  GHE_HOST: new URL(github.apiUrl).host,
  GHE_PROTOCOL: "http",
  PORT: String(port),
  DRAIN_SECONDS: "0",
  ...env,
});

async function startShipped(dir: string, options: ShippedOptions): Promise<ShippedProcess> {
  const child = spawn(process.execPath, ["dist/src/main.js"], {
    cwd: dir,
    env: { PATH: process.env["PATH"], ...environmentOf(options) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let complaints = "";
  child.stdout.on("data", (text) => (out += String(text)));
  child.stderr.on("data", (text) => (complaints += String(text)));
  const ended = once(child, "close").then(([code, signal]: (number | string | null)[]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }));
  const logged = (): LogLine[] =>
    out
      .slice(0, out.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as LogLine);
  const listening = await eventually(
    () => Promise.resolve(logged().find(({ msg }) => msg === "listening")),
    (line) => line !== undefined || child.exitCode !== null,
  );
  if (!listening) throw new Error(`the service did not start: ${out}${complaints}`);
  return {
    child,
    baseUrl: String(listening["baseUrl"]),
    wrote: () => out + complaints,
    logged,
    ended,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
