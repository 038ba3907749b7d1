import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ObjectReader, openObjectReader } from "./objects.ts";
import { startGit } from "./start-git.ts";

const DEFAULT_SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

/** The configuration of every git process; system and user configuration are ignored. */
const CONFIG: readonly (readonly [string, string])[] = [
  ["safe.directory", "*"],
  ["gc.auto", "0"],
  ["receive.autogc", "false"],
  ["http.receivepack", "true"],
  ["receive.hideRefs", "refs/pull"],
  ["receive.advertisePushOptions", "false"],
  ["uploadpack.allowReachableSHA1InWant", "true"],
  ["uploadpack.allowFilter", "true"],
  ["core.logAllRefUpdates", "false"],
  ["init.defaultBranch", "main"],
  ["merge.renames", "true"],
];

interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
}

interface GitRunOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes besides 0 that are not an error. */
  readonly codes?: readonly number[];
}

/** A bare repository. */
export interface GitRepository {
  readonly path: string;
  readonly objects: ObjectReader;
  /** Runs git in the repository; throws `GitError` on an unexpected exit code. */
  run(args: readonly string[], options?: GitRunOptions): Promise<GitResult>;
  /** Runs git and returns its output without the trailing line break. */
  text(args: readonly string[], options?: GitRunOptions): Promise<string>;
}

export interface Git {
  /** The environment of every git process. */
  readonly env: Readonly<Record<string, string>>;
  /** Holds the snapshots that stale reads are served from; emptied at each start. */
  readonly snapshotsFolder: string;
  repository(id: number): GitRepository;
  create(id: number, defaultBranch: string): Promise<GitRepository>;
  remove(id: number): void;
  close(): void;
}

export class GitError extends Error {
  override readonly name = "GitError";
  readonly code: number;
  readonly stderr: string;

  constructor(args: readonly string[], code: number, stderr: string) {
    super(`git ${args[0]} exited with ${code}: ${stderr.trim()}`);
    this.code = code;
    this.stderr = stderr;
  }
}

/** Opens the folder of bare repositories, each named `<id>.git`. */
export function openGit(options: {
  folder: string;
  snapshotsFolder: string;
  hooksFolder: string;
  searchPath?: string;
}): Git {
  const { snapshotsFolder } = options;
  mkdirSync(options.folder, { recursive: true });
  // A killed forge leaves its snapshots behind.
  rmSync(snapshotsFolder, { recursive: true, force: true });
  for (const name of readdirSync(options.folder)) removeLocks(join(options.folder, name));
  const env = gitEnvironment(options.searchPath ?? DEFAULT_SEARCH_PATH, options.hooksFolder);
  const open = new Map<number, GitRepository>();
  const repository = (id: number): GitRepository => {
    const known = open.get(id);
    if (known !== undefined) return known;
    const opened = openRepository(join(options.folder, `${id}.git`), env);
    open.set(id, opened);
    return opened;
  };
  return {
    env,
    snapshotsFolder,
    repository,
    async create(id, defaultBranch) {
      await writeEmptyRepository(join(options.folder, `${id}.git`), defaultBranch);
      return repository(id);
    },
    remove(id) {
      open.get(id)?.objects.close();
      open.delete(id);
      rmSync(join(options.folder, `${id}.git`), { recursive: true, force: true });
    },
    close() {
      for (const each of open.values()) each.objects.close();
    },
  };
}

/** Equals `git init --bare` with an empty template, without a process: tests create thousands. */
async function writeEmptyRepository(path: string, defaultBranch: string): Promise<void> {
  for (const folder of ["objects/info", "objects/pack", "refs/heads", "refs/tags"])
    await mkdir(join(path, folder), { recursive: true });
  const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
  await writeFile(join(path, "config"), config);
  await writeFile(join(path, "HEAD"), `ref: refs/heads/${defaultBranch}\n`);
}

/** Removes the locks of a killed git process; no other process uses these repositories. */
function removeLocks(path: string): void {
  const refs = readdirSync(join(path, "refs"), { recursive: true, encoding: "utf8" });
  const files = ["packed-refs.lock", "HEAD.lock", ...refs.map((name) => join("refs", name))];
  for (const file of files) if (file.endsWith(".lock")) rmSync(join(path, file), { force: true });
}

export function openRepository(path: string, env: Readonly<Record<string, string>>): GitRepository {
  const run = (args: readonly string[], options: GitRunOptions = {}) => runGit(path, env, args, options);
  return {
    path,
    objects: openObjectReader(path, env),
    run,
    async text(args, options) {
      const { stdout } = await run(args, options);
      return stdout.toString("utf8").replace(/\n$/, "");
    },
  };
}

function gitEnvironment(searchPath: string, hooksFolder: string): Readonly<Record<string, string>> {
  const settings = [...CONFIG, ["core.hooksPath", hooksFolder] as const];
  const env: Record<string, string> = {
    PATH: searchPath,
    LC_ALL: "C",
    TZ: "UTC",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_COUNT: String(settings.length),
  };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}

function runGit(
  folder: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  options: GitRunOptions = {},
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    startGit({
      args,
      cwd: folder,
      env: { ...env, ...options.env },
      input: options.input ?? "",
      onOutput: (part) => stdout.push(part),
      onEnd: (code, stderr) => {
        if (code === 0 || options.codes?.includes(code)) resolve({ code, stdout: Buffer.concat(stdout) });
        else reject(new GitError(args, code, stderr));
      },
    });
  });
}

/** Results kept per repository and function; at the limit all are dropped. */
const MAX_CACHED = 2_000;

/** Caches a function of two commits. Commits never change; git takes about 4 ms. */
export function cached<Result>(
  compute: (repo: GitRepository, one: string, other: string) => Promise<Result>,
): (repo: GitRepository, one: string, other: string) => Promise<Result> {
  const cache = new WeakMap<GitRepository, Map<string, Promise<Result>>>();
  return (repo, one, other) => {
    const results = cache.get(repo) ?? new Map<string, Promise<Result>>();
    cache.set(repo, results);
    const key = `${one} ${other}`;
    const known = results.get(key);
    if (known !== undefined) return known;
    if (results.size >= MAX_CACHED) results.clear();
    const result = compute(repo, one, other);
    results.set(key, result);
    result.catch(() => results.delete(key));
    return result;
  };
}
