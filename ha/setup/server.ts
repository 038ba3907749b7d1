import { execFile } from "node:child_process";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import type { Account } from "../../sandbox/postgres/account.ts";
import { readPostmasterFile } from "../../sandbox/postgres/postmaster-file.ts";
import { spawnTied, type TiedProcess } from "../../sandbox/postgres/tied-process.ts";

/** The administrator's password on every server. */
export const ADMIN_PASSWORD = "of-the-administrator";
const START_TIMEOUT_MS = 30_000;

export interface ServerPlace {
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
  readonly account: Account;
  /** The data directory; it may not exist yet. */
  readonly data: string;
  readonly port: number;
  /** The file of its log. */
  readonly log: string;
}

/** One PostgreSQL server with Debian's programs, which can be killed. */
export interface Server {
  readonly place: ServerPlace;
  /** The administrator's connection URL. */
  readonly adminUrl: string;
  start(): Promise<void>;
  /** Runs statements as the administrator and returns the rows of the last one. */
  sql(statements: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Runs shell commands as the server's account, with its programs and PGDATA. */
  shell(commands: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /** SIGKILL to the server and its children, like a power failure. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open, and nobody responds. */
  freeze(): Promise<void>;
  /** Ends `freeze`. */
  thaw(): Promise<void>;
  stop(): Promise<void>;
}

export function makeServer(place: ServerPlace): Server {
  const { programs, account, data, port, log } = place;
  const adminUrl = `postgres://postgres:${ADMIN_PASSWORD}@127.0.0.1:${port}/postgres`;
  let running: TiedProcess | null = null;
  const shell: Server["shell"] = async (commands, env = {}) => {
    const { stdout } = await promisify(execFile)("bash", ["--norc", "-euo", "pipefail", "-c", commands], {
      ...account,
      cwd: "/",
      env: { PATH: `${programs}:/usr/bin:/bin`, LC_ALL: "C", PGDATA: data, PGPORT: String(port), ...env },
      timeout: 60_000,
    });
    return stdout;
  };
  const signalAll = async (signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void> => {
    const { pid } = (await readPostmasterFile(data)) ?? {};
    if (pid === undefined) throw new Error(`No server runs in ${data}.`);
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    for (const each of [pid, ...children.trim().split(" ").filter(Boolean).map(Number)]) {
      try {
        process.kill(each, signal);
      } catch {
        // A child that has ended meanwhile.
      }
    }
  };
  return {
    place,
    adminUrl,
    shell,
    async start() {
      const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories="];
      running = spawnTied({
        command: join(programs, "postgres"),
        args: ["-D", data, ...settings.flatMap((each) => ["-c", each])],
        account,
        cwd: data,
        onLine: (line) => void appendFile(log, `${line}\n`),
      });
      await untilResponses(adminUrl);
    },
    sql: (statements, database = "postgres") => query(adminUrl.replace(/postgres$/, database), statements),
    async kill() {
      await signalAll("SIGKILL");
      await running?.ended;
      running = null;
    },
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    async stop() {
      await signalAll("SIGCONT").catch(() => undefined);
      running?.signal("SIGQUIT");
      await running?.ended;
      running = null;
    },
  };
}

/** Creates the data directory of a primary. */
export async function initialize(server: Server): Promise<void> {
  await server.shell(
    `initdb --username=postgres --auth=scram-sha-256 --pwfile=<(echo "$PASSWORD") --encoding=UTF8 --locale=C`,
    { PASSWORD: ADMIN_PASSWORD },
  );
}

export async function query(url: string, statements: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements.split(";").filter((each) => each.trim() !== "")) {
      ({ rows } = await client.query<Record<string, unknown>>(statement));
    }
    return rows;
  } finally {
    await client.end();
  }
}

async function untilResponses(url: string): Promise<void> {
  const late = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await query(url, "select 1");
      return;
    } catch (error) {
      if (Date.now() > late) throw error;
      await sleep(100);
    }
  }
}
