import { randomBytes } from "node:crypto";
import { access, constants, mkdir, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { processIdentity } from "./process-identity.ts";

/** A data directory that no other process on this machine uses. */
export interface LockedDataDir {
  readonly path: string;
  readonly release: () => Promise<void>;
}

/** The data directory cannot be used. */
export class DataDirError extends Error {
  override readonly name = "DataDirError";
  readonly code = "ERR_DATA_DIR";
}

const claimName = /^lock\.(?<pid>\d+)\.(?<life>[0-9a-z]+)\.[0-9a-f]+$/;

/**
 * Locks a data directory for the process `pid`, and creates it (0700) if it is missing.
 *
 * Each process first adds its own claim file and then reads the others, so two processes cannot
 * both find none. A claim contains the process id and start time: the claim of a killed process is
 * not valid, even when its process id is in use again.
 */
export async function lockDataDir(dir: string, pid: number): Promise<LockedDataDir> {
  const path = await createDir(dir);
  const life = (await processIdentity(pid)) ?? "unknown";
  for (let attempt = 1; ; attempt++) {
    const claim = `lock.${pid}.${life}.${randomBytes(6).toString("hex")}`;
    await writeFile(join(path, claim), "", { flag: "wx", mode: 0o600 });
    const rival = await findRival(path, claim);
    if (rival === undefined) return { path, release: () => rm(join(path, claim), { force: true }) };
    await rm(join(path, claim), { force: true });
    if (attempt === 3) throw inUse(path, rival);
    // Two processes that claim at the same time see each other. A random delay lets one be first.
    await sleep(50 + Math.random() * 200);
  }
}

async function createDir(dir: string): Promise<string> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await access(dir, constants.W_OK);
    return await realpath(dir);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new DataDirError(
      `${dir} cannot be used as the data directory (${message}). Set TRUNKLINE_DATA_DIR to a writable folder.`,
      { cause },
    );
  }
}

/** The process id of another valid claim. Deletes claims of dead processes. */
async function findRival(path: string, ownClaim: string): Promise<string | undefined> {
  for (const name of await readdir(path)) {
    const { pid, life } = claimName.exec(name)?.groups ?? {};
    if (pid === undefined || life === undefined || name === ownClaim) continue;
    if ((await processIdentity(Number(pid))) === life) return pid;
    await rm(join(path, name), { force: true });
  }
  return undefined;
}

function inUse(path: string, pid: string): Error {
  return new DataDirError(
    `${path} is in use by process ${pid}. Stop that process, or set TRUNKLINE_DATA_DIR to another folder.`,
  );
}
