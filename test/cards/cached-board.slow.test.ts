import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "@jest/globals";
import type { RunningService } from "../../src/service.ts";
import { makeApi, type Api } from "../support/api.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let second: RunningService;
beforeAll(async () => {
  second = await startSecondService(world);
});

/** A repeated change by one caller; returns what must then be true of the board's response. */
type Change = (api: Api, round: number) => Promise<(text: string) => boolean>;

/** One change for each kind of write that a board shows. */
async function changes(board: TestBoard): Promise<Change[]> {
  const { api, stages } = board;
  const card = (fields: object = {}) => api.card({ statusId: stages["To do"], ...fields });
  const titled = await card();
  const moved = await card();
  const labelled = await card();
  const { body: label } = await api.post<{ id: string }>("/v1/labels", { name: "first", color: "red" });
  await api.patch(`/v1/cards/${labelled.number}`, { labelIds: [label.id] });
  return [
    async (by) => {
      const title = randomUUID();
      expect((await by.patch(`/v1/cards/${titled.number}`, { title })).status).toBe(200);
      return (text) => text.includes(title);
    },
    async (by, round) => {
      const isOn = round % 2 === 1;
      expect((await by.move(moved.number, stages[isOn ? "To do" : "Backlog"])).status).toBe(200);
      return (text) => text.includes(moved.id) === isOn;
    },
    async (by) => {
      const name = randomUUID();
      expect((await by.patch(`/v1/labels/${label.id}`, { name })).status).toBe(200);
      return (text) => text.includes(name);
    },
    async (by) => {
      const { title } = await by.card({ title: randomUUID(), statusId: stages["To do"] });
      return (text) => text.includes(title);
    },
  ];
}

/** Adds so many cards that a read of the board outlasts the time between a write and its read. */
async function fill({ api, stages }: TestBoard): Promise<void> {
  for (let row = 0; row < 25; row++) {
    await Promise.all(Array.from({ length: 16 }, () => api.card({ statusId: stages["To do"] })));
  }
}

/** Reads the board repeatedly in parallel: there is always a running query that others could share. */
function keepReading(readers: readonly Api[]): () => Promise<void> {
  const stop = new AbortController();
  const reading = readers
    .flatMap((reader) => [reader, reader, reader])
    .map(async (reader) => {
      while (!stop.signal.aborted) await reader.get("/v1/board");
    });
  return async () => {
    stop.abort();
    await Promise.all(reading);
  };
}

it("under many writes on one process, no read of either process misses a write whose response came before it", async () => {
  const board = await world.board({ repositories: [] });
  await fill(board);
  const readers = [board.api, makeApi(second.baseUrl, board.api.apiKey)];
  const misses: string[] = [];
  const repeat = async (change: Change, kind: number): Promise<void> => {
    for (let round = 0; round < 40; round++) {
      const isShown = await change(board.api, round);
      const read = async (reader: Api, process: number): Promise<void> => {
        const { text } = await reader.get("/v1/board");
        if (!isShown(text)) misses.push(`kind ${kind}, round ${round}, process ${process}`);
      };
      await Promise.all(readers.map(read));
    }
  };
  const stopReading = keepReading(readers);
  await Promise.all((await changes(board)).map(repeat));
  await stopReading();
  expect(misses).toEqual([]);
});
