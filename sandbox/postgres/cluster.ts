import { randomBytes } from "node:crypto";
import {
  chmod,
  chown,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { platform } from "node:os";
import { join } from "node:path";
import { type Account, runShell } from "./account.ts";
import { spawnTied } from "./tied-process.ts";

/** The only role and the database that `initdb` makes; nobody but the sandbox's own user can connect. */
export const role = "trunkline";
export const database = "postgres";

/**
 * How a process started in the cluster names it.
 *
 * Under root the data directory may lie where the account that runs PostgreSQL cannot go: `/root` is 0700, and no mode of
 * ours below it helps. What it cannot open by name it can still be started in, because node enters the working directory
 * before it gives up root, and /proc/self/cwd leads there without passing the folders above (`.` does not: PostgreSQL
 * makes it absolute first). So the data stays in the data directory, to be copied, moved or deleted like the rest of it.
 */
export function pathFromInside(clusterDir: string, account: Account): string {
  return account !== undefined && platform() === "linux" ? "/proc/self/cwd" : clusterDir;
}

export interface ClusterPlace {
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly binaries: string;
  readonly account: Account;
}

const passwordFile = (dataDir: string): string => join(dataDir, "postgres.password");

/** For connections over TCP; those over the socket need none. */
export async function readPassword(dataDir: string): Promise<string> {
  return (await readFile(passwordFile(dataDir), "utf8")).trim();
}

export async function prepareCluster(place: ClusterPlace, isThrowAway: boolean): Promise<void> {
  const { clusterDir, account } = place;
  const existing = await stat(clusterDir).catch(() => undefined);
  if (existing === undefined) return createCluster(place, isThrowAway);
  // Copied or restored by root, perhaps with the modes of a plain folder: the server insists on both.
  if (account !== undefined && existing.uid !== account.uid) {
    const owner = `${account.uid}:${account.gid}`;
    await runShell(undefined, 'chown -R "$1" "$2"', [owner, clusterDir]);
  }
  if ((existing.mode & 0o077) !== 0) await chmod(clusterDir, 0o700);
}

/** Made beside its place and renamed, so that a start which was cut short leaves nothing that looks like a cluster. */
async function createCluster(place: ClusterPlace, isThrowAway: boolean): Promise<void> {
  const { dataDir, clusterDir, account } = place;
  for (const name of await readdir(dataDir)) {
    if (name.startsWith("postgres.new-")) await rm(join(dataDir, name), { recursive: true, force: true });
  }
  const fresh = await mkdtemp(join(dataDir, "postgres.new-"));
  if (account !== undefined) await chown(fresh, account.uid, account.gid);
  const password = randomBytes(24).toString("base64url");
  await writeFile(passwordFile(dataDir), `${password}\n`, { mode: 0o600 });
  await initialize({ ...place, clusterDir: fresh }, password, isThrowAway);
  await rename(fresh, clusterDir);
  if (!isThrowAway) await syncFolder(dataDir);
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function initialize(place: ClusterPlace, password: string, isThrowAway: boolean): Promise<void> {
  const { dataDir, binaries, clusterDir, account } = place;
  const output = await spawnTied({
    command: "/bin/sh",
    args: [
      "-c",
      // A pipe, because the account could not open a file of ours, and arguments are for everyone to see.
      `printf '%s\\n' "$TRUNKLINE_PASSWORD" | "$0" "$@" --pwfile=/dev/stdin`,
      join(binaries, "bin", "initdb"),
      `--pgdata=${pathFromInside(clusterDir, account)}`,
      `--username=${role}`,
      "--encoding=UTF8",
      // Order by code point, upper and lower case as in Unicode, from PostgreSQL itself: the same on every machine.
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--auth-local=trust",
      "--auth-host=scram-sha-256",
      ...(isThrowAway ? ["--no-sync"] : []),
    ],
    account,
    cwd: clusterDir,
    env: { TRUNKLINE_PASSWORD: password },
    scratchDir: isThrowAway ? dataDir : undefined,
  }).ended;
  const isMade = await stat(join(clusterDir, "global", "pg_control")).catch(() => undefined);
  if (isMade === undefined || !output.includes("Success.")) {
    throw new Error(
      `The embedded PostgreSQL could not be initialized in ${dataDir}:\n${output}\nSet DATABASE_URL to use a PostgreSQL server of your own.`,
    );
  }
}
