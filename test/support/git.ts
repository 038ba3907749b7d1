import { mkdtemp, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startGit } from "../../sandbox/forge/git/start-git.ts";

/** A clone of a repository, changed with git. */
export interface Clone {
  readonly dir: string;
  /** Runs git and returns its trimmed output. */
  git(...args: string[]): Promise<string>;
  /** Writes files, commits them on the current branch, and returns the commit. */
  commit(message: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** Checks out a branch after a fetch. */
  checkout(branch: string): Promise<void>;
  /** Checks out a branch without a fetch, which a new clone does not need. */
  checkoutKnown(branch: string): Promise<void>;
  push(...args: string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Clones over HTTP as the user whose token is in the URL. */
export async function cloneRepository(url: string, author: string): Promise<Clone> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-clone-"));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: dir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: author,
    GIT_AUTHOR_EMAIL: `${author}@example.com`,
    GIT_COMMITTER_NAME: author,
    GIT_COMMITTER_EMAIL: `${author}@example.com`,
  };
  const work = join(dir, "work");
  const run = inTurn(env);
  await run(dir, ["clone", "-q", url, work]);
  const git = (...args: string[]): Promise<string> => run(work, args);
  const checkoutKnown = async (branch: string): Promise<void> => {
    await git("checkout", "-q", "-B", branch, `origin/${branch}`);
  };
  return {
    dir: work,
    git,
    commit: async (message, files) => {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(work, path)), { recursive: true });
        await writeFile(join(work, path), text);
      }
      await git("add", "-A");
      await git("commit", "-q", "-m", message);
      return git("rev-parse", "HEAD");
    },
    checkout: async (branch) => {
      await git("fetch", "-q", "origin");
      await checkoutKnown(branch);
    },
    checkoutKnown,
    push: async (...args) => {
      await git("push", "-q", ...(args.length > 0 ? args : ["origin", "HEAD"]));
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}

type Environment = Readonly<Record<string, string>>;

/** Runs git in a folder and returns its trimmed output; throws its error output. */
function runGit(cwd: string, args: readonly string[], env: Environment): Promise<string> {
  return new Promise((resolve, reject) => {
    const output: Buffer[] = [];
    startGit({
      args,
      cwd,
      env,
      input: "",
      onOutput: (part) => output.push(part),
      onEnd: (code, stderr) => {
        if (code === 0) resolve(Buffer.concat(output).toString().trim());
        else reject(new Error(`git ${args.join(" ")} ended with ${code}:\n${stderr}`));
      },
    });
  });
}

/** Runs git once at a time. */
function inTurn(env: Environment): (cwd: string, args: readonly string[]) => Promise<string> {
  let last: Promise<unknown> = Promise.resolve();
  return (cwd, args) => {
    const next = last.then(() => runGit(cwd, args, env));
    last = next.catch(() => undefined);
    return next;
  };
}
