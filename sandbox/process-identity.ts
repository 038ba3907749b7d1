import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/**
 * Identifies a process by its start time, since process ids are reused. Undefined when no such
 * process runs. Linux has the start time in /proc; elsewhere `ps` reports it in seconds.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  const started = (await startTimeFromProc(pid)) ?? (await startTimeFromPs(pid));
  return started === undefined || started === ""
    ? undefined
    : createHash("sha256").update(started).digest("hex").slice(0, 12);
}

/** Empty when no such process runs, undefined without /proc. */
async function startTimeFromProc(pid: number): Promise<string | undefined> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => undefined);
  if (boot === undefined) return undefined;
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // Field 2 is the command in parentheses, with any characters. Field 22 is the start time.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const startTime = rest[18];
  return startTime === undefined || state === "Z" ? "" : `${boot}${startTime}`;
}

function startTimeFromPs(pid: number): Promise<string> {
  const options = { env: { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" } };
  return new Promise((resolve) => {
    execFile("ps", ["-o", "lstart=", "-p", String(pid)], options, (error, stdout) =>
      resolve(error ? "" : stdout.trim()),
    );
  });
}
