import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSandbox, type RunningSandbox } from "../../sandbox/start-sandbox.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/log.ts";
import { makeApi } from "../support/api.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let folder: string;
beforeAll(async () => {
  world = await startWorld();
  folder = await mkdtemp(join(tmpdir(), "trunkline-sandbox-"));
});
afterAll(async () => {
  await world.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(databaseUrl: string): Promise<RunningSandbox> {
  const env = { DATABASE_URL: databaseUrl, TRUNKLINE_DATA_DIR: folder, PORT: "0", SANDBOX_FORGE_PORT: "0" };
  const config = readConfig(env, "/nowhere");
  if (config.mode !== "sandbox") throw new Error("this environment does not start a sandbox");
  return startSandbox(config, { pid: process.pid, searchPath: process.env["PATH"] }, createLog("silent"));
}

it("a database with installations of another forge is refused and stays unchanged", async () => {
  const board = await world.board();
  const { db } = world.service.deps;
  const before: unknown = await db("organizations").select();
  await expect(start(world.databaseUrl)).rejects.toThrow(
    `DATABASE_URL names the database of another installation, with boards of ${board.owner}. The sandbox would disconnect them. Set DATABASE_URL to an empty database, or unset it`,
  );
  expect(await db("organizations").select()).toEqual(before);
  const { number } = await board.api.card();
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
});

it("a database of the same sandbox is used again at the next start", async () => {
  const database = await createTestDatabase();
  try {
    const first = await start(database.connectionString);
    await first.stop();
    const again = await start(database.connectionString);
    expect(again.file.workspaceId).toBe(first.file.workspaceId);
    expect((await makeApi(again.file.baseUrl, again.file.apiKey).get("/v1/board")).status).toBe(200);
    await again.stop();
  } finally {
    await database.drop();
  }
});
