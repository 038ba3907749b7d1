import { afterAll, beforeAll } from "@jest/globals";
import { startWorld, type TestWorld, type WorldOptions } from "./world.ts";

/**
 * The world of a test file: starts before its tests, stops after them, and can be used in between. `check` runs after
 * the tests, before the stop.
 */
export function useWorld(
  options: WorldOptions = {},
  check: (world: TestWorld) => Promise<unknown> = () => Promise.resolve(),
): TestWorld {
  let started: TestWorld | undefined;
  beforeAll(async () => {
    started = await startWorld(options);
  });
  afterAll(async () => {
    try {
      await check(world());
    } finally {
      await started?.stop();
      // The modules of a test file stay in memory.
      started = undefined;
    }
  });
  const world = (): TestWorld => {
    if (!started) throw new Error("The world runs from beforeAll to afterAll.");
    return started;
  };
  return {
    get forge() {
      return world().forge;
    },
    get service() {
      return world().service;
    },
    get databaseUrl() {
      return world().databaseUrl;
    },
    get boards() {
      return world().boards;
    },
    logged: () => world().logged(),
    board: (boardOptions) => world().board(boardOptions),
    stopLater: (other) => world().stopLater(other),
    stop: () => world().stop(),
  };
}
