import { once } from "node:events";
import { chown, lstat, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Account, runShell } from "./account.ts";
import { database, role } from "./cluster.ts";

/** How a server listens: on a private socket, or on a loopback port with a password. */
export type Listener =
  | { readonly kind: "socket"; readonly socketDir: string }
  | { readonly kind: "tcp"; readonly port: number };

const socketPort = 5432;
const folderPrefix = "trunkline-pg-";
/** `sun_path` has 104 bytes on macOS and 108 on Linux, including the final zero. */
const maxSocketPath = 103;

/**
 * Ways to listen, best first. The path of a socket must be short, so it is in a temporary folder
 * (0700) and not in the data directory. The folder is new at every start.
 */
export async function* listenersToTry(account: Account, only?: Listener["kind"]): AsyncGenerator<Listener> {
  if (only !== "tcp") {
    for (const parent of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
      const socketDir = await createSocketDir(parent, account).catch(() => undefined);
      if (socketDir !== undefined) yield { kind: "socket", socketDir };
    }
  }
  if (only !== "socket") {
    // Another program may take a free port before the server does.
    for (let attempt = 0; attempt < 5; attempt++) yield { kind: "tcp", port: await freePort() };
  }
}

async function createSocketDir(parent: string, account: Account): Promise<string | undefined> {
  const path = join(parent, `${folderPrefix}XXXXXX`, `.s.PGSQL.${socketPort}`);
  if (Buffer.byteLength(path) > maxSocketPath) return undefined;
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
  if (address === null || typeof address === "string") throw new Error("The TCP server has no port.");
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

/** Whether a failed start may succeed with another way to listen. */
export function isListenFailure(output: string): boolean {
  return /Unix-domain socket|\.s\.PGSQL|could not create any TCP|could not bind/.test(output);
}

/** A connection string for pg, knex, graphile-worker and psql. */
export function connectionStringFor(listener: Listener, password: string): string {
  return listener.kind === "socket"
    ? `postgresql://${role}@localhost:${socketPort}/${database}?host=${encodeURIComponent(listener.socketDir)}`
    : `postgresql://${role}:${password}@127.0.0.1:${listener.port}/${database}`;
}

/** Removes the folder of a server that was killed together with its watcher. */
export async function removeStaleSocketDir(socketDir: string): Promise<void> {
  if (!basename(socketDir).startsWith(folderPrefix)) return;
  const found = await lstat(socketDir).catch(() => undefined);
  if (found?.isDirectory()) await rm(socketDir, { recursive: true, force: true }).catch(() => {});
}
