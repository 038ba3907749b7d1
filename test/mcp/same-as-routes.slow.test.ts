import { expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { callTool } from "../support/mcp/client.ts";
import { settled } from "../support/database/database-content.ts";
import type { ApiResponse } from "../support/api.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const OPERATIONS = 500;

const world = useWorld();

type Stage = keyof TestBoard["stages"];

/** An operation on either board. */
interface Operation {
  readonly tool:
    | "create_card"
    | "update_card"
    | "comment"
    | "move_card"
    | "get_card"
    | "plan_move"
    | "my_work";
  readonly number: number;
  readonly stage: Stage;
  readonly index: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The request id is that of the operation so many places before, or all of that operation. */
  readonly repeats: { readonly before: number; readonly isWhole: boolean } | null;
}

const number = fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 1, max: 60 }) }, fc.constant(4711));
const operation: fc.Arbitrary<Operation> = fc.record({
  tool: fc.oneof(
    ...(
      [
        ["create_card", 3],
        ["update_card", 4],
        ["comment", 3],
        ["move_card", 6],
        ["get_card", 2],
        ["plan_move", 2],
        ["my_work", 1],
      ] as const
    ).map(([tool, weight]) => ({ weight, arbitrary: fc.constant(tool) })),
  ),
  number,
  stage: fc.constantFrom<Stage>("Backlog", "To do", "To do", "In progress", "In review", "Done"),
  index: fc.integer({ min: -1, max: 5 }),
  fields: fc.record(
    {
      title: fc.constantFrom("One", "Two", "", "  Three  ", 4),
      description: fc.constantFrom("Words", "", "x".repeat(20_001)),
      priority: fc.constantFrom("high", "none", "unknown"),
      dueDate: fc.constantFrom("2026-12-24", "2026-13-01", null),
      parentNumber: fc.constantFrom(1, 2, 4711, null),
      assigneeId: fc.constantFrom(null, "nobody"),
    },
    { requiredKeys: [] },
  ),
  body: fc.constantFrom("A comment", "", " ", "Another\nline"),
  repeats: fc.option(fc.record({ before: fc.integer({ min: 1, max: 5 }), isWhole: fc.boolean() }), {
    freq: 6,
  }),
});

/** The arguments of the tool, and the same request to the route. */
function requestOf({ stages }: TestBoard, { tool, number, stage, index, fields, body }: Operation) {
  const statusId = stages[stage];
  switch (tool) {
    case "create_card": {
      const card = { title: "A card", statusId: stage === "Backlog" ? statusId : stages["To do"], ...fields };
      return { input: card, method: "POST", path: "/v1/cards", body: card };
    }
    case "update_card":
      return { input: { number, ...fields }, method: "PATCH", path: `/v1/cards/${number}`, body: fields };
    case "comment":
      return {
        input: { number, body },
        method: "POST",
        path: `/v1/cards/${number}/comments`,
        body: { body },
      };
    case "move_card": {
      const move = { statusId, index };
      return { input: { number, ...move }, method: "POST", path: `/v1/cards/${number}/move`, body: move };
    }
    case "get_card":
      return { input: { number }, method: "GET", path: `/v1/cards/${number}` };
    case "plan_move": {
      const path = `/v1/cards/${number}/move-plan?statusId=${statusId}`;
      return { input: { number, statusId }, method: "GET", path };
    }
    case "my_work":
      return {
        input: { assignee: "anyone", limit: 200, statusId },
        method: "GET",
        path: `/v1/cards?limit=200&statusId=${statusId}`,
      };
  }
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{40}\b/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Replaces what differs between boards: ids by their order of appearance, times and the account. */
function neutral({ owner }: TestBoard): (value: unknown) => unknown {
  const seen = new Map<string, string>();
  const nameOf = (id: string): string => {
    const name = seen.get(id) ?? `id ${seen.size}`;
    seen.set(id, name);
    return name;
  };
  return (value) =>
    JSON.parse(
      JSON.stringify(value ?? null)
        .replaceAll(TIME, "a time")
        .replaceAll(owner, "the account")
        .replaceAll(ID, nameOf),
    ) as unknown;
}

/** What a route and a tool return alike: whether it is refused, and the body. */
const responseOf = ({ status, body }: ApiResponse) => ({ refused: status < 400 ? null : status, body });

function bodyOfTool(tool: Operation["tool"], body: Readonly<Record<string, unknown>>): unknown {
  if ("statusCode" in body) return body;
  const withoutSource = (item: Record<string, unknown>) => ({ ...item, source: undefined });
  if (tool === "get_card") return withoutSource(body["card"] as Record<string, unknown>);
  if (tool === "my_work") return (body["items"] as Record<string, unknown>[]).map(withoutSource);
  return body;
}

/** The cards as rows, their timelines, and the events of the board. */
async function contentOf({ api, db, workspaceId }: TestBoard): Promise<unknown> {
  const { rows } = await db.raw<{ rows: { number: number }[] }>(
    `select number, title, description, rank, priority, due_date::text, hotfix, blocked, stage_id, parent_id
       from cards where workspace_id = ? order by number`,
    [workspaceId],
  );
  const timelines = [];
  for (const row of rows) timelines.push(await api.timeline(row.number));
  const { events } = (await api.get<{ events: unknown[] }>("/v1/events?after=0&limit=1000")).body;
  return { rows, timelines, events };
}

it(`${OPERATIONS} random operations have the same effects and refusals as tools and as routes`, async () => {
  const byTools = await world.board();
  const byRoutes = await world.board();
  const [neutralTool, neutralRoute] = [neutral(byTools), neutral(byRoutes)];
  const operations = fc.sample(operation, { seed: 20260728, numRuns: OPERATIONS });
  const refusals = new Set<number>();
  let replays = 0;
  for (const [at, drawn] of operations.entries()) {
    const first = Math.max(0, at - (drawn.repeats?.before ?? 0));
    const each = (drawn.repeats?.isWhole ? operations[first] : drawn) ?? drawn;
    const requestId = `operation-${first}`;
    const { input } = requestOf(byTools, each);
    const { method, path, body } = requestOf(byRoutes, each);
    const isWrite = method !== "GET";
    const tool = await callTool<Record<string, unknown>>(byTools.api, each.tool, {
      ...input,
      ...(isWrite && { requestId }),
    });
    const route = await byRoutes.api.call(method, path, body, { key: `differential-${requestId}` });
    const expected = neutralRoute(responseOf(route));
    const found = neutralTool(responseOf({ ...tool, body: bodyOfTool(each.tool, tool.body) }));
    expect([at, each, found]).toEqual([at, each, expected]);
    const isReplay = tool.text.startsWith("This is the stored response");
    expect([at, isReplay]).toEqual([at, route.headers.get("idempotent-replay") === "true"]);
    refusals.add(route.status);
    replays += Number(isReplay);
    if (each.tool === "move_card") await settled(world);
  }
  expect(refusals).toEqual(new Set([200, 201, 400, 404, 409]));
  expect(replays).toBeGreaterThan(5);
  const [ofTools, ofRoutes] = [await contentOf(byTools), await contentOf(byRoutes)];
  expect(neutralTool(ofTools)).toEqual(neutralRoute(ofRoutes));
}, 600_000);
