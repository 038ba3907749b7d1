import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { WEBHOOK_PATH } from "../../../src/app.ts";
import type { RunningForge } from "../../../sandbox/forge/start-forge.ts";
import type { ServiceOptions } from "../../../src/service.ts";
import type { Db } from "../../../src/store/db/connect.ts";
import { expectConsistent } from "../../support/invariants.ts";
import { bundleOf } from "../../support/processes/compiled.ts";
import type { BoardOptions, TestBoard } from "../../support/world.ts";
import { startSurroundings } from "./surroundings.ts";

/** A world whose service is a child process. */
export interface KillableWorld {
  readonly forge: RunningForge;
  readonly db: Db;
  readonly databaseUrl: string;
  /** The access to the forge, for another service. */
  readonly github: ServiceOptions["github"];
  board(options?: BoardOptions): Promise<TestBoard>;
  /** The boards created so far. */
  readonly boards: readonly TestBoard[];
  /** Kills the service with SIGKILL and waits for its end. */
  kill(): Promise<void>;
  /** Starts the service again at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Compares the newest board with the forge. */
export async function expectLastConsistent(world: KillableWorld): Promise<void> {
  const board = world.boards.at(-1);
  if (board) await expectConsistent(world, board);
}

export async function startKillableWorld(): Promise<KillableWorld> {
  const { forge, db, databaseUrl, github, ...surroundings } = await startSurroundings();
  const boards: TestBoard[] = [];
  let running = await startChild(databaseUrl, github, 0);
  forge.setWebhookUrl(`${running.baseUrl}${WEBHOOK_PATH}`);
  const kill = async (): Promise<void> => {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return;
    running.child.kill("SIGKILL");
    await once(running.child, "exit");
  };
  return {
    forge,
    db,
    databaseUrl,
    github,
    board: async (options) => {
      const board = await surroundings.board(running.baseUrl, options);
      boards.push(board);
      return board;
    },
    boards,
    kill,
    restart: async () => {
      const { port } = new URL(running.baseUrl);
      running = await startChild(databaseUrl, github, Number(port));
    },
    stop: async () => {
      await kill();
      await surroundings.stop();
    },
  };
}

async function startChild(
  databaseUrl: string,
  github: ServiceOptions["github"],
  port: number,
): Promise<{ child: ChildProcess; baseUrl: string }> {
  const options: Omit<ServiceOptions, "log"> = {
    databaseUrl,
    github,
    host: "127.0.0.1",
    port,
    isAlone: true,
  };
  const child = spawn(process.execPath, [bundleOf("service-child"), JSON.stringify(options)], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) return { child, baseUrl: line };
  throw new Error("the service ended before it listened");
}
