import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chooseAccount } from "../../sandbox/postgres/account.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import type { Guide } from "../guide.ts";
import { initialize, makeServer, type Server } from "./server.ts";

/** The password of the service's role in the guide. */
export const SERVICE_PASSWORD = "choose-one";

/** How long a standby may take until commits wait for it. */
const SYNC_TIMEOUT_MS = 30_000;

/** A primary and its synchronous standby, set up as the guide says. */
export interface Replicated {
  readonly primary: Server;
  readonly standby: Server;
  /** The connection URL of the service, with both hosts. The standby is first. */
  readonly databaseUrl: string;
  stop(): Promise<void>;
}

/** `folder` must be readable by all. */
export async function startReplicated(programs: string, folder: string, guide: Guide): Promise<Replicated> {
  const account = await chooseAccount(join(folder, "primary"));
  const [onePort = 0, otherPort = 0] = await freePorts(2);
  const server = async (name: string, port: number): Promise<Server> => {
    const data = join(folder, name);
    await mkdir(data, { mode: 0o700 });
    if (account) await chown(data, account.uid, account.gid);
    return makeServer({ programs, account, data, port, log: join(folder, `${name}.log`) });
  };
  const primary = await server("primary", onePort);
  const standby = await server("standby", otherPort);
  await initialize(primary);
  await primary.start();
  await primary.sql(guide.install);
  await copyToStandby(primary, standby, guide);
  const login = `trunkline:${SERVICE_PASSWORD}`;
  const hosts = `127.0.0.1:${otherPort},127.0.0.1:${onePort}`;
  return {
    primary,
    standby,
    databaseUrl: `postgres://${login}@${hosts}/trunkline?target_session_attrs=read-write`,
    stop: async () => {
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
}

/** Replaces the data of an old primary, which has stopped, by a copy of the new one. */
export async function replaceByCopy(primary: Server, old: Server, guide: Guide): Promise<void> {
  await old.shell(guide.empty);
  await copyToStandby(primary, old, guide);
}

/** Copies a primary to an empty folder, starts the copy, and lets commits wait for it. */
export async function copyToStandby(primary: Server, standby: Server, guide: Guide): Promise<void> {
  await standby.shell(guide.copy, { PRIMARY_URL: primary.adminUrl });
  await standby.start();
  await primary.sql(guide.waitForStandby);
  for (const late = Date.now() + SYNC_TIMEOUT_MS; !(await isSynchronous(primary)); await sleep(100))
    if (Date.now() > late) throw new Error("The standby does not become synchronous.");
}

async function isSynchronous(primary: Server): Promise<boolean> {
  const states = await primary.sql("select sync_state from pg_stat_replication");
  return states.some(({ sync_state: state }) => state === "sync" || state === "quorum");
}
