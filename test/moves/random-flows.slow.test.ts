import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { runStory, stories } from "../support/stories/random-flows.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => world.forge.control.reset());
afterAll(() => world.stop());

it("a board matches its Git repositories after random actions and faults", async () => {
  const property = fc.asyncProperty(stories(8), (story) => runStory(world, story));
  await expect(fc.assert(property, { numRuns: 3, endOnFailure: true })).resolves.toBeUndefined();
});
