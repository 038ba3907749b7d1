import { beforeAll, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { eventually, makeApi } from "../support/api.ts";
import { onForge } from "../support/forge/installations.ts";
import { connectMcp } from "../support/mcp/client.ts";
import { writeCalls } from "../support/routes.ts";
import { clientIdOf, readAudit, rowsOf, withUserAgent } from "./support/read-audit.ts";
import { cardWithCommit } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const rows = (userAgent: string) => rowsOf(world.service.deps.db, userAgent);

/** The only attempt of a request, with the numbers of its events. */
async function attemptOf(userAgent: string, events = 0) {
  const found = await eventually(
    async () => (await readAudit(board.api)).filter((entry) => entry.userAgent === userAgent),
    ([entry]) => (entry?.events.length ?? 0) >= events,
  );
  expect(found).toHaveLength(1);
  return found[0]!;
}

describe("an attempt leaves one row", () => {
  it("when it succeeds, with its event, and no body", async () => {
    const chosen = randomUUID();
    const { body, userAgent, headers } = await withUserAgent((options) =>
      board.api.post<{ id: string; number: number }>(
        "/v1/cards",
        { title: "Canary title" },
        { headers: { ...options.headers, "x-request-id": chosen } },
      ),
    );
    expect(headers.get("x-request-id")).not.toBe(chosen);
    const { id, at, hash: _, ...attempt } = await attemptOf(userAgent, 1);
    expect(attempt).toEqual({
      actor: { id: expect.any(String), name: "maintainer agent", kind: "machine" },
      credential: clientIdOf(board.api),
      action: "POST /v1/cards",
      targets: { id: body.id, number: body.number },
      outcome: { status: 201, problem: null, replay: false },
      address: "127.0.0.1",
      userAgent,
      requestId: headers.get("x-request-id"),
      calls: [],
      events: [expect.any(Number)],
    });
    expect([id, at]).toEqual([expect.any(String), expect.stringMatching(/^\d{4}-.*Z$/)]);
    const { events } = (
      await board.api.get<{ events: { kind: string; card: { number: number } }[] }>(
        `/v1/events?after=${attempt.events[0]! - 1}&limit=1`,
      )
    ).body;
    expect(events).toMatchObject([{ kind: "card_created", card: { number: body.number } }]);
  });

  it("when it has no response body", async () => {
    const { number } = await board.api.card();
    const { userAgent } = await withUserAgent((options) => board.api.delete(`/v1/cards/${number}`, options));
    expect(await attemptOf(userAgent)).toMatchObject({
      action: "DELETE /v1/cards/{number}",
      targets: { number },
      outcome: { status: 204, problem: null },
    });
  });

  it("when its response is replayed, besides the row of the first call", async () => {
    const key = `audit-${randomUUID()}`;
    const send = (options: object) => board.api.post("/v1/cards", { title: "Twice" }, { ...options, key });
    const first = await withUserAgent(send);
    const again = await withUserAgent(send);
    expect((await attemptOf(first.userAgent, 1)).outcome).toEqual({
      status: 201,
      problem: null,
      replay: false,
    });
    expect(await attemptOf(again.userAgent)).toMatchObject({
      outcome: { status: 201, problem: null, replay: true },
      events: [],
    });
  });

  it.each([
    ["invalid", 400, () => board.api, { title: "" }],
    ["forbidden", 403, () => board.as({ role: "viewer" }), { title: "Canary title" }],
    ["forbidden", 403, () => board.as({ scopes: ["read"] }), { title: "Canary title" }],
  ] as const)("when it is %s (%i)", async (problem, status, as, body) => {
    const api = await as();
    const { userAgent, ...response } = await withUserAgent((options) => api.post("/v1/cards", body, options));
    expect(response.status).toBe(status);
    expect(await attemptOf(userAgent)).toMatchObject({
      credential: clientIdOf(api),
      outcome: { status, problem, replay: false },
    });
  });

  it("when what it names does not exist", async () => {
    const { userAgent } = await withUserAgent((options) => board.api.delete("/v1/cards/4711", options));
    expect(await attemptOf(userAgent)).toMatchObject({
      targets: { number: 4711 },
      outcome: { status: 404, problem: "not_found" },
    });
  });

  it("when its API key is refused: without an actor and a board", async () => {
    const { apiKey, baseUrl } = await board.as({});
    const { deps } = world.service;
    await deps
      .db("credentials")
      .where({ client_id: clientIdOf({ apiKey }) })
      .update({ revoked_at: new Date() });
    const { userAgent, status } = await withUserAgent((options) =>
      makeApi(baseUrl, apiKey).post("/v1/cards", { title: "x" }, options),
    );
    expect(status).toBe(401);
    expect(await rows(userAgent)).toMatchObject([
      {
        status: 401,
        problem: "unauthenticated",
        client_id: clientIdOf({ apiKey }),
        actor: null,
        workspace_id: null,
      },
    ]);
  });

  it("when GitHub refuses the move, with the reason and the calls", async () => {
    const { number } = await board.api.card({ title: "Canary title", statusId: board.stages["To do"] });
    const { userAgent } = await withUserAgent((options) =>
      board.api.move(number, board.stages["Done"], 0, options),
    );
    expect(await attemptOf(userAgent, 1)).toMatchObject({
      action: "POST /v1/cards/{number}/move",
      targets: { number },
      outcome: { status: 409, problem: "nothing_to_merge" },
    });
  });

  it("when it moves a card, with its events and its calls to GitHub", async () => {
    const { number } = await cardWithCommit(board);
    const { userAgent, status } = await withUserAgent((options) =>
      board.api.move(number, board.stages["Done"], 0, options),
    );
    expect(status).toBe(200);
    const { calls } = await attemptOf(userAgent);
    expect(calls).toEqual([
      { method: "PUT /pulls/{pull_number}/merge-async", ref: `${board.owner}/web#1`, result: "ok" },
    ]);
    const readKinds = async (): Promise<string[]> => {
      const { events } = await attemptOf(userAgent);
      return board
        .db("events")
        .where({ workspace_id: board.workspaceId })
        .whereIn("seq", events)
        .pluck("kind");
    };
    // Events are numbered after the move. Inspections also change what is known of the branch.
    const kinds = await eventually(readKinds, (found) => found.includes("status_changed"));
    expect(kinds.filter((kind) => kind !== "git_facts_changed").toSorted()).toEqual([
      "pull_request_merged",
      "status_changed",
    ]);
  });

  it("when GitHub cannot be reached", async () => {
    const { number } = await board.api.card();
    const { id: installationId } = onForge(world, board).installation;
    const { faults } = world.forge.control;
    faults.add({ match: { installationId }, fault: { kind: "response", status: 502 } });
    const { userAgent, status } = await withUserAgent((options) =>
      board.api.move(number, board.stages["In progress"], 0, options),
    );
    faults.clear();
    expect(status).toBe(503);
    expect(await attemptOf(userAgent)).toMatchObject({ outcome: { status: 503, problem: "unavailable" } });
  });

  it("when a tool of the MCP server makes it", async () => {
    const userAgent = randomUUID();
    const mcp = await connectMcp(board.api, { headers: { "user-agent": userAgent } });
    await mcp.write("create_card", { title: "By a tool" });
    expect(await attemptOf(userAgent, 1)).toMatchObject({
      action: "POST /v1/cards",
      outcome: { status: 201 },
    });
  });

  it.each([
    ["forbidden", "viewer", { title: "By a tool" }],
    ["invalid", "member", { titel: "By a tool" }],
  ] as const)("when a tool of the MCP server refuses it as %s", async (problem, role, input) => {
    const userAgent = randomUUID();
    const mcp = await connectMcp(await board.as({ role }), { headers: { "user-agent": userAgent } });
    expect((await mcp.write("create_card", input)).isError).toBe(true);
    expect(await attemptOf(userAgent)).toMatchObject({ action: "POST /v1/cards", outcome: { problem } });
  });
});

describe.each(writeCalls)("$name", ({ method, path, name }) => {
  it("leaves one row for a wrong key and for an invalid call", async () => {
    const { baseUrl, apiKey } = board.api;
    const wrong = makeApi(baseUrl, `${apiKey.slice(0, -6)}AAAAAA`);
    const refused = await withUserAgent((options) => wrong.call(method, path, {}, options));
    expect(refused.status).toBe(401);
    expect(await rows(refused.userAgent)).toMatchObject([{ action: name, status: 401 }]);
    const invalid = await withUserAgent((options) =>
      board.api.call(method, path, {}, { ...options, key: "short" }),
    );
    expect(invalid.status).toBe(400);
    expect(await rows(invalid.userAgent)).toMatchObject([{ action: name, status: 400, problem: "invalid" }]);
  });
});

describe("the audit log", () => {
  it("has no row of reads, and of calls without a key", async () => {
    const read = await withUserAgent((options) => board.api.get("/v1/board", options));
    const userAgent = randomUUID();
    const keyless = await fetch(`${board.api.baseUrl}/v1/cards`, {
      method: "POST",
      headers: { "user-agent": userAgent },
    });
    expect([read.status, keyless.status]).toEqual([200, 401]);
    expect([await rows(read.userAgent), await rows(userAgent)]).toEqual([[], []]);
  });

  it("has no text of a request and no secret", async () => {
    const text = JSON.stringify(await world.service.deps.db("audit_log").select("*"));
    expect(text).toContain("maintainer agent");
    expect(text).not.toMatch(/canary/i);
    for (const { api } of world.boards) expect(text).not.toContain(api.apiKey.split("_")[2]);
  });

  it("is read by the maintainers of its own board only", async () => {
    const neighbor = await world.board();
    expect(await readAudit(neighbor.api)).toEqual([]);
    expect((await (await board.as({ role: "member" })).get("/v1/audit")).status).toBe(403);
    expect((await board.api.get("/v1/audit?from=yesterday")).status).toBe(400);
  });

  it("is read in order, also over many rows, from one time to another", async () => {
    const one = await world.board();
    for (let made = 0; made < 3; made++) await one.api.card();
    await one.db.raw(
      `insert into audit_log (id, occurred_at, workspace_id, action, targets, ended_at, status)
       select gen_random_uuid(), timestamptz '2020-01-01' + n % 700 * interval '1 hour', ?, 'POST /v1/cards', '{}', now(), 201
         from generate_series(1, 1400) n`,
      [one.workspaceId],
    );
    const all = await readAudit(one.api);
    expect(all).toHaveLength(1_403);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1_403);
    const times = all.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    const window = await readAudit(one.api, "?from=2020-01-02T00:00:00Z&to=2020-01-02T02:00:00%2B01:00");
    expect(window.map(({ at }) => at)).toEqual(["2020-01-02T00:00:00.000Z", "2020-01-02T00:00:00.000Z"]);
  });
});
