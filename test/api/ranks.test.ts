import { afterAll, beforeAll, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { generateKeyBetween } from "fractional-indexing";
import { connect, rows, type Db } from "../../src/store/connect.ts";
import { someFraction } from "../../src/store/placing.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ connectionString: database.connectionString, onError: () => undefined });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const SIDES = ["last", "first"] as const;

async function beyond(rank: string | null, side: (typeof SIDES)[number]): Promise<string> {
  const sql = "select rank_beyond(cast(:rank as text), :isLast, :fraction) as rank";
  const bindings = { rank, isLast: side === "last", fraction: someFraction() };
  const found = await rows<{ rank: string | null }>(db, sql, bindings);
  return found[0]?.rank ?? "none";
}

/** Throws where `rank` is none, or does not stand on its side of `other`. */
function place(rank: string, other: string | null, side: (typeof SIDES)[number]): void {
  if (side === "last") generateKeyBetween(other, rank);
  else generateKeyBetween(rank, other);
}

/** A rank as a board comes to it: so many cards after or before the first, and then between its neighbours a few times. */
const ranks = fc
  .record({
    steps: fc.integer({ min: -9_000, max: 9_000 }),
    halvings: fc.array(fc.boolean(), { maxLength: 30 }),
  })
  .map(({ steps, halvings }) => {
    let [low, high] = [generateKeyBetween(null, null), ""];
    for (let step = 0; step < Math.abs(steps); step++) {
      low = steps > 0 ? generateKeyBetween(low, null) : generateKeyBetween(null, low);
    }
    high = generateKeyBetween(low, null);
    for (const isLower of halvings) {
      const middle = generateKeyBetween(low, high);
      if (isLower) high = middle;
      else low = middle;
    }
    return low;
  });

it.each(SIDES)("a rank that PostgreSQL makes is one, and stands beyond the %s", async (side) => {
  const property = fc.asyncProperty(ranks, async (rank) => {
    place(await beyond(rank, side), rank, side);
  });
  await fc.assert(property, { numRuns: 60 });
});

it.each(SIDES)("the %s of a column follow each other, from one length of rank to the next", async (side) => {
  const integers: string[] = [];
  let rank = await beyond(null, side);
  for (let step = 0; step < 140; step++) {
    const next = await beyond(rank, side);
    place(next, rank, side);
    integers.push(next.slice(0, -2));
    rank = next;
  }
  let integer = "a0";
  for (const made of integers) {
    integer = side === "last" ? generateKeyBetween(integer, null) : generateKeyBetween(null, integer);
    expect(made).toBe(integer);
  }
});

/** A whole rank of each first letter, with all its digits at their end. */
const ENDS = {
  last: ["Xzzz", "Yzz", "Zz", "az", "bzz", "czzz"],
  first: ["X000", "Y00", "Z0", "a0", "b00", "c000"],
};

it.each(SIDES)("beyond the %s with a first letter comes one with the next", async (side) => {
  for (const end of ENDS[side]) {
    const next = side === "last" ? generateKeyBetween(end, null) : generateKeyBetween(null, end);
    expect((await beyond(end, side)).slice(0, -2)).toBe(next);
  }
});
