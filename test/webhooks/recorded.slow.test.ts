/** GitHub's recorded webhooks are accepted and processed without an error. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { isTranslated } from "../../src/forge/github/deliveries/translate-delivery.ts";
import { allProcessed, deliver } from "../support/forge/deliveries.ts";
import { withRandomChange } from "../support/stories/random-change.ts";
import { duplicateEvents } from "../support/stories/duplicate-events.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

interface Recorded {
  readonly name: string;
  readonly examples: readonly (object & { readonly repository?: { readonly id: number } })[];
}

const file = new URL(
  "../../node_modules/@octokit/webhooks-examples/api.github.com/index.json",
  import.meta.url,
);
const recorded = JSON.parse(readFileSync(file, "utf8")) as readonly Recorded[];
const payloads = recorded.flatMap(({ name, examples }) => examples.map((payload) => ({ name, payload })));

/** The repository and the branch of most recorded webhooks. */
const HELLO_WORLD = { forge_id: 186_853_002, full_name: "Codertocat/Hello-World", default_branch: "master" };
const BRANCH = "changes";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

it("recorded webhooks about a card's branch and pull request", async () => {
  expect(payloads.length).toBeGreaterThan(200);
  expect(
    payloads.filter(({ payload }) => payload.repository?.id === HELLO_WORLD.forge_id).length,
  ).toBeGreaterThan(100);
  const { db } = world.service.deps;
  const board = await world.board();
  const { number } = await board.api.card();
  await db("repositories").where({ id: board.repositories["web"] }).update(HELLO_WORLD);
  await db("card_repositories")
    .where({ repository_id: board.repositories["web"] })
    .update({ branch_name: BRANCH });
  const statuses = new Set<number>();
  for (const { name, payload } of payloads) {
    statuses.add((await deliver(world, name, payload, { guid: randomUUID() })).status);
  }
  expect([...statuses]).toEqual([202]);
  await allProcessed(world);
  expect(await db("deliveries").whereNot({ state: "done", attempts: 0 }).select("event", "error")).toEqual(
    [],
  );
  const timeline = await board.api.timeline(number);
  expect(duplicateEvents(timeline, "", [])).toEqual([]);
  const kinds = timeline.map(({ kind }) => kind);
  expect(kinds).toEqual(
    expect.arrayContaining(["pull_request_opened", "pull_request_ready", "review_submitted"]),
  );
  expect(world.logged()).not.toContain("could not be read");
});

// Fault: B8 An event is unknown or lacks fields => 2xx without an error
it("recorded webhooks with any part removed or replaced", async () => {
  const { db } = world.service.deps;
  await db("deliveries").delete();
  const handled = payloads.filter(({ name }) => isTranslated(name));
  const odd = fc.oneof(fc.constantFrom(null, undefined, "", {}, [], -1, 1.5), fc.jsonValue({ maxDepth: 1 }));
  const anything = fc.tuple(
    fc.constantFrom(...handled),
    fc.array(fc.nat(40), { minLength: 1, maxLength: 4 }),
    odd,
  );
  await fc.assert(
    fc.asyncProperty(anything, async ([{ name, payload }, path, by]) => {
      const { status } = await deliver(
        world,
        name,
        JSON.stringify(withRandomChange(payload, path, by) ?? null),
      );
      expect(status).toBe(202);
    }),
    { numRuns: 150, endOnFailure: true },
  );
  await allProcessed(world);
  expect(await db("deliveries").whereNot({ state: "done", attempts: 0 }).select("event", "error")).toEqual(
    [],
  );
});
