import { afterEach, describe, expect, it } from "@jest/globals";
import { columnsOf } from "../../src/store/db/connect.ts";
import { tools } from "../../src/http/mcp/tools.ts";
import type { Api } from "../support/api.ts";
import { setGates, type Stage } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { connectMcp } from "../support/mcp/client.ts";
import { writeCalls } from "../support/routes.ts";
import { callSample, sampleOf } from "../support/samples.ts";
import { cardOf, newContributor } from "../support/gates/contributors.ts";
import { makeRelease } from "../support/stories/releases.ts";
import { armed, expectDisarmed, passCi, requireCi, waitsFor } from "../armed/support/armed-cards.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

/** Tries to put a card into a stage, and returns its refusal. Creates the card if it has no number. */
type Way = (
  board: TestBoard,
  api: Api,
  card: { readonly number: number; readonly statusId: string },
) => Promise<{ readonly reason?: string; readonly number?: number } | undefined>;

const promote: Way = async (board, api, { number, statusId }) => {
  const id = await makeRelease(board.api, `Release ${number}`, [number]);
  const response = await api.post<{ refused: { reason: string }[] }>(`/v1/releases/${id}/promote`, {
    statusId,
  });
  return response.body.refused[0];
};

/** Every way into a stage: a route that changes the stage of a card, and each tool that runs it. */
const WAYS: Readonly<Record<string, Way>> = {
  "POST /v1/cards": async (_, api, { statusId }) => {
    const response = await api.post<{ number: number; blocked: { reason: string } | null }>("/v1/cards", {
      title: "A new card",
      statusId,
      repositoryIds: [],
    });
    expect(response.status).toBe(201);
    return { ...response.body.blocked, number: response.body.number };
  },
  "POST /v1/cards/{number}/move": async (_, api, { number, statusId }) =>
    (await api.move(number, statusId)).body.blocked,
  "POST /v1/releases/{id}/promote": promote,
  create_card: async (_, api, { statusId }) => {
    const input = { title: "A new card", statusId, repositoryIds: [] };
    const { data } = await callTool(api, "create_card", input);
    return { ...(data["blocked"] as object), number: data["number"] as number };
  },
  move_card: async (_, api, { number, statusId }) =>
    (await callTool(api, "move_card", { number, statusId, index: 0 })).data["blocked"] as { reason: string },
  promote_release: async (board, api, { number, statusId }) => {
    const id = await makeRelease(board.api, `Release ${number}`, [number]);
    const { data } = await callTool(api, "promote_release", { id, statusId });
    return (data["refused"] as { reason: string }[])[0];
  },
};

const MOVE = "POST /v1/cards/{number}/move";
/** Ways that are a variant of a route. */
const VARIANTS: Readonly<Record<string, Way>> = {
  [`${MOVE} with whenReady`]: async (_, api, { number, statusId }) =>
    (
      await api.post<{ blocked: { reason: string } }>(`/v1/cards/${number}/move`, {
        statusId,
        index: 0,
        whenReady: {},
      })
    ).body.blocked,
};

async function callTool(api: Api, name: string, input: Record<string, unknown>) {
  const mcp = await connectMcp(api, { query: "?toolsets=releases" });
  try {
    return await mcp.write(name, input);
  } finally {
    await mcp.client.close();
  }
}

/** The board's cards outside the backlog, with their stages. */
const staged = async ({ db, workspaceId }: TestBoard) =>
  db<{ id: string; stage_id: string }>("cards as c")
    .join("stages as s", "s.id", "c.stage_id")
    .where({ "c.workspace_id": workspaceId })
    .whereNot("s.kind", "backlog")
    .whereNull("c.deleted_at")
    .orderBy("c.id")
    .select("c.id", "c.stage_id");

it("the ways listed here are all routes that change a card's stage, and their tools", async () => {
  const board = await world.board();
  const changing: string[] = [];
  for (const { name } of writeCalls) {
    const sample = await sampleOf(name, board);
    const before = await staged(board);
    const { status, text } = await callSample(name, sample, board.api);
    expect([name, status < 300, text]).toEqual([name, true, text]);
    const after = await staged(board);
    if (name === "DELETE /v1/cards/{number}") continue;
    if (JSON.stringify(after) !== JSON.stringify(before)) changing.push(name);
  }
  const running = tools.filter(({ route }) => changing.includes(route)).map(({ name }) => name);
  expect([...changing, ...running].toSorted()).toEqual(Object.keys(WAYS).toSorted());
});

const GATES: readonly (readonly [reason: string, gates: NonNullable<Stage["gates"]>])[] = [
  ["wip_limit", { wipLimit: 1 }],
  ["human_only", { humanOnly: true }],
  ["needs_second_person", { secondPerson: true }],
];
const ALL = { ...WAYS, ...VARIANTS };
const CASES = Object.keys(ALL).flatMap((way) =>
  GATES.flatMap(([reason, gates]) =>
    ["To do", "Done"].map((stage) => [way, reason, stage as "To do" | "Done", gates] as const),
  ),
);

describe("every way into a stage is closed by every gate", () => {
  it.each(CASES)("%s: %s in %s", async (name, reason, stage, gates) => {
    const board = await world.board();
    const ann = newContributor(world, board, "ann");
    const statusId = board.stages[stage];
    await board.api.card({ statusId, repositoryIds: [] });
    const { number } = await cardOf(world, board, { pusher: ann });
    await setGates(board, stage, gates);
    // A new card has no commits, for which only a key without an owner is refused.
    const isNew = name === "POST /v1/cards" || name === "create_card";
    const api = isNew ? board.api : await board.as({ owner: ann.login });
    const refused = await ALL[name]!(board, api, { number, statusId });
    expect(refused?.reason).toBe(reason);
    const card = await board.api.readCard(refused?.number ?? number);
    expect(card).toMatchObject({
      statusId: board.stages[isNew ? "Backlog" : "In review"],
      blocked: { reason, statusId },
    });
    expect(await staged(board)).toHaveLength(2);
    expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("open");
  });
});

it.each(GATES)("the firing of a move that was armed before is stopped by %s", async (reason, gates) => {
  const board = await world.board();
  const { stages } = board;
  const ann = newContributor(world, board, "ann");
  await board.api.card({ statusId: stages.Done, repositoryIds: [] });
  const { number, head } = await cardOf(world, board, { pusher: ann });
  await requireCi(board);
  await armed(board, number, {}, await board.as({ owner: ann.login }));
  // Without the jobs that the change of the flow adds.
  await board.db("stages").where({ id: stages.Done }).update(columnsOf(gates));
  await passCi(board, head);
  if (reason === "wip_limit") await waitsFor(board.api, number, reason);
  else await expectDisarmed(board, number, reason);
  expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("open");
});
