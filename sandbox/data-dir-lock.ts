import { randomBytes } from "node:crypto";
import { access, constants, mkdir, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { incarnation } from "./process-incarnation.ts";

/** Proof that this process, and no other on this machine, works in `path`. */
export interface LockedDataDir {
  readonly path: string;
  readonly release: () => Promise<void>;
}

/** The data directory cannot be used; the message says what to do. */
export class DataDirError extends Error {
  override readonly name = "DataDirError";
  readonly code = "ERR_DATA_DIR";
}

const claimName = /^lock\.(?<pid>\d+)\.(?<life>[0-9a-z]+)\.[0-9a-f]+$/;

/**
 * Claims a data directory, made (0700) when missing, for the process `pid`.
 *
 * Everyone first adds a claim of their own and then looks for others, so two can never both find none; a file is never
 * taken over, which is where lock files usually race. A claim names its process and when that started, so what a SIGKILL
 * leaves behind counts for nothing, even after the process id was given to somebody else.
 */
export async function lockDataDir(dir: string, pid: number): Promise<LockedDataDir> {
  const path = await makeDir(dir);
  const life = (await incarnation(pid)) ?? "unknown";
  for (let attempt = 1; ; attempt++) {
    const claim = `lock.${pid}.${life}.${randomBytes(6).toString("hex")}`;
    await writeFile(join(path, claim), "", { flag: "wx", mode: 0o600 });
    const rival = await findRival(path, claim);
    if (rival === undefined) return { path, release: () => rm(join(path, claim), { force: true }) };
    await rm(join(path, claim), { force: true });
    if (attempt === 3) throw inUse(path, rival);
    // Two that claim at the same moment see each other: one of them comes first the next time.
    await sleep(50 + Math.random() * 200);
  }
}

async function makeDir(dir: string): Promise<string> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await access(dir, constants.W_OK);
    return await realpath(dir);
  } catch (cause) {
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new DataDirError(
      `State cannot be kept in ${dir} (${words}): set TRUNKLINE_DATA_DIR to a folder of yours.`,
      { cause },
    );
  }
}

/** The process id of another living claim; the claims of the dead are swept away on the way. */
async function findRival(path: string, ownClaim: string): Promise<string | undefined> {
  for (const name of await readdir(path)) {
    const { pid, life } = claimName.exec(name)?.groups ?? {};
    if (pid === undefined || life === undefined || name === ownClaim) continue;
    if ((await incarnation(Number(pid))) === life) return pid;
    await rm(join(path, name), { force: true });
  }
  return undefined;
}

function inUse(path: string, pid: string): Error {
  return new DataDirError(
    `${path} is in use by process ${pid}. Stop that one first, or give this one a TRUNKLINE_DATA_DIR of its own.`,
  );
}
