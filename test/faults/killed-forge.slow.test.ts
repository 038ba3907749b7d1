import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createLog } from "../../src/log.ts";
import { resumeOrphanedMoves } from "../../src/actions/moves/resume-move.ts";
import { startForge, type RunningForge } from "../../sandbox/forge/start-forge.ts";
import { startService, type RunningService } from "../../src/service.ts";
import { eventually } from "../support/api.ts";
import { createTestDatabase, type TestDatabase } from "../support/database/database.ts";
import { expectConsistent } from "../support/invariants.ts";
import { cardBefore, FORGE_WRITES, type ForgeWrite } from "../support/stories/one-move-away.ts";
import { makeBoard, type TestBoard } from "../support/world.ts";
import type { ForgeChildOptions } from "./support/forge-child.ts";

let database: TestDatabase;
let dataDir: string;
let service: RunningService;
/** The forge in this process, between the deaths of the one in a process of its own. */
let forge: RunningForge;
beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), "trunkline-killed-forge-"));
  forge = await startForge({ dataDir, port: 0, webhookUrl: null, seed: false });
  const { apiUrl, app } = forge;
  service = await startService({
    databaseUrl: database.connectionString,
    github: {
      apiUrl,
      appId: app.id,
      privateKey: app.privateKey,
      webhookSecrets: [app.webhookSecret],
      paceWrites: false,
    },
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

/** The forge in a process of its own, on the same folder and at the same address. */
async function startChild(diesAt: ForgeChildOptions["diesAt"]): Promise<ChildProcess> {
  const options: ForgeChildOptions = {
    dataDir,
    port: Number(new URL(forge.apiUrl).port),
    webhookUrl: service.webhookUrl,
    diesAt,
  };
  const script = join(import.meta.dirname, "support/forge-child.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, JSON.stringify(options)], {
    env: { ...process.env, NODE_OPTIONS: "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    expect(line).toBe(forge.apiUrl);
    return child;
  }
  throw new Error("the forge ended before it listened");
}

/** Lets the forge die at a write of a card's move, and gives the move's answer with what makes the same call again. */
async function dieDuring(board: TestBoard, number: number, write: ForgeWrite, effect: "before" | "after") {
  await forge.waitUntilIdle();
  await forge.stop();
  const dying = await startChild({ match: write.match, effect });
  const died = once(dying, "exit");
  const key = `forge-died-${number}-${Date.now()}`;
  const move = () => board.api.move(number, board.stages[write.to], 0, { key });
  const answer = await move();
  expect(await died).toEqual([null, "SIGKILL"]);
  return { answer, move };
}

/** Lets the forge end well, and takes its place in this process. */
async function takeBack(child: ChildProcess): Promise<void> {
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

describe.each(FORGE_WRITES)("the forge dies while $doing", (write) => {
  // Fault: A12 The sandbox forge is killed at any write => 503; the same call finishes once
  it.each(["before", "after"] as const)(
    "%s it did it: 503 and nothing blocked; once it is back the same call finishes the move, once",
    async (effect) => {
      const board = await makeBoard(forge, service, {});
      const number = await cardBefore(board, write);
      const { answer, move } = await dieDuring(board, number, write, effect);
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      expect((await board.api.readCard(number)).blocked).toBeNull();
      const back = await startChild(null);
      // On a busy machine the sweep may be at it first: then the call is told to come again.
      const moved = await eventually(move, ({ headers }) => headers.get("retry-after") === null);
      expect(moved).toMatchObject({ status: 200, body: { task: { statusId: board.stages[write.to] } } });
      await takeBack(back);
      await expectDoneOnce(board, number, write);
    },
    120_000,
  );

  it("after it did it, and nobody comes back: the move is finished all the same", async () => {
    const board = await makeBoard(forge, service, {});
    const number = await cardBefore(board, write);
    await dieDuring(board, number, write, "after");
    const back = await startChild(null);
    await eventually(
      async () => {
        await resumeOrphanedMoves(service.deps);
        return board.api.readCard(number);
      },
      ({ statusId }) => statusId === board.stages[write.to],
      25_000,
    );
    await takeBack(back);
    await expectDoneOnce(board, number, write);
  }, 120_000);
});
