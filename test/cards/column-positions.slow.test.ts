import { beforeAll, beforeEach, expect, it } from "@jest/globals";
import { generateNKeysBetween } from "fractional-indexing";
import type { RunningService } from "../../src/service.ts";
import { countColumn } from "../../src/store/cards/placing.ts";
import { rows, type Db, type Trx } from "../../src/store/db/connect.ts";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";
import { beginTransaction } from "../../src/store/db/transaction.ts";

/** So many that positions are computed from stored counts. */
const CARDS = 900;
/** A count waits for older transactions on the server, also those of other tests. */
const COUNT_WITHIN_MS = 25_000;

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

interface Place {
  readonly number: number;
  readonly above: number;
  readonly counted: number;
}

/** The cards whose computed position differs from a full count in the same snapshot. */
const misplaced = (): Promise<Place[]> =>
  rows<Place>(
    board.db,
    `select c.number, place.above, c.counted
       from (select number, stage_id, rank, row_number() over (partition by stage_id order by rank) - 1 as counted
               from cards where project_id = :projectId and deleted_at is null) c,
            place_in_column(c.stage_id, c.rank) place
      where place.above <> c.counted`,
    { projectId: board.projectId },
  );

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

const isCounted = async (): Promise<boolean> =>
  (
    await rows(board.db, "select 1 from column_counts where stage_id = :stageId and ranks is not null", {
      stageId: board.stages["To do"],
    })
  ).length > 0;

it("a card in a long column has the position that the board shows, and the column is counted once", async () => {
  await expectShownPositions(20);
  await eventually(
    async () => {
      await expectShownPositions(1);
      return isCounted();
    },
    Boolean,
    COUNT_WITHIN_MS,
  );
  await board.api.move(CARDS, board.stages["To do"], 3);
  await board.api.move(2, board.stages["To do"], 700);
  await board.api.delete("/v1/cards/300");
  await board.api.move(5, board.stages.Done, 0);
  await expectShownPositions(40);
  expect(await misplaced()).toEqual([]);
});

/** An open transaction that has deleted a card at the top of the column. */
async function startDeletion(): Promise<Trx> {
  const trx = await beginTransaction(board.db);
  await trx.raw("update cards set deleted_at = now() where project_id = ? and number = 10", [
    board.projectId,
  ]);
  return trx;
}

const ENDS: [string, (trx: Trx) => Promise<unknown>][] = [
  ["committed", (trx) => trx.commit()],
  ["rolled back", (trx) => trx.rollback()],
];

it.each(ENDS)("positions are right after a change that the count did not see is %s", async (_, end) => {
  const stageId = board.stages["To do"];
  await countColumn(board.db, stageId);
  const trx = await startDeletion();
  // Now there are finished transactions before and after the open one.
  await board.api.move(CARDS, stageId, 0);
  await countColumn(board.db, stageId);
  expect(await misplaced()).toEqual([]);
  await end(trx);
  expect(await misplaced()).toEqual([]);
  await expectShownPositions(10);
});

it("a column is not counted before older transactions that may not have recorded their changes end", async () => {
  const stageId = board.stages["To do"];
  const trx = await startDeletion();
  await countColumn(board.db, stageId);
  await countColumn(board.db, stageId);
  expect(await isCounted()).toBe(false);
  expect(await misplaced()).toEqual([]);
  await trx.commit();
  expect(await misplaced()).toEqual([]);
  await eventually(
    async () => {
      await countColumn(board.db, stageId);
      return isCounted();
    },
    Boolean,
    COUNT_WITHIN_MS,
  );
  expect(await misplaced()).toEqual([]);
});

it("a column with many changes since its count is counted again by the next read", async () => {
  const stageId = board.stages["To do"];
  const changesSince = async (db: Db = board.db): Promise<number> => {
    const [found] = await rows<{ count: number }>(
      db,
      `select count(*) as count from place_changes p, column_counts k
        where p.stage_id = :stageId and k.stage_id = p.stage_id and not pg_visible_in_snapshot(p.xid, k.snapshot)`,
      { stageId },
    );
    return found?.count ?? 0;
  };
  for (const turned of [300, 600]) {
    await eventually(
      async () => {
        await expectShownPositions(3);
        return isCounted();
      },
      Boolean,
      COUNT_WITHIN_MS,
    );
    // Reverses the order of the first cards, so that each one gets other neighbours.
    // In one transaction, so that no process counts the column in between.
    const trx = await beginTransaction(board.db);
    await trx.raw(
      `update cards c set rank = turned.rank
         from (select id, 'zz' || lpad(cast(:turned as text), 5, '0') || lpad(cast(row_number() over (order by rank desc) as text), 5, '0') || '1' as rank
                 from cards where stage_id = :stageId and deleted_at is null order by rank limit :turned) turned
        where turned.id = c.id`,
      { stageId, turned },
    );
    expect(await changesSince(trx)).toBeGreaterThan(500);
    await trx.commit();
    expect(await misplaced()).toEqual([]);
    await eventually(
      async () => {
        await expectShownPositions(3);
        return changesSince();
      },
      (count) => count === 0,
      COUNT_WITHIN_MS,
    );
    expect(await misplaced()).toEqual([]);
  }
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
  await eventually(
    async () => {
      // A card made while an older transaction is open does not get the column counted.
      await expectPositions(2);
      return rows(board.db, "select 1 from column_counts where stage_id = :backlog and ranks is not null", {
        backlog,
      });
    },
    ({ length }) => length > 0,
    COUNT_WITHIN_MS,
  );
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
  expect(await misplaced()).toEqual([]);
});

it("positions are right in every snapshot while two processes move, create and delete cards", async () => {
  const stages = [board.stages["To do"], board.stages["To do"], board.stages.Done];
  const below = (count: number): number => Math.floor(Math.random() * count);
  const wrong: string[] = [];
  let isOver = false;
  const mover = async (api: Api): Promise<void> => {
    for (let round = 0; round < 40; round++) {
      const number = 2 + below(CARDS);
      const what = below(10);
      if (what === 0) await api.delete(`/v1/cards/${number}`);
      else if (what === 1) await api.card({ statusId: board.stages["To do"] });
      else if (what === 2) await api.card();
      else await api.move(number, stages[below(stages.length)] ?? "", what < 5 ? below(4) : below(CARDS));
      if (round % 8 === 0) await countColumn(board.db, board.stages["To do"]);
    }
  };
  const checker = async (): Promise<void> => {
    for (;;) {
      const last = isOver;
      wrong.push(...(await misplaced()).map((place) => JSON.stringify(place)));
      if (last) return;
    }
  };
  const checking = checker();
  await Promise.all([...apis, ...apis, ...apis].map(mover));
  isOver = true;
  await checking;
  expect(wrong).toEqual([]);
  await expectShownPositions(30);
});
