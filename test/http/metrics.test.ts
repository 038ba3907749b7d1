import { describe, expect, it } from "@jest/globals";
import { deliver } from "../support/forge/deliveries.ts";
import { callTool } from "../support/mcp/client.ts";
import { useWorld } from "../support/use-world.ts";
import { METRICS_TOKEN } from "../support/world.ts";

const world = useWorld();

const ask = (authorization?: string): Promise<Response> =>
  fetch(`${world.service.baseUrl}/metrics`, { headers: authorization ? { authorization } : {} });
const read = async (): Promise<string> => (await ask(`Bearer ${METRICS_TOKEN}`)).text();

/** The value of one series, 0 if it is absent. */
function valueOf(text: string, series: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

describe("/metrics", () => {
  it.each([undefined, "Bearer", "Bearer wrong-token-of-nobody", `Basic ${METRICS_TOKEN}`])(
    "is 401 with %s",
    async (authorization) => {
      const result = await ask(authorization);
      expect(result.status).toBe(401);
      expect(await result.text()).not.toContain("trunkline_");
    },
  );

  it("counts requests, moves, refusals, replays and forge calls, and has the rate limits", async () => {
    const board = await world.board();
    const before = await read();
    const { number } = await board.api.card({ title: "Counted" });
    const key = "a-key-that-is-used-twice";
    await board.api.move(number, board.stages["In progress"], 0, { key });
    await board.api.move(number, board.stages["In progress"], 0, { key });
    expect((await board.api.move(number, board.stages["Done"])).status).toBe(409);
    await board.api.get("/v1/nothing/here");
    await board.api.get(`/v1/cards/${number}`);
    const after = await read();
    const increase = (series: string): number => valueOf(after, series) - valueOf(before, series);
    const requests = (method: string, route: string, status: number): number =>
      increase(`trunkline_http_requests_total{method="${method}",route="${route}",status="${status}"}`);
    expect(requests("POST", "/v1/cards", 201)).toBe(1);
    expect(requests("POST", "/v1/cards/{number}/move", 200)).toBe(2);
    expect(requests("POST", "/v1/cards/{number}/move", 409)).toBe(1);
    expect(requests("GET", "/v1/cards/{number}", 200)).toBe(1);
    expect(requests("GET", "(none)", 404)).toBe(1);
    expect(increase("trunkline_idempotent_replays_total")).toBe(1);
    expect(increase('trunkline_moves_total{outcome="moved"}')).toBe(1);
    expect(increase('trunkline_moves_total{outcome="refused"}')).toBe(1);
    expect(increase('trunkline_move_refusals_total{reason="nothing_to_merge"}')).toBe(1);
    const branchCreated = 'route="POST /repositories/{repository_id}/git/refs",result="201"';
    expect(increase(`trunkline_forge_request_duration_seconds_count{${branchCreated}}`)).toBe(1);
    const installation = String((await world.service.deps.forge.installations()).at(-1)?.installationId);
    const budget = `trunkline_forge_budget_remaining{installation="${installation}",resource="core"}`;
    expect(valueOf(after, budget)).toBeGreaterThan(0);
  });

  it("counts calls of tools, their moves and their replays", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Counted" });
    const before = await read();
    const input = { number, statusId: board.stages["To do"], index: 0, requestId: "twice" };
    for (let times = 0; times < 2; times++) await callTool(board.api, "move_card", input);
    const after = await read();
    const increase = (series: string): number => valueOf(after, series) - valueOf(before, series);
    const requests = 'trunkline_http_requests_total{method="POST",route="/v1/mcp",status="200"}';
    expect(increase(requests)).toBe(2);
    expect(increase('trunkline_moves_total{outcome="moved"}')).toBe(1);
    expect(increase("trunkline_idempotent_replays_total")).toBe(1);
  });

  it("counts deliveries, duplicates separately", async () => {
    const before = await read();
    const { guid } = await deliver(world, "ping", { zen: "Counted." });
    await deliver(world, "ping", { zen: "Counted." }, { guid });
    const after = await read();
    for (const result of ["new", "known"]) {
      const series = `trunkline_deliveries_total{source="webhook",result="${result}"}`;
      expect(valueOf(after, series) - valueOf(before, series)).toBe(1);
    }
  });

  it("has the number and the age of waiting deliveries", async () => {
    const { db } = world.service.deps;
    const row = { event: "ping", lane: "nobody-works-this", payload: "{}" };
    const received_at = db.raw("now() - interval '1 hour'");
    await db("deliveries").insert({ ...row, guid: "waiting", state: "waiting", received_at });
    await db("deliveries").insert({ ...row, guid: "parked", state: "parked" });
    const metrics = await read();
    expect(valueOf(metrics, "trunkline_deliveries_waiting")).toBeGreaterThanOrEqual(1);
    expect(valueOf(metrics, "trunkline_deliveries_waiting_age_seconds")).toBeGreaterThanOrEqual(3_600);
    expect(valueOf(metrics, "trunkline_deliveries_parked")).toBe(1);
    expect(valueOf(metrics, "trunkline_database_up")).toBe(1);
    expect(metrics).toContain("trunkline_queue_depth ");
    expect(metrics).toContain("process_resident_memory_bytes");
    await db("deliveries").whereIn("guid", ["waiting", "parked"]).delete();
  });

  it("has the values of the process while the database refuses queries", async () => {
    const { db } = world.service.deps;
    await db.raw("alter table deliveries rename to elsewhere");
    const metrics = await read();
    await db.raw("alter table elsewhere rename to deliveries");
    expect(valueOf(metrics, "trunkline_database_up")).toBe(0);
    expect(valueOf(metrics, "trunkline_deliveries_parked")).toBeNaN();
    expect(metrics).toContain("process_resident_memory_bytes");
  });

  it("has no label with a card, a user or a URL", async () => {
    const board = await world.board();
    await board.api.get(`/v1/cards/4711?note=${board.owner}`);
    // A value may contain any digits.
    const labels = ((await read()).match(/\{.*\}/g) ?? []).join("\n");
    expect(labels).toContain("/v1/cards/{number}");
    expect(labels).not.toContain("4711");
    expect(labels).not.toContain(board.owner);
    expect(labels).not.toContain(board.workspaceId);
  });
});
