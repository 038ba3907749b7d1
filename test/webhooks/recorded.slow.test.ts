/**
 * GitHub's recorded webhooks, and variants of them, are accepted and processed without an error.
 * `npm outdated @octokit/webhooks-examples` shows whether GitHub has published newer ones.
 */
import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { isTranslated } from "../../src/forge/github/deliveries/translate-delivery.ts";
import { allProcessed, deliver } from "../support/forge/deliveries.ts";
import { withEmptyLists, withLongTexts, withNulls } from "../support/forge/payload-variants.ts";
import { withRandomChange } from "../support/stories/random-change.ts";
import { duplicateEvents } from "../support/stories/duplicate-events.ts";
import type { TimelineEvent } from "../support/api.ts";
import { useWorld } from "../support/use-world.ts";

type Payload = Readonly<Record<string, unknown>> & { readonly repository?: { readonly id: number } };
interface Recorded {
  readonly name: string;
  readonly examples: readonly Payload[];
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

const world = useWorld();

/** Delivers payloads about a card's branch, and returns the card's timeline. */
async function timelineAfter(
  sent: readonly { readonly name: string; readonly payload: unknown }[],
  branchName = BRANCH,
): Promise<TimelineEvent[]> {
  const { db } = world.service.deps;
  await db("deliveries").delete();
  await db("repositories").where({ forge_id: HELLO_WORLD.forge_id }).update({ forge_id: -Date.now() });
  const board = await world.board();
  const { number } = await board.api.card();
  await db("repositories").where({ id: board.repositories["web"] }).update(HELLO_WORLD);
  await db("card_repositories")
    .where({ repository_id: board.repositories["web"] })
    .update({ branch_name: branchName });
  const statuses = new Set<number>();
  for (const { name, payload } of sent) {
    statuses.add((await deliver(world, name, JSON.stringify(payload))).status);
  }
  expect([...statuses]).toEqual([202]);
  await allProcessed(world);
  expect(await db("deliveries").whereNot({ state: "done", attempts: 0 }).select("event", "error")).toEqual(
    [],
  );
  const timeline = await board.api.timeline(number);
  expect(duplicateEvents(timeline, "", [])).toEqual([]);
  expect(world.logged()).not.toContain("could not be read");
  return timeline;
}

const MAIN_KINDS = ["pull_request_opened", "pull_request_ready", "review_submitted"];

it("recorded webhooks about a card's branch and pull request", async () => {
  expect(payloads.length).toBeGreaterThan(200);
  expect(
    payloads.filter(({ payload }) => payload.repository?.id === HELLO_WORLD.forge_id).length,
  ).toBeGreaterThan(100);
  const timeline = await timelineAfter(payloads);
  expect(timeline.map(({ kind }) => kind)).toEqual(expect.arrayContaining(MAIN_KINDS));
});

/** The webhooks that Trunkline handles. A webhook of another installation than the repository's is ignored. */
const handled = payloads
  .filter(({ name }) => isTranslated(name))
  .map(({ name, payload: { installation, ...payload } }) => ({
    name,
    payload: name.startsWith("installation") ? { ...payload, installation } : (payload as Payload),
  }));

it("recorded webhooks with every field null that may be null", async () => {
  const sent = handled.map(({ name, payload }) => ({ name, payload: withNulls(name, payload) }));
  expect(sent.filter(({ payload }, at) => payload !== handled[at]?.payload).length).toBeGreaterThan(60);
  const timeline = await timelineAfter(sent);
  expect(timeline.map(({ kind }) => kind)).toEqual(expect.arrayContaining(MAIN_KINDS));
});

it("recorded webhooks with empty lists", async () => {
  const timeline = await timelineAfter(
    handled.map(({ name, payload }) => ({ name, payload: withEmptyLists(payload) })),
  );
  expect(timeline.map(({ kind }) => kind)).toEqual(expect.arrayContaining(MAIN_KINDS));
});

it.each(["", "x"])("recorded webhooks with the longest texts and branch names, after %j", async (start) => {
  const branch = start + "😀".repeat(59);
  const sent = handled.map(({ name, payload }) => {
    const text = JSON.stringify(withLongTexts(payload, start));
    return {
      name,
      payload: JSON.parse(
        text
          .replaceAll(`"${BRANCH}"`, `"${branch}"`)
          .replaceAll(`"refs/heads/${BRANCH}"`, `"refs/heads/${branch}"`),
      ) as unknown,
    };
  });
  const push = handled.find(
    ({ name, payload }) => name === "push" && (payload["commits"] as unknown[]).length > 0,
  );
  const onBranch = { ...(withLongTexts(push?.payload, start) as Payload), ref: `refs/heads/${branch}` };
  const timeline = await timelineAfter([...sent, { name: "push", payload: onBranch }], branch);
  expect(timeline.map(({ kind }) => kind)).toEqual(expect.arrayContaining([...MAIN_KINDS, "pushed"]));
  const titles = timeline
    .filter(({ kind }) => kind === "pushed")
    .flatMap(({ data }) =>
      (data["commits"] as readonly { readonly title: string }[]).map(({ title }) => title),
    );
  expect(titles).toContain(start + "😀".repeat(200 - start.length));
});

// Fault: B8 An event is unknown or lacks fields => 2xx without an error
it("recorded webhooks with any part removed or replaced", async () => {
  const { db } = world.service.deps;
  await db("deliveries").delete();
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
