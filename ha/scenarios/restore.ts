import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../src/store/db/connect.ts";
import { seqOf } from "../../test/support/stories/feed-followers.ts";
import { judge } from "../judge.ts";
import { startLoad, type Load } from "../load/load.ts";
import { depsForChildProcess } from "../../test/support/processes/deps-for-child-process.ts";
import { SERVICE_PASSWORD } from "../setup/replicated.ts";
import { runCommands } from "../setup/commands.ts";
import { ADMIN_PASSWORD } from "../setup/server.ts";
import type { HaWorld } from "../world.ts";

const SECONDS = 6;
/**
 * The guide deletes the events of the backup, so the feed has neither the earlier items nor number 1,
 * and earlier attempts have no events.
 */
const NOT_AFTER_A_RESTORE = /^I1[34] |^I18 no row of the comment /;

/** Backs up under load, loses everything after the backup, and restores it under load. */
export async function restoreBackup(world: HaWorld, say: (text: string) => void): Promise<string[]> {
  const { postgres, guide, history, processes } = world;
  const load = await startLoad(world, 4);
  try {
    await sleep(SECONDS * 1_000);
    const lostFrom = Date.now();
    const env = { DATABASE_URL: postgres.databaseUrl, ...(await backupFolder(world)) };
    await postgres.primary.shell(`cd "$FOLDER"\n${guide.dump}`, env);
    await sleep(SECONDS * 1_000);
    history.event("fault", "everything after the backup is lost");
    await Promise.all(processes.map((process) => process.kill()));
    const restoredUrl = postgres.databaseUrl.replace("/trunkline?", "/restored?");
    const access = { PGUSER: "postgres", PGPASSWORD: ADMIN_PASSWORD, PGHOST: "127.0.0.1" };
    // The standby may not have the new database yet.
    const RESTORED_URL = `postgres://trunkline:${SERVICE_PASSWORD}@127.0.0.1:${postgres.primary.place.port}/restored`;
    await postgres.primary.shell(`cd "$FOLDER"\n${guide.restore}`, { ...env, ...access, RESTORED_URL });
    await postgres.primary.sql(guide.skipNumbers, "restored");
    const seen = load.followers.map(({ follower }) => follower.texts.length);
    for (const process of processes.slice()) await world.restart(process, { databaseUrl: restoredUrl });
    const restored = await inDatabase(world, restoredUrl);
    const problems = await compareWithGitHub(world, restoredUrl);
    const lostUntil = Date.now();
    await sleep(SECONDS * 1_000);
    const troubles = await judge(restored, load, { from: lostFrom, until: lostUntil });
    say(
      `restored; readers continue after ${load.followers.map(({ follower }) => follower.texts.length).join(", ")} events`,
    );
    await restored.deps.db.destroy();
    return [
      ...problems,
      ...troubles.filter((text) => !NOT_AFTER_A_RESTORE.test(text)),
      ...reusedNumbers(load, seen),
    ];
  } finally {
    await load.stop();
  }
}

/** The problems that `doctor` prints after a repair. */
async function compareWithGitHub({ guide, ...world }: HaWorld, databaseUrl: string): Promise<string[]> {
  const lines = await runCommands(world, databaseUrl, guide.compare);
  const problems = lines.filter((line) => line.startsWith("PROBLEM"));
  return lines.some((line) => line.startsWith("ok")) ? problems : [`doctor printed ${lines.join(" ")}`];
}

/** A folder that the server's account may write to. */
async function backupFolder({ folder, postgres }: HaWorld): Promise<{ FOLDER: string }> {
  const FOLDER = join(folder, "backup");
  const { account } = postgres.primary.place;
  await mkdir(FOLDER);
  if (account) await chown(FOLDER, account.uid, account.gid);
  return { FOLDER };
}

/** The same world with direct access to another database. */
async function inDatabase(world: HaWorld, databaseUrl: string): Promise<HaWorld> {
  const db = connect({ connectionString: databaseUrl, max: 4, onError: () => undefined });
  await db.raw("select 1");
  const boards = world.boards.map((board) => ({ ...board, db }));
  return { ...world, boards, deps: depsForChildProcess(db, world.forge) };
}

/** Readers must notice the restore, and get no number twice. */
function reusedNumbers({ followers }: Load, seen: readonly number[]): string[] {
  return followers.flatMap(({ board, follower }, at) => {
    const who = `${board.owner} ${follower.name}`;
    const numbers = follower.texts.map(seqOf);
    const before = Math.max(0, ...numbers.slice(0, seen[at]));
    const after = numbers.slice(seen[at]);
    return [
      ...(follower.lost.length === 0 ? [`${who} was not told about the restore`] : []),
      ...(after.length === 0 ? [`${who} got no event after the restore`] : []),
      ...after.filter((number) => number <= before).map((number) => `${who} got ${number} after ${before}`),
    ];
  });
}
