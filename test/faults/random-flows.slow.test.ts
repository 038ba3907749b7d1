import { afterEach, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { runStory, stories } from "../support/stories/random-flows.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => world.forge.control.reset());

it("after any number of random steps, the board matches git", async () => {
  const property = fc.asyncProperty(stories(24), (story) => runStory(world, story));
  await expect(fc.assert(property, { numRuns: 20, endOnFailure: true })).resolves.toBeUndefined();
}, 3_600_000);
