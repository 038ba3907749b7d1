import { chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePorts } from "../../test/support/free-ports.ts";
import { startChild, type Child } from "./child.ts";
import { SERVICE_PASSWORD } from "./replicated.ts";
import { query, type Server } from "./server.ts";

export interface PoolerOptions {
  readonly program: string;
  /** A folder that everybody may enter. */
  readonly folder: string;
  readonly mode: PoolMode;
}

export type PoolMode = "session" | "transaction" | "statement";

/** PgBouncer in front of one server. */
export interface Pooler {
  /** Its address in a connection URL. */
  readonly host: string;
  /** Kills it and starts it again, which closes all connections. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts PgBouncer with the configuration of `deploy/ha`, at another address. */
export async function startPooler({ place }: Server, options: PoolerOptions): Promise<Pooler> {
  const { account, port } = place;
  const [own = 0] = await freePorts(1);
  const folder = join(options.folder, `pgbouncer-${own}`);
  await mkdir(folder);
  if (account) await chown(folder, account.uid, account.gid);
  const text = await readFile(join(import.meta.dirname, "../../deploy/ha/pgbouncer.ini"), "utf8");
  const changed = text
    .replace("port=5432", `port=${port}`)
    .replace("listen_port = 6432", `listen_port = ${own}\nunix_socket_dir =`)
    .replace("auth_file = userlist.txt", `auth_file = ${join(folder, "userlist.txt")}`)
    .replace("pool_mode = session", `pool_mode = ${options.mode}`);
  await writeFile(join(folder, "pgbouncer.ini"), changed);
  await writeFile(join(folder, "userlist.txt"), `"trunkline" "${SERVICE_PASSWORD}"\n`);
  const start = async (): Promise<Child> => {
    const child = startChild({
      command: options.program,
      args: [join(folder, "pgbouncer.ini")],
      account,
      cwd: folder,
      log: join(options.folder, `pgbouncer-${own}.log`),
    });
    await child.until(() =>
      query(`postgres://trunkline:${SERVICE_PASSWORD}@127.0.0.1:${own}/trunkline`, "select 1"),
    );
    return child;
  };
  let child = await start();
  return {
    host: `127.0.0.1:${own}`,
    restart: async () => {
      await child.stop();
      child = await start();
    },
    stop: () => child.stop(),
  };
}
