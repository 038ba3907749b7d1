import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { startForge, type RunningForge } from "../../src/sandbox/forge/start-forge.ts";
import type { ServiceOptions } from "../../src/service.ts";
import { connect, type Db } from "../../src/store/connect.ts";
import { createTestDatabase } from "../support/database.ts";
import { outsideDeps } from "../support/outside-deps.ts";
import { makeBoard, type BoardOptions, type TestBoard } from "../support/world.ts";

/** A world whose service is a process of its own. */
export interface KillableWorld {
  readonly forge: RunningForge;
  readonly db: Db;
  board(options?: BoardOptions): Promise<TestBoard>;
  /** Ends the service as nothing can prevent, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startKillableWorld(): Promise<KillableWorld> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "trunkline-faults-"));
  const forge = await startForge({ dataDir, port: 0, webhookUrl: null, seed: false });
  const db = connect({ connectionString: database.connectionString, onError: () => undefined });
  const github: ServiceOptions["github"] = {
    apiUrl: forge.apiUrl,
    appId: forge.app.id,
    privateKey: forge.app.privateKey,
    webhookSecrets: [forge.app.webhookSecret],
    paceWrites: false,
  };
  const deps = outsideDeps(db, forge);
  let running = await startChild(database.connectionString, github, 0);
  forge.setWebhookUrl(`${running.baseUrl}${WEBHOOK_PATH}`);
  const kill = async (): Promise<void> => {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return;
    running.child.kill("SIGKILL");
    await once(running.child, "exit");
  };
  return {
    forge,
    db,
    board: (options) => makeBoard(forge, { deps, baseUrl: running.baseUrl }, options ?? {}),
    kill,
    restart: async () => {
      const { port } = new URL(running.baseUrl);
      running = await startChild(database.connectionString, github, Number(port));
    },
    stop: async () => {
      await kill();
      await forge.stop();
      await db.destroy();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
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
  const script = join(import.meta.dirname, "service-child.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(options)], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) return { child, baseUrl: line };
  throw new Error("the service ended before it listened");
}
