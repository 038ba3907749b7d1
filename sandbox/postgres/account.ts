import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { platform, userInfo } from "node:os";

/** The user that runs PostgreSQL. Undefined: the user of this process. */
export type Account = { readonly uid: number; readonly gid: number } | undefined;

/** "nobody" on every Linux. */
const nobody = { uid: 65_534, gid: 65_534 };

/** PostgreSQL gets none of the service's environment, which has secrets. */
export const bareEnvironment = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
  LC_ALL: "C",
  TZ: "UTC",
};

export function ownUid(): number | undefined {
  try {
    return userInfo().uid;
  } catch {
    // A uid without an entry in /etc/passwd, so not root.
    return undefined;
  }
}

/**
 * PostgreSQL refuses to run as root. Root therefore runs it as the owner of the cluster (another
 * user may have created it), or as nobody. Other users run it as themselves.
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
      `${clusterDir} belongs to user ${cluster.uid}, but this process runs as user ${uid}. Start the service as the user that started it before (maybe root), or set TRUNKLINE_DATA_DIR to another folder.`,
    );
  }
  return undefined;
}

function notAsRoot(): Error {
  return new Error(
    "Root cannot start the embedded PostgreSQL on this system. Start the service as another user, or set DATABASE_URL.",
  );
}

/** Runs a shell script as `account`. Never rejects. */
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
