import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "@jest/globals";
import { keyLockedBy } from "../support/keys.ts";
import { expectConsistent } from "../support/invariants.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { makeApi } from "../support/api.ts";
import type { RunningService } from "../../src/service.ts";
import { useWorld } from "../support/use-world.ts";

const CARDS = 200;
const CALLERS = 20;

const world = useWorld();
let other: RunningService;
beforeAll(async () => {
  other = await startSecondService(world);
});

// Fault: E5 200 cards move to the top of one column => positions 0 to 199
it(`${CARDS} cards moved to the top of a column by ${CALLERS} callers at two processes get all positions`, async () => {
  const board = await world.board();
  const numbers: number[] = [];
  for (let at = 0; at < CARDS; at += CALLERS) {
    const made = await Promise.all(
      Array.from({ length: CALLERS }, () => board.api.card({ repositoryIds: [] })),
    );
    numbers.push(...made.map(({ number }) => number));
  }
  const processes = [board.api, makeApi(other.baseUrl, board.api.apiKey)];
  const left = [...numbers];
  const responses: string[] = [];
  const caller = async (at: number): Promise<void> => {
    const api = processes[at % processes.length] ?? board.api;
    for (let number = left.shift(); number !== undefined; number = left.shift()) {
      // Most moves are one statement; a takeover of a dead process's key is not.
      const key = at % 4 < 2 ? randomUUID() : await keyLockedBy(board, randomUUID());
      const { status, text } = await api.move(number, board.stages["To do"], 0, { key });
      if (status !== 200) responses.push(text);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, at) => caller(at)));
  expect(responses).toEqual([]);
  const { body } = await board.api.get<{ columns: { name: string; tasks: { number: number }[] }[] }>(
    "/v1/board",
  );
  const column = body.columns.find(({ name }) => name === "To do");
  const standing = column?.tasks.map(({ number }) => number) ?? [];
  expect(standing.toSorted((a, b) => a - b)).toEqual(numbers.toSorted((a, b) => a - b));
  // Positions are 0 to n-1, among all else that must hold.
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
});
