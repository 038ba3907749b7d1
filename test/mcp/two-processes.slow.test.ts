import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { createLog } from "../../src/log.ts";
import { startService, type RunningService } from "../../src/service.ts";
import { startKillableWorld, type KillableWorld } from "../faults/support/killable-world.ts";
import { connectMcp } from "../support/mcp/client.ts";
import { startBalancer, type Balancer } from "../support/processes/balancer.ts";
import type { TestBoard } from "../support/world.ts";

let world: KillableWorld;
let other: RunningService;
let balancer: Balancer;
let board: TestBoard;
beforeAll(async () => {
  world = await startKillableWorld();
  const { databaseUrl, github } = world;
  other = await startService({ databaseUrl, github, host: "127.0.0.1", port: 0, log: createLog("silent") });
  board = await world.board();
  balancer = await startBalancer([board.api.baseUrl, other.baseUrl]);
});
afterAll(async () => {
  await balancer.stop();
  await other.stop();
  await world.stop();
});

it.each([
  ["pinned to 2026-07-28", { pin: "2026-07-28" }, "2026-07-28"],
  ["that negotiates", "auto", "2026-07-28"],
  ["with its defaults, of 2025", null, "2025-11-25"],
] as const)(
  "a client %s continues when one of two processes is killed between its calls",
  async (_, mode, version) => {
    const { apiKey } = board.api;
    const mcp = await connectMcp({ apiKey, baseUrl: balancer.url }, { mode });
    expect(mcp.client.getNegotiatedProtocolVersion()).toBe(version);
    const input = { title: "Survive", requestId: randomUUID() };
    const { data: card } = await mcp.call("create_card", input);
    const move = {
      number: card.number,
      statusId: board.stages["In progress"],
      index: 0,
      requestId: `move-${card.number}`,
    };
    const moved = await mcp.call("move_card", move);
    expect([moved.isError, moved.data["message"]]).toEqual([false, undefined]);

    await world.kill();
    for (let times = 0; times < 3; times++) {
      const { data } = await mcp.call("get_card", { number: card.number });
      expect(data.card.statusId).toBe(board.stages["In progress"]);
      const repeated = await mcp.call("create_card", input);
      expect([repeated.text, repeated.data.number]).toEqual([
        expect.stringMatching(/^This is the stored/),
        card.number,
      ]);
      expect((await mcp.call("move_card", move)).text).toMatch(/^This is the stored/);
    }
    expect(await mcp.names()).toContain("move_card");

    await world.restart();
    for (let times = 0; times < 2; times++)
      expect((await mcp.call("get_card", { number: card.number })).isError).toBe(false);
    await mcp.client.close();
  },
);
