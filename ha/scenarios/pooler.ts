import { setTimeout as sleep } from "node:timers/promises";
import { judge } from "../judge.ts";
import { startLoad } from "../load/load.ts";
import { runCommands } from "../setup/commands.ts";
import { startPooler, type Pooler, type PoolMode } from "../setup/pooler.ts";
import type { Server } from "../setup/server.ts";
import type { HaWorld } from "../world.ts";
import { KILLED, loseAndPromote } from "./failover.ts";

const SECONDS = 5;

/** The connection URL of the service through poolers. */
const through = ({ postgres }: HaWorld, ...poolers: readonly Pooler[]): string =>
  postgres.databaseUrl.replace(/@[^/]+/, `@${poolers.map(({ host }) => host).join(",")}`);

/**
 * Runs the service behind two PgBouncers, one for each server. Kills one of them and then the
 * primary under load, and asks `doctor` about all modes.
 */
export async function usePooler(world: HaWorld, say: (text: string) => void): Promise<string[]> {
  const { postgres, processes, history } = world;
  const poolers: Pooler[] = [];
  const pooler = async (server: Server, mode: PoolMode): Promise<Pooler> => {
    const started = await startPooler(server, {
      program: world.programs.pgbouncer,
      folder: world.folder,
      mode,
    });
    poolers.push(started);
    return started;
  };
  try {
    const one = await pooler(postgres.standby, "session");
    const two = await pooler(postgres.primary, "session");
    const databaseUrl = through(world, one, two);
    const codes: (number | null)[] = [];
    for (const process of processes.slice()) codes.push(await world.restart(process, { databaseUrl }));
    const load = await startLoad(world, 3);
    try {
      await sleep(SECONDS * 1_000);
      history.event("fault", "PgBouncer is killed");
      await two.restart();
      await sleep(SECONDS * 1_000);
      const troubles = await askDoctor(world, databaseUrl, pooler);
      troubles.push(...(await loseAndPromote(KILLED, world, load, say)));
      await sleep(SECONDS * 1_000);
      const wrong = codes.filter((code) => code !== 0);
      return [
        ...wrong.map((code) => `a process exited with ${String(code)} on SIGTERM`),
        ...troubles,
        ...(await judge(world, load)),
      ];
    } finally {
      await load.stop();
    }
  } finally {
    await Promise.all([...processes.map((process) => process.kill()), ...poolers.map((each) => each.stop())]);
  }
}

/** `doctor` must accept session pooling and refuse the other modes. */
async function askDoctor(
  world: HaWorld,
  databaseUrl: string,
  pooler: (server: Server, mode: PoolMode) => Promise<Pooler>,
): Promise<string[]> {
  const accepted = (await runCommands(world, databaseUrl, "trunkline doctor"))
    .filter((line) => line.startsWith("PROBLEM"))
    .map((line) => `with session pooling: ${line}`);
  const refused: string[] = [];
  for (const mode of ["transaction", "statement"] as const) {
    const url = through(world, await pooler(world.postgres.primary, mode));
    const lines = await runCommands(world, url, "trunkline doctor");
    if (!lines.some((line) => /^PROBLEM +pooler/.test(line)))
      refused.push(`with ${mode} pooling, doctor prints ${lines.slice(0, 3).join(" ")}`);
  }
  return [...accepted, ...refused];
}
