import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile, mkdir } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

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
  const shell = openShell(dir, env);
  await shell.git(dir, ["clone", "-q", url, work]);
  const git = (...args: string[]): Promise<string> => shell.git(work, args);
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
    remove: async () => {
      shell.end();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

interface Shell {
  /** Runs git in a folder and returns its trimmed output; throws its error output. One at a time. */
  git(cwd: string, args: readonly string[]): Promise<string>;
  end(): void;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A shell starts git faster than a process as large as a test's. */
function openShell(dir: string, env: Readonly<Record<string, string | undefined>>): Shell {
  const shell = spawn("/bin/sh", [], { cwd: dir, env, stdio: ["pipe", "pipe", "ignore"] });
  // The test need not wait for a clone that it did not remove.
  for (const each of [shell, shell.stdin as Socket, shell.stdout as Socket]) each.unref();
  const codes = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  const run = async (cwd: string, args: readonly string[]): Promise<string> => {
    const command = `git ${args.map(quoted).join(" ")}`;
    shell.stdin.write(`(cd ${quoted(cwd)} && exec ${command}) </dev/null >out 2>err; echo $?\n`);
    const { value: code = "the shell has ended" } = (await codes.next()) as { value?: string };
    if (code !== "0")
      throw new Error(`${command} ended with ${code}:\n${await readFile(join(dir, "err"), "utf8")}`);
    return (await readFile(join(dir, "out"), "utf8")).trim();
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    git(cwd, args) {
      const next = last.then(() => run(cwd, args));
      last = next.catch(() => undefined);
      return next;
    },
    end: () => shell.stdin.end(),
  };
}
