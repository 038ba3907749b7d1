import { beforeAll, beforeEach, expect, it } from "@jest/globals";
import { generateNKeysBetween } from "fractional-indexing";
import type { RunningService } from "../../src/service.ts";
import { rows } from "../../src/store/db/connect.ts";
import { makeApi, type Api } from "../support/api.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

/** More than a page of a list. */
const CARDS = 900;

const world = useWorld();
let second: RunningService;
let board: TestBoard;
/** Each of the two processes. */
let apis: readonly Api[];
beforeAll(async () => {
  second = await startSecondService(world);
});
beforeEach(async () => {
  board = await world.board({ repositories: [] });
  apis = [board.api, makeApi(second.baseUrl, board.api.apiKey)];
  await board.api.card();
  await board.db.raw(
    `insert into cards (id, workspace_id, project_id, number, title, stage_id, rank, created_by)
     select gen_random_uuid(), c.workspace_id, c.project_id, c.number + nth, 'One of many', :stageId, ranked.rank, c.created_by
       from cards c, unnest(cast(:ranks as text[])) with ordinality as ranked (rank, nth) where c.project_id = :projectId`,
    {
      ranks: generateNKeysBetween(null, null, CARDS),
      stageId: board.stages["To do"],
      projectId: board.projectId,
    },
  );
  await board.db.raw("update workspaces set next_card_number = :next where id = :id", {
    next: CARDS + 2,
    id: board.workspaceId,
  });
});

/** Both processes return the positions of `samples` cards of the column as the board shows them. */
async function expectShownPositions(samples: number): Promise<void> {
  const stageId = board.stages["To do"];
  const { body } = await board.api.get<{ columns: { statusId: string; tasks: { number: number }[] }[] }>(
    "/v1/board",
  );
  const tasks = body.columns.find(({ statusId }) => statusId === stageId)?.tasks ?? [];
  for (let sample = 0; sample < samples; sample++) {
    const index = Math.floor((sample * tasks.length) / samples);
    for (const api of apis) {
      expect((await api.readCard(tasks[index]?.number ?? 0)).position).toBe(index);
    }
  }
}

it("a card in a long column has the position that the board shows", async () => {
  await expectShownPositions(20);
  await board.api.move(CARDS, board.stages["To do"], 3);
  await board.api.move(2, board.stages["To do"], 700);
  await board.api.delete("/v1/cards/300");
  await board.api.move(5, board.stages.Done, 0);
  await expectShownPositions(40);
});

it("new cards at the end of a long column have their positions in the response", async () => {
  const backlog = board.stages.Backlog;
  await board.db.raw(
    "update cards set stage_id = ?, rank = rank || 'V' where project_id = ? and number between 2 and ?",
    [backlog, board.projectId, CARDS],
  );
  const [first] = await rows<{ number: number }>(
    board.db,
    "select number from cards where stage_id = :backlog order by rank limit 1",
    { backlog },
  );
  const expectPositions = async (count: number): Promise<void> => {
    for (const api of Array.from({ length: count / apis.length }, () => apis).flat()) {
      const { number, position } = await api.card();
      const [counted] = await rows<{ above: number }>(
        board.db,
        `select count(*) as above from cards c, cards made
          where made.project_id = :projectId and made.number = :number
            and c.stage_id = made.stage_id and c.deleted_at is null and c.rank < made.rank`,
        { projectId: board.projectId, number },
      );
      expect(position).toBe(counted?.above);
    }
  };
  await expectPositions(80);
  const made = await Promise.all(Array.from({ length: 50 }, () => apis.map((api) => api.card())).flat());
  const shown = await rows<{ number: number; position: number }>(
    board.db,
    `select number, row_number() over (order by rank) - 1 as position
       from cards where stage_id = :backlog and deleted_at is null order by rank desc limit 100`,
    { backlog },
  );
  expect(
    made.map(({ number, position }) => ({ number, position })).toSorted((a, b) => b.number - a.number),
  ).toEqual(shown);
  // The last cards leave, and one is moved before all others.
  const { number: last } = await board.api.card();
  await board.api.move(last, board.stages.Done, 0);
  await board.api.move(last - 1, backlog, 0);
  await board.api.delete(`/v1/cards/${last - 2}`);
  await board.api.delete(`/v1/cards/${first?.number}`);
  await expectPositions(4);
});

it("positions are right after two processes have moved, created and deleted cards at once", async () => {
  const stages = [board.stages["To do"], board.stages["To do"], board.stages.Done];
  const below = (count: number): number => Math.floor(Math.random() * count);
  const mover = async (api: Api): Promise<void> => {
    for (let round = 0; round < 40; round++) {
      const number = 2 + below(CARDS);
      const what = below(10);
      if (what === 0) await api.delete(`/v1/cards/${number}`);
      else if (what === 1) await api.card({ statusId: board.stages["To do"] });
      else if (what === 2) await api.card();
      else await api.move(number, stages[below(stages.length)] ?? "", what < 5 ? below(4) : below(CARDS));
    }
  };
  await Promise.all([...apis, ...apis, ...apis].map(mover));
  await expectShownPositions(30);
});
