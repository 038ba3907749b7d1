import { setTimeout as sleep } from "node:timers/promises";
import { pendingMigrations } from "../../src/store/db/migrate.ts";
import type { RunningForge } from "../../sandbox/forge/start-forge.ts";
import { failedAttempts, judge } from "../judge.ts";
import { startLoad } from "../load/load.ts";
import { nextVersion, type HaWorld } from "../world.ts";

const SECONDS_BETWEEN = 2;

/** Restarts one process after the other, then upgrades both to a version with a migration. */
export async function restartInTurn(world: HaWorld, say: (text: string) => void): Promise<string[]> {
  const { processes, history, deps } = world;
  const next = await nextVersion(world.root, world.folder);
  const load = await startLoad(world, 2);
  const codes: (number | null)[] = [];
  try {
    await sleep(SECONDS_BETWEEN * 1_000);
    for (const root of [world.root, next]) {
      for (const process of processes.slice()) {
        history.event("fault", "restart", { process: process.name, isUpgrade: root === next });
        codes.push(await world.restart(process, { root }));
        await sleep(SECONDS_BETWEEN * 1_000);
      }
    }
    const [last] = await deps.db("knex_migrations").orderBy("id", "desc").limit(1).pluck<string[]>("name");
    const troubles = await judge(world, load);
    const failed = [...failedAttempts(world), ...load.failed];
    say(
      `${history.calls.length} calls, ${load.comments.length} comments by tools and in the console, ` +
        `${failed.length} failed attempts`,
    );
    return [
      ...codes.filter((code) => code !== 0).map((code) => `a process exited with ${String(code)} on SIGTERM`),
      ...(last === "9999_next.sql" ? [] : [`the last migration is ${last ?? "none"}`]),
      ...(await pendingMigrations(deps.db)).map((name) => `${name} is not applied`),
      ...failed,
      ...failedDeliveries(world.forge),
      ...troubles,
    ];
  } finally {
    await load.stop();
  }
}

/** GitHub repeats no delivery by itself, so each must be accepted. */
const failedDeliveries = ({ context }: RunningForge): string[] =>
  context.state.deliveries
    .all()
    .filter(({ deliveredAt, statusCode }) => deliveredAt !== null && (statusCode < 200 || statusCode > 299))
    .map(({ event, status, statusCode }) => `a delivery of ${event} got ${statusCode} ${status}`);
