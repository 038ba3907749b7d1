import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const exec = promisify(execFile);

/** A person's clone of a repository, worked on with git itself. */
export interface Clone {
  readonly dir: string;
  /** Runs git and gives what it prints, trimmed. */
  git(...args: string[]): Promise<string>;
  /** Writes files, commits them on the checked-out branch, and gives the commit. */
  commit(message: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** Checks a branch out as the remote has it now. */
  checkout(branch: string): Promise<void>;
  push(...args: string[]): Promise<void>;
  remove(): Promise<void>;
}

/** Clones over HTTP as the person whose token is in the URL. */
export async function cloneRepository(url: string, author: string): Promise<Clone> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-clone-"));
  const env = {
    PATH: process.env["PATH"],
    HOME: dir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: author,
    GIT_AUTHOR_EMAIL: `${author}@example.com`,
    GIT_COMMITTER_NAME: author,
    GIT_COMMITTER_EMAIL: `${author}@example.com`,
  };
  const work = join(dir, "work");
  await exec("git", ["clone", "-q", url, work], { env });
  const git = async (...args: string[]): Promise<string> => {
    const { stdout } = await exec("git", args, { cwd: work, env });
    return stdout.trim();
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
      await git("checkout", "-q", "-B", branch, `origin/${branch}`);
    },
    push: async (...args) => {
      await git("push", "-q", ...(args.length > 0 ? args : ["origin", "HEAD"]));
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
