import { spawn } from "node:child_process";
import { chown, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import {
  type Process,
  type ServiceOptions,
  type ServiceProcess,
  areGone,
  familyOf,
  isMissing,
  kill,
  killAll,
  postmasterPid,
  query,
  runService,
  socketDirOf,
  within,
} from "./service-process.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function newDataDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-lifetime-test-"));
  cleanups.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function start(
  dir: string,
  options?: ServiceOptions,
): Promise<ServiceProcess & { connectionString: string; pid: number; family: Process[] }> {
  const service = runService(dir, options);
  cleanups.push(async () => {
    await kill(service.child);
    expect(await within(10, () => isMissing(join(dir, "postgres/postmaster.pid")))).toBe(true);
  });
  const connectionString = await service.prints();
  if (!connectionString.startsWith("postgresql:")) throw new Error(connectionString);
  const pid = await postmasterPid(dir);
  const family = await familyOf(pid);
  expect(family.map(({ command }) => command)).toEqual(expect.arrayContaining(["postgres", "sh"]));
  return { ...service, connectionString, pid, family };
}

async function commit(connectionString: string, value: number): Promise<void> {
  await query(connectionString, "create table if not exists kept (value int)");
  await query(connectionString, `insert into kept values (${value})`);
}

const read = (connectionString: string): Promise<unknown> =>
  query(connectionString, "select value from kept order by value");

describe("the embedded PostgreSQL", () => {
  test("stops when its service is killed, with all committed data at the next start", async () => {
    const dir = await newDataDir();
    const first = await start(dir);
    await commit(first.connectionString, 1);
    await kill(first.child);

    expect(await within(10, () => areGone(first.family))).toBe(true);
    expect(await within(10, () => isMissing(socketDirOf(first.connectionString)))).toBe(true);
    const second = await start(dir);
    expect(await read(second.connectionString)).toEqual([{ value: 1 }]);
  });

  test("stops when the process group of its service is killed", async () => {
    const { child, family } = await start(await newDataDir());
    process.kill(-(child.pid ?? 0), "SIGKILL");

    expect(await within(10, () => areGone(family))).toBe(true);
  });

  test("leaves nothing of a temporary cluster when its service is killed", async () => {
    const dir = await newDataDir();
    const { child, family, connectionString } = await start(dir, { args: ["throw-away"] });
    await kill(child);

    expect(await within(10, () => areGone(family))).toBe(true);
    expect(await within(10, () => isMissing(dir))).toBe(true);
    expect(await isMissing(socketDirOf(connectionString))).toBe(true);
  });

  test("leaves nothing of a temporary cluster when its service is killed during its creation", async () => {
    const dir = await newDataDir();
    const { child } = runService(dir, { args: ["throw-away"] });
    await within(10, () =>
      stat(join(dir, "postgres.password")).then(
        () => true,
        () => false,
      ),
    );
    await kill(child);

    expect(await within(25, () => isMissing(dir))).toBe(true);
  });

  test("runs while a service that was interrupted at its terminal drains", async () => {
    const { child, prints, connectionString, family } = await start(await newDataDir());
    process.kill(-(child.pid ?? 0), "SIGINT");

    expect(await prints()).toBe("draining");
    expect(await query(connectionString, "select 1 + 1 as sum")).toEqual([{ sum: 2 }]);
    expect(await prints()).toBe("stopped");
    expect(await within(10, () => areGone(family))).toBe(true);
  });

  test("recovers after all processes were killed and its process id belongs to another process", async () => {
    const dir = await newDataDir();
    const first = await start(dir);
    await commit(first.connectionString, 1);
    // The watcher is killed first, because it would shut the server down cleanly.
    killAll(first.family.filter(({ command }) => command === "sh"));
    await kill(first.child);
    killAll(first.family);
    expect(await within(10, () => areGone(first.family))).toBe(true);
    await giveProcessIdToAnother(dir);

    const second = await start(dir);
    expect(await read(second.connectionString)).toEqual([{ value: 1 }]);
    expect(await isMissing(socketDirOf(first.connectionString))).toBe(true);
  });

  test("is stopped by the next start if it lost its watcher", async () => {
    const dir = await newDataDir();
    const first = await start(dir);
    await commit(first.connectionString, 1);
    killAll(first.family.filter(({ command }) => command === "sh"));
    await kill(first.child);
    expect(await areGone(first.family)).toBe(false);

    const second = await start(dir);
    expect(await areGone(first.family)).toBe(true);
    expect(await isMissing(socketDirOf(first.connectionString))).toBe(true);
    expect(await read(second.connectionString)).toEqual([{ value: 1 }]);
  });

  test("waits for the rest of a server whose postmaster was killed", async () => {
    const dir = await newDataDir();
    const first = await start(dir);
    await commit(first.connectionString, 1);
    const asleep = query(first.connectionString, "select pg_sleep(60)").catch((error: unknown) => error);
    await within(10, async () => (await familyOf(first.pid)).length > first.family.length);
    const session = (await familyOf(first.pid)).find(({ pid }) =>
      first.family.every((one) => one.pid !== pid),
    );
    process.kill(session?.pid ?? 0, "SIGSTOP");
    process.kill(first.pid, "SIGKILL");
    await kill(first.child);
    setTimeout(() => process.kill(session?.pid ?? 0, "SIGCONT"), 1500);

    const second = await start(dir);
    expect(await read(second.connectionString)).toEqual([{ value: 1 }]);
    expect(await asleep).toBeInstanceOf(Error);
  });

  test("belongs to one service: a second one is refused with the id of the first", async () => {
    const dir = await newDataDir();
    const first = await start(dir);

    const second = runService(dir);
    cleanups.push(() => kill(second.child));
    expect(await second.prints()).toBe(
      `failed: ${dir} is in use by process ${first.child.pid}. Stop that process, or set TRUNKLINE_DATA_DIR to another folder.`,
    );
    expect(await query(first.connectionString, "select 1 + 1 as sum")).toEqual([{ sum: 2 }]);
  });
});

/** Starts a process with the cluster's owner, as PostgreSQL checks, and writes its id into the file. */
async function giveProcessIdToAnother(dir: string): Promise<void> {
  const file = join(dir, "postgres/postmaster.pid");
  const { uid, gid } = await stat(file);
  const account = userInfo().uid === 0 ? { uid, gid } : {};
  const other = spawn("/bin/sleep", ["60"], { stdio: "ignore", ...account });
  cleanups.push(() => kill(other));
  const lines = (await readFile(file, "utf8")).split("\n");
  await writeFile(file, [other.pid, ...lines.slice(1)].join("\n"));
  await chown(file, uid, gid);
}
