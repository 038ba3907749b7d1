import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createLog } from "../../src/log.ts";
import { resumeOrphans } from "../support/resume-orphans.ts";
import { startForge, type RunningForge } from "../../sandbox/forge/start-forge.ts";
import { startService, type RunningService } from "../../src/service.ts";
import { eventually } from "../support/api.ts";
import { createTestDatabase, type TestDatabase } from "../support/database/database.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardReadyFor, FORGE_WRITES, type ForgeWrite } from "../support/stories/forge-writes.ts";
import { makeBoard, type TestBoard } from "../support/world.ts";
import type { ForgeChildOptions } from "./support/forge-child.ts";
import { bundleOf } from "../support/processes/compiled.ts";
import { githubOptions } from "../support/forge/github-options.ts";

let database: TestDatabase;
let dataDir: string;
let service: RunningService;
/** The forge in this process, between two forges in child processes. */
let forge: RunningForge;
beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "trunkline-killed-forge-"));
  forge = await startForge({ dataDir, port: 0, webhookUrl: null, seed: false });
  service = await startService({
    databaseUrl: database.connectionString,
    github: githubOptions(forge),
    host: "127.0.0.1",
    port: 0,
    followsTimetable: false,
    pollJobsMs: 200,
    log: createLog("silent"),
  });
  forge.setWebhookUrl(service.webhookUrl);
});
afterAll(async () => {
  await service.stop();
  await forge.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** The forge in a child process, with the same folder and address. */
async function startChild(diesAt: ForgeChildOptions["diesAt"]): Promise<ChildProcess> {
  const options: ForgeChildOptions = {
    dataDir,
    port: Number(new URL(forge.apiUrl).port),
    webhookUrl: service.webhookUrl,
    diesAt,
  };
  const child = spawn(process.execPath, [bundleOf("forge-child"), JSON.stringify(options)], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    expect(line).toBe(forge.apiUrl);
    return child;
  }
  throw new Error("the forge ended before it listened");
}

/** Kills the forge at a write of a card's move; returns the move's response and its repetition. */
async function killForgeDuring(
  board: TestBoard,
  number: number,
  write: ForgeWrite,
  effect: "before" | "after",
) {
  await forge.waitUntilIdle();
  await forge.stop();
  const dying = await startChild({ match: write.match, effect });
  const died = once(dying, "exit");
  const key = `forge-died-${number}-${Date.now()}`;
  const move = () => board.api.move(number, board.stages[write.to], 0, { key });
  const response = await move();
  expect(await died).toEqual([null, "SIGKILL"]);
  return { response, move };
}

/** Stops the child process and starts the forge in this process. */
async function moveForgeHere(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  const { port } = new URL(forge.apiUrl);
  forge = await startForge({ dataDir, port: Number(port), webhookUrl: service.webhookUrl, seed: false });
}

async function expectDoneOnce(
  board: TestBoard,
  number: number,
  { to, timelineKinds }: ForgeWrite,
): Promise<void> {
  const card = await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages[to]);
  expect(card.blocked).toBeNull();
  await expectConsistent({ forge, db: service.deps.db }, board);
  const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
  const ours = kinds.filter((kind) => kind === "branch_created" || kind.startsWith("pull_request_"));
  expect(ours.toSorted()).toEqual(timelineKinds.toSorted());
  expect(kinds).not.toContain("promotion_refused");
}

describe.each(FORGE_WRITES)("a forge that dies while $doing", (write) => {
  // Fault: A12 The sandbox forge is killed at any write => 503; the same call finishes once
  it.each(["before", "after"] as const)(
    "%s the effect makes the move 503 and unblocked; the same call finishes it once",
    async (effect) => {
      const board = await makeBoard(forge, service, {});
      const number = await cardReadyFor(board, write);
      const { response, move } = await killForgeDuring(board, number, write, effect);
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await board.api.readCard(number)).blocked).toBeNull();
      const back = await startChild(null);
      // On a busy machine a job may continue the move first; then the call gets 409.
      const moved = await eventually(move, ({ headers }) => headers.get("retry-after") === null);
      expect(moved).toMatchObject({ status: 200, body: { task: { statusId: board.stages[write.to] } } });
      await moveForgeHere(back);
      await expectDoneOnce(board, number, write);
    },
  );

  it("after the effect leaves a move that is finished without a retry", async () => {
    const board = await makeBoard(forge, service, {});
    const number = await cardReadyFor(board, write);
    await killForgeDuring(board, number, write, "after");
    const back = await startChild(null);
    await eventually(
      async () => {
        await resumeOrphans(service.deps, board.workspaceId);
        return board.api.readCard(number);
      },
      ({ statusId }) => statusId === board.stages[write.to],
    );
    await moveForgeHere(back);
    await expectDoneOnce(board, number, write);
  });
});
