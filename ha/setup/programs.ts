import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

/** Debian's folder of PostgreSQL's programs, with a folder for each major version. */
const POSTGRES = "/usr/lib/postgresql";

/** Where the programs of the reference setup are. */
export interface Programs {
  /** The folder of PostgreSQL's programs, of the newest version. */
  readonly postgres: string;
  readonly haproxy: string;
  readonly pgbouncer: string;
}

/** Thrown when programs are missing and cannot be installed. */
export class MissingPrograms extends Error {}

const PACKAGES = ["postgresql", "haproxy", "pgbouncer"] as const;

async function findPostgres(): Promise<string | undefined> {
  const versions = (await readdir(POSTGRES).catch(() => [])).toSorted((a, b) => Number(b) - Number(a));
  return versions
    .map((version) => join(POSTGRES, version, "bin"))
    .find((folder) => existsSync(join(folder, "pg_basebackup")) && existsSync(join(folder, "postgres")));
}

/** `/usr/sbin` is not on the PATH of every user. */
const findProgram = (name: string): string | undefined =>
  [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"]
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));

async function find(): Promise<{ programs: Programs | null; missing: string[] }> {
  const found = {
    postgresql: await findPostgres(),
    haproxy: findProgram("haproxy"),
    pgbouncer: findProgram("pgbouncer"),
  };
  const { postgresql: postgres, haproxy, pgbouncer } = found;
  const missing = PACKAGES.filter((name) => found[name] === undefined);
  const isComplete = postgres !== undefined && haproxy !== undefined && pgbouncer !== undefined;
  return { programs: isComplete ? { postgres, haproxy, pgbouncer } : null, missing };
}

/** Finds the programs. Root on Debian installs missing ones; otherwise throws `MissingPrograms`. */
export async function requirePrograms(): Promise<Programs> {
  const before = await find();
  if (before.programs) return before.programs;
  const { missing } = before;
  const isDebian = existsSync("/etc/debian_version") && findProgram("apt-get") !== undefined;
  if (!isDebian || userInfo().uid !== 0) {
    throw new MissingPrograms(
      `These Debian packages are missing: ${missing.join(" ")}. Install them, or run this as root on Debian.`,
    );
  }
  console.log(`installs ${missing.join(" ")}`);
  const after = await install(missing).then(find, (error: unknown) => ({ programs: null, missing, error }));
  if (after.programs) return after.programs;
  const reason = "error" in after ? String(after.error) : "the packages lack programs";
  throw new MissingPrograms(`${after.missing.join(" ")} could not be installed: ${reason}`);
}

async function install(packages: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const run = promisify(execFile);
  await run("apt-get", ["update", "--quiet"], { env });
  await run("apt-get", ["install", "--yes", "--quiet", "--no-install-recommends", ...packages], { env });
}
