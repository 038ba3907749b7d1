import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { platform, userInfo } from "node:os";

/** Whom the PostgreSQL processes run as; undefined means as ourselves. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/** "nobody" on every Linux; needs no entry of ours in the host's list of users. */
const nobody = { uid: 65_534, gid: 65_534 };

/** PATH for the shell's own tools. Nothing of the service's environment, secrets included, reaches Postgres. */
export const bareEnvironment = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
  LC_ALL: "C",
  TZ: "UTC",
};

export function ownUid(): number | undefined {
  try {
    return userInfo().uid;
  } catch {
    // A uid without an entry in /etc/passwd: certainly not root.
    return undefined;
  }
}

/**
 * PostgreSQL refuses to run as root, so root runs it as whoever owns the cluster (someone may have started the service as
 * themselves before), else as nobody. Anybody else runs it as themselves.
 */
export async function chooseAccount(clusterDir: string): Promise<Account> {
  const cluster = await stat(clusterDir).catch(() => undefined);
  const uid = ownUid();
  if (uid === 0) {
    if (platform() !== "linux") throw notAsRoot();
    return cluster === undefined || cluster.uid === 0 ? nobody : { uid: cluster.uid, gid: cluster.gid };
  }
  if (cluster !== undefined && uid !== undefined && cluster.uid !== uid) {
    throw new Error(
      `${clusterDir} belongs to user ${cluster.uid}; this is user ${uid}. If root started the service there before, start it as root again or set TRUNKLINE_DATA_DIR to another folder.`,
    );
  }
  return undefined;
}

function notAsRoot(): Error {
  return new Error(
    "The embedded PostgreSQL cannot be started by root on this system: start the service as an ordinary user, or set DATABASE_URL.",
  );
}

/** Runs a few lines of shell as `account`; resolves with the exit code and everything printed, and never rejects. */
export function runShell(
  account: Account,
  script: string,
  args: readonly string[] = [],
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(
      "/bin/sh",
      ["-c", script, "trunkline-postgres", ...args],
      { ...account, cwd: "/", env: bareEnvironment },
      (error, stdout, stderr) =>
        resolve({ ok: error === null, output: stdout + stderr || (error?.message ?? "") }),
    );
  });
}
