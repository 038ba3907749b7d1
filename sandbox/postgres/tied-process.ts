import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Duplex, Readable } from "node:stream";
import { type Account, bareEnvironment } from "./account.ts";

/** A program that ends when we do, however we do. */
export interface TiedProcess {
  signal(name: "SIGINT" | "SIGQUIT"): void;
  /** Resolves, with the last lines it printed, once it has ended and been cleaned up after. Never rejects. */
  readonly ended: Promise<string>;
}

export interface TiedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly account: Account;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Removed at the end, whatever brings it about. */
  readonly socketDir?: string | undefined;
  /** Removed at the end if that is because we are gone. */
  readonly scratchDir?: string | undefined;
  readonly onLine?: (line: string) => void;
}

/**
 * The shell leaves a watcher behind and becomes the program (`exec` keeps the process id). The watcher reads a pipe whose
 * other end only we hold: when it closes we are gone, even by SIGKILL, and the program is interrupted, which PostgreSQL
 * takes as a fast shutdown. Its working directory is the cluster, so a vanished postmaster.pid says that it is done even
 * where nobody reaps it. Forked twice, so that the program finds no child it does not know. Removing is tried again, because
 * initdb has no postmaster.pid and may still be writing files where they are removed.
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

/** In a session of its own: Ctrl-C in the terminal, or a signal to our whole process group, is ours to answer first. */
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
    // Comes when every pipe is closed, the watcher's too.
    await once(child, "close");
  } catch (error) {
    // Not even started: no /bin/sh, or no right to become another user.
    tie.destroy();
    return String(error);
  }
  return lines.join("\n");
}
