import { readFileSync } from "node:fs";

/** Resident memory of a process, in MiB. */
export function residentMib(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** Runs `work` and returns by how much the memory of a process grew at most, in MiB. */
export async function growthDuring(pid: number | undefined, work: () => Promise<unknown>): Promise<number> {
  const before = residentMib(pid);
  let peak = before;
  const sampling = setInterval(() => (peak = Math.max(peak, residentMib(pid))), 50);
  try {
    await work();
  } finally {
    clearInterval(sampling);
  }
  return Math.max(peak, residentMib(pid)) - before;
}
