import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Duplex, Readable } from "node:stream";
import { type Account, bareEnvironment } from "./account.ts";

/** A program that ends with this process, also when this process is killed. */
export interface TiedProcess {
  signal(name: "SIGINT" | "SIGQUIT"): void;
  /** Resolves with the last lines of output after the folders are removed. Never rejects. */
  readonly ended: Promise<string>;
}

export interface TiedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly account: Account;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Removed at the end. */
  readonly socketDir?: string | undefined;
  /** Removed at the end if this process was killed. */
  readonly scratchDir?: string | undefined;
  readonly onLine?: (line: string) => void;
}

/**
 * The shell starts a watcher and becomes the program (`exec` keeps the process id). The watcher
 * reads a pipe that only this process can write to. When it closes, this process has ended, even by
 * SIGKILL, and the watcher sends SIGINT, for PostgreSQL a fast shutdown. The working directory is
 * the cluster, so a missing postmaster.pid shows that the server has ended even if nobody reaps it.
 * The watcher is forked twice, because PostgreSQL logs the end of a child that it did not start. Removing is retried,
 * because initdb has no postmaster.pid and may still write files.
 */
const script = `
pid=$$ socket=$1 scratch=$2
shift 2
( (
  trap '' HUP INT QUIT TERM
  word=
  read -r word <&3
  if [ "$word" = ended ]; then
    scratch=
  else
    kill -INT "$pid"
    tenths=0
    while [ "$tenths" -lt 600 ] && [ -e postmaster.pid ] && kill -0 "$pid"; do
      [ "$tenths" -ne 200 ] || kill -QUIT "$pid"
      tenths=$((tenths + 1))
      sleep 0.1 || sleep 1
    done
  fi
  cd /
  tries=0
  until rm -rf -- \${socket:+"$socket"} \${scratch:+"$scratch"} || [ "$tries" -ge 50 ]; do
    tries=$((tries + 1))
    sleep 0.2 || sleep 1
  done
) >/dev/null 2>&1 & )
exec "$@" 3<&-
`;

/** In its own session: only this process receives Ctrl-C and signals to its process group. */
export function spawnTied(tied: TiedCommand): TiedProcess {
  const folders = [tied.socketDir ?? "", tied.scratchDir ?? ""];
  const child = spawn("/bin/sh", ["-c", script, "trunkline", ...folders, tied.command, ...tied.args], {
    ...tied.account,
    cwd: tied.cwd,
    env: { ...bareEnvironment, ...tied.env },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream as Readable }).on("line", (line) => {
      lines.push(line);
      if (lines.length > 30) lines.shift();
      tied.onLine?.(line);
    });
  }
  return { signal: (name) => child.kill(name), ended: untilEnded(child, lines) };
}

async function untilEnded(child: ChildProcess, lines: readonly string[]): Promise<string> {
  const tie = child.stdio[3] as Duplex;
  tie.on("error", () => {}).resume();
  child.once("exit", () => tie.end("ended\n"));
  try {
    // Emitted when all pipes are closed, including the watcher's.
    await once(child, "close");
  } catch (error) {
    // It did not start: no /bin/sh, or no permission to change the user.
    tie.destroy();
    return String(error);
  }
  return lines.join("\n");
}
