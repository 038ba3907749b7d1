import { once } from "node:events";
import { chown, lstat, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Account, runShell } from "./account.ts";
import { database, role } from "./cluster.ts";

/** Where a server can be reached: a private socket, or a loopback port with a password. */
export type Listener =
  | { readonly kind: "socket"; readonly socketDir: string }
  | { readonly kind: "tcp"; readonly port: number };

const socketPort = 5432;
const folderPrefix = "trunkline-pg-";
/** `sun_path` holds 104 bytes on macOS and 108 on Linux, one of them the closing zero. */
const longestSocketPath = 103;

/**
 * Ways to listen, best first. A socket's path must be short while data directories may be deep, so it lives in a temporary
 * folder of its own (0700): new at every start, so nothing left behind is ever in the way.
 */
export async function* waysToListen(account: Account, only?: Listener["kind"]): AsyncGenerator<Listener> {
  if (only !== "tcp") {
    for (const parent of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
      const socketDir = await makeSocketDir(parent, account).catch(() => undefined);
      if (socketDir !== undefined) yield { kind: "socket", socketDir };
    }
  }
  if (only !== "socket") {
    // Another program may take a free port before the server does.
    for (let attempt = 0; attempt < 5; attempt++) yield { kind: "tcp", port: await freePort() };
  }
}

async function makeSocketDir(parent: string, account: Account): Promise<string | undefined> {
  const path = join(parent, `${folderPrefix}XXXXXX`, `.s.PGSQL.${socketPort}`);
  if (Buffer.byteLength(path) > longestSocketPath) return undefined;
  const socketDir = await mkdtemp(join(parent, folderPrefix));
  if (account === undefined) return socketDir;
  await chown(socketDir, account.uid, account.gid);
  if ((await runShell(account, 'test -w "$1"', [socketDir])).ok) return socketDir;
  await rm(socketDir, { recursive: true });
  return undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return address.port;
}

export function listenerSettings(listener: Listener): Record<string, string> {
  return listener.kind === "socket"
    ? {
        listen_addresses: "",
        port: String(socketPort),
        unix_socket_directories: listener.socketDir,
        unix_socket_permissions: "0700",
      }
    : { listen_addresses: "127.0.0.1", port: String(listener.port), unix_socket_directories: "" };
}

/** Whether a server that gave up may fare better with the next way to listen. */
export function isListenFailure(output: string): boolean {
  return /Unix-domain socket|\.s\.PGSQL|could not create any TCP|could not bind/.test(output);
}

/** Understood by pg, knex, graphile-worker and psql alike. */
export function connectionStringFor(listener: Listener, password: string): string {
  return listener.kind === "socket"
    ? `postgresql://${role}@localhost:${socketPort}/${database}?host=${encodeURIComponent(listener.socketDir)}`
    : `postgresql://${role}:${password}@127.0.0.1:${listener.port}/${database}`;
}

/** Removes what a server killed together with its watcher could not. */
export async function removeStaleSocketDir(socketDir: string): Promise<void> {
  if (!basename(socketDir).startsWith(folderPrefix)) return;
  const found = await lstat(socketDir).catch(() => undefined);
  if (found?.isDirectory()) await rm(socketDir, { recursive: true, force: true }).catch(() => {});
}
