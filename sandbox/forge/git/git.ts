import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Objects, openObjects } from "./objects.ts";

/** Where git is looked for unless the caller says otherwise. */
export const DEFAULT_SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";

/** Settings given to every git we start: the machine's and the user's own configuration never count. */
const SETTINGS: readonly (readonly [string, string])[] = [
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

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitRunOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that are answers, not failures; 0 always is. */
  readonly codes?: readonly number[];
}

/** One bare repository. */
export interface GitRepository {
  readonly path: string;
  readonly objects: Objects;
  /** Runs git in it; throws `GitError` on an exit code that was not expected. */
  run(args: readonly string[], options?: GitRunOptions): Promise<GitResult>;
  /** Same, answering what it printed without the last line break. */
  text(args: readonly string[], options?: GitRunOptions): Promise<string>;
}

export interface Git {
  /** The environment every git runs in. */
  readonly env: Readonly<Record<string, string>>;
  readonly searchPath: string;
  /** Where older views of repositories are kept while reads lag; empty at each start. */
  readonly viewsFolder: string;
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
    super(`git ${args[0]} ended with ${code}: ${stderr.trim()}`);
    this.code = code;
    this.stderr = stderr;
  }
}

/** Opens the folder of bare repositories, `<id>.git` each. */
export function openGit(options: {
  folder: string;
  viewsFolder: string;
  hooksFolder: string;
  searchPath?: string;
}): Git {
  const { viewsFolder } = options;
  mkdirSync(options.folder, { recursive: true });
  // A forge that was killed closed none of its views.
  rmSync(viewsFolder, { recursive: true, force: true });
  for (const name of readdirSync(options.folder)) removeLocks(join(options.folder, name));
  const searchPath = options.searchPath ?? DEFAULT_SEARCH_PATH;
  const env = gitEnvironment(searchPath, options.hooksFolder);
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
    searchPath,
    viewsFolder,
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

/** What `git init --bare` with an empty template leaves, without starting it: tests make a thousand of these. */
async function writeEmptyRepository(path: string, defaultBranch: string): Promise<void> {
  for (const folder of ["objects/info", "objects/pack", "refs/heads", "refs/tags"])
    await mkdir(join(path, folder), { recursive: true });
  const config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
  await writeFile(join(path, "config"), config);
  await writeFile(join(path, "HEAD"), `ref: refs/heads/${defaultBranch}\n`);
}

/** A git that was killed leaves its locks; nothing else works on these repositories. */
function removeLocks(path: string): void {
  const refs = readdirSync(join(path, "refs"), { recursive: true, encoding: "utf8" });
  const files = ["packed-refs.lock", "HEAD.lock", ...refs.map((name) => join("refs", name))];
  for (const file of files) if (file.endsWith(".lock")) rmSync(join(path, file), { force: true });
}

/** Opens a bare repository outside the forge's own folder. */
export function openRepository(path: string, env: Readonly<Record<string, string>>): GitRepository {
  const run = (args: readonly string[], options: GitRunOptions = {}) => runGit(path, env, args, options);
  return {
    path,
    objects: openObjects(path, env),
    run,
    async text(args, options) {
      const { stdout } = await run(args, options);
      return stdout.toString("utf8").replace(/\n$/, "");
    },
  };
}

function gitEnvironment(searchPath: string, hooksFolder: string): Readonly<Record<string, string>> {
  const settings = [...SETTINGS, ["core.hooksPath", hooksFolder] as const];
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
    const child = spawn("git", args, { cwd: folder, env: { ...env, ...options.env }, stdio: "pipe" });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => stdout.push(part));
    child.stderr.on("data", (part: Buffer) => stderr.push(part));
    child.on("error", reject);
    // git may end before it has read all of its input; its exit code says what matters.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.on("close", (code) => {
      const result = {
        code: code ?? 1,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString("utf8"),
      };
      if (result.code === 0 || options.codes?.includes(result.code)) resolve(result);
      else reject(new GitError(args, result.code, result.stderr));
    });
  });
}

/** So many answers are kept for each repository and kind; then all are forgotten and asked for again. */
const KEPT = 2_000;

/**
 * Keeps what git said about given commits. Commits never change, so neither do the answers; a spawn of git costs about 4 ms.
 */
export function remembering<Answer>(
  ask: (repo: GitRepository, one: string, other: string) => Promise<Answer>,
): (repo: GitRepository, one: string, other: string) => Promise<Answer> {
  const kept = new WeakMap<GitRepository, Map<string, Promise<Answer>>>();
  return (repo, one, other) => {
    const answers = kept.get(repo) ?? new Map<string, Promise<Answer>>();
    kept.set(repo, answers);
    const key = `${one} ${other}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (answers.size >= KEPT) answers.clear();
    const asked = ask(repo, one, other);
    answers.set(key, asked);
    asked.catch(() => answers.delete(key));
    return asked;
  };
}
