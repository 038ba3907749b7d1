import { afterEach, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { runStory, stories } from "../support/stories/random-flows.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => world.forge.control.reset());

it("a board matches its Git repositories after random actions and faults", async () => {
  const property = fc.asyncProperty(stories(8), (story) => runStory(world, story));
  await expect(fc.assert(property, { numRuns: 3, endOnFailure: true })).resolves.toBeUndefined();
});
