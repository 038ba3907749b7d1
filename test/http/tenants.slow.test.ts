import { beforeAll, describe, expect, it } from "@jest/globals";
import { databaseContent, settled } from "../support/database/database-content.ts";
import { idFieldsOf, OTHER_NAMES, valueAt, withValueAt } from "../support/input-fields.ts";
import { boardCalls, writeCalls } from "../support/routes.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { callSample, sampleOf, type Sample } from "../support/samples.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const UNKNOWN_NUMBER = 4711;
/** The number of a card that only the other board has. */
const THEIR_NUMBER = 90_000;
const HEADER = "header.X-Service-Workspace";

const world = useWorld();
let ours: TestBoard;
let theirs: TestBoard;
/** Refused calls do not use a sample up, so one for each route is enough. */
const ourCalls = new Map<string, Sample>();
const theirCalls = new Map<string, Sample>();
beforeAll(async () => {
  ours = await world.board();
  theirs = await world.board();
  for (const board of [ours, theirs]) await cardNumbered(1, board);
  await world.service.deps
    .db("workspaces")
    .where({ id: theirs.workspaceId })
    .update({ next_card_number: THEIR_NUMBER });
  await cardNumbered(THEIR_NUMBER, theirs);
  for (const { name } of boardCalls) {
    ourCalls.set(name, await sampleOf(name, ours));
    theirCalls.set(name, await sampleOf(name, theirs));
  }
  await settled(world);
});

async function cardNumbered(wanted: number, { api }: TestBoard): Promise<void> {
  const { number } = await api.card();
  if (number !== wanted) throw new Error(`the card is ${number}, not ${wanted}`);
}

/** The other board's id for a field, and one that does not exist. */
function foreignIds(name: string, field: string): readonly [string | number, string | number] {
  if (field === HEADER) return [theirs.workspaceId, UNKNOWN_ID];
  const value = valueAt(theirCalls.get(name) ?? {}, OTHER_NAMES[field] ?? field);
  if (typeof value === "number") return [THEIR_NUMBER, UNKNOWN_NUMBER];
  if (typeof value === "string") return [value, UNKNOWN_ID];
  throw new Error(`The sample of ${name} leaves ${field} out. Give it one in test/support/samples.ts.`);
}

// Invariant: I9
describe("another board's id", () => {
  it.each(boardCalls.flatMap(({ name }) => idFieldsOf(name).map((field) => [name, field] as const)))(
    "gets from %s in %s the same response as one that does not exist, and changes nothing",
    async (name, field) => {
      const otherName = OTHER_NAMES[field];
      const given = ourCalls.get(name) ?? {};
      const sample = otherName === undefined ? given : withValueAt(given, otherName, undefined);
      const ids = foreignIds(name, field);
      const before = await databaseContent(world.service);
      const responses = await Promise.all(
        ids.map(async (value) => {
          const { status, text } =
            field === HEADER
              ? await callSample(name, sample, ours.api, {
                  headers: { "x-service-workspace": String(value) },
                })
              : await callSample(name, withValueAt(sample, field, value), ours.api);
          return { status, text: text.replaceAll(String(value), "<what was asked>") };
        }),
      );
      const [their, unknown] = responses;
      // A claim is presented, not looked up.
      expect(field === "body.claimId" ? [409] : [400, 404]).toContain(their?.status);
      expect(their).toEqual(unknown);
      expect(await databaseContent(world.service)).toEqual(before);
    },
  );

  // Contract: Authentication: Card numbers are counted and resolved per board
  it("with the number of a card here does not refer to that card", async () => {
    const reads = boardCalls.filter(({ method }) => method === "GET").map(({ name }) => name);
    const look = (): Promise<string[]> =>
      Promise.all(
        reads.map(async (name) => {
          const { text } = await callSample(name, onCard1(theirCalls.get(name) ?? {}), theirs.api);
          return `${name}: ${text}`;
        }),
      );
    const before = await look();
    // The deletion of card 1 runs last.
    for (const { name } of writeCalls.toSorted(
      (a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"),
    )) {
      const sample = await sampleOf(name, ours);
      // The sample has a comment, a claim, a refusal or a repository of its own card.
      const isOfItsCard =
        sample.path?.["commentId"] !== undefined ||
        /\/(claim|armed|blocked)$|^DELETE .*repositoryId/.test(name);
      const { status, text } = await callSample(name, isOfItsCard ? sample : onCard1(sample), ours.api);
      expect([name, status < 300, text]).toEqual([name, true, text]);
    }
    await settled(world);
    expect(await look()).toEqual(before);
  });
});

/** The same call for card 1, which both boards have. */
const onCard1 = (sample: Sample): Sample =>
  sample.path?.["number"] === undefined ? sample : { ...sample, path: { ...sample.path, number: 1 } };
