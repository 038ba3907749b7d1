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

/** The role and the database that `initdb` creates. */
export const role = "trunkline";
export const database = "postgres";

/**
 * The path of the cluster for a process that is started in it.
 *
 * Under root, the account that runs PostgreSQL may have no access to the folders above, such as
 * `/root` (0700). Node enters the working directory before it gives up root, and /proc/self/cwd
 * leads there without passing those folders. `.` does not work: PostgreSQL makes it absolute.
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

/** The password for TCP connections; socket connections need none. */
export async function readPassword(dataDir: string): Promise<string> {
  return (await readFile(passwordFile(dataDir), "utf8")).trim();
}

export async function prepareCluster(place: ClusterPlace, isThrowAway: boolean): Promise<void> {
  const { clusterDir, account } = place;
  const existing = await stat(clusterDir).catch(() => undefined);
  if (existing === undefined) return createCluster(place, isThrowAway);
  // A copy or a restore by root may have changed owner and mode, and the server checks both.
  if (account !== undefined && existing.uid !== account.uid) {
    const owner = `${account.uid}:${account.gid}`;
    await runShell(undefined, 'chown -R "$1" "$2"', [owner, clusterDir]);
  }
  if ((existing.mode & 0o077) !== 0) await chmod(clusterDir, 0o700);
}

/** Creates the cluster under another name first: an aborted start leaves no incomplete one. */
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
      // A pipe: the account may not be able to open a file, and arguments are visible to all users.
      `printf '%s\\n' "$TRUNKLINE_PASSWORD" | "$0" "$@" --pwfile=/dev/stdin`,
      join(binaries, "bin", "initdb"),
      `--pgdata=${pathFromInside(clusterDir, account)}`,
      `--username=${role}`,
      "--encoding=UTF8",
      // Sorting by code point and case rules of Unicode, built into PostgreSQL: equal on all
      // machines.
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
  const isCreated = await stat(join(clusterDir, "global", "pg_control")).catch(() => undefined);
  if (isCreated === undefined || !output.includes("Success.")) {
    throw new Error(
      `The embedded PostgreSQL could not be initialized in ${dataDir}:\n${output}\nSet DATABASE_URL to use another PostgreSQL server.`,
    );
  }
}
