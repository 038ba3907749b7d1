import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Turns } from "../../src/forge/github/calls/turns.ts";
import { connect, firstRow, type Db } from "../../src/store/db/connect.ts";
import { createTurns } from "../../src/store/forge/forge-turns.ts";
import { createTestDatabase, type TestDatabase } from "../support/database/database.ts";
import { type GitHubDouble, openGitHubDouble, SHA, WEB } from "../support/forge/github-double.ts";

const REFS = "/repositories/42/git/refs";
const PULLS = "/repositories/42/pulls";
const made = { ref: "refs/heads/x", object: { sha: SHA } };
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let db: Db;
/** Two processes with the same database. */
let turns: Turns;
let otherTurns: Turns;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ connectionString: database.connectionString, onError: () => undefined });
  turns = createTurns(db);
  otherTurns = createTurns(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});
beforeEach(() => db("forge_turns").delete());

const write = { isContent: false, withinMs: HOUR_MS } as const;
const content = { ...write, isContent: true };

/** The start of the next write, in milliseconds of the database's clock. */
async function nextWrite(): Promise<number> {
  const row = await firstRow<{ at: Date }>(db, "select next_write_at as at from forge_turns", {});
  return row?.at.getTime() ?? 0;
}
async function now(): Promise<number> {
  const row = await firstRow<{ at: Date }>(db, "select clock_timestamp() as at", {});
  return row?.at.getTime() ?? 0;
}

describe("the turns of an installation", () => {
  // Invariant: I11
  test("are a second apart for all processes together", async () => {
    const begun = await now();
    const reserved = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? turns : otherTurns).take(7, write)),
    );
    expect(reserved.every((turn) => "waitMs" in turn)).toBe(true);
    expect((await nextWrite()) - begun).toBeGreaterThanOrEqual(20_000);
  });

  test("are separate from those of other installations", async () => {
    for (let count = 0; count < 200; count++) await turns.take(7, write);
    expect(await otherTurns.take(8, { ...write, withinMs: 0 })).toEqual({ waitMs: 0 });
  });

  test("that would be too late are not reserved; the time of the next is returned", async () => {
    for (let count = 0; count < 200; count++) await turns.take(7, write);
    const before = await nextWrite();
    const late = await otherTurns.take(7, { ...write, withinMs: 10_000 });
    expect(late).toEqual({ freeIn: expect.any(Number) });
    expect("freeIn" in late && late.freeIn).toBeGreaterThan(10);
    expect(await nextWrite()).toBe(before);
  });

  test("for content are at most 500 per hour, and other writes do not wait for them", async () => {
    const begun = await now();
    const waits: number[] = [];
    for (let count = 0; count < 520; count++) {
      const turn = await turns.take(7, { ...content, withinMs: 10 * HOUR_MS });
      waits.push(("waitMs" in turn ? turn.waitMs : 0) + (await now()) - begun);
    }
    const inTheFirstHour = waits.filter((wait) => wait <= HOUR_MS);
    expect(inTheFirstHour.length).toBeLessThanOrEqual(500);
    expect(inTheFirstHour.length).toBeGreaterThan(450);
    expect((await nextWrite()) - begun).toBeLessThan(HOUR_MS / 4);
  });
});

describe("calls to GitHub", () => {
  let github: GitHubDouble;
  let other: GitHubDouble;
  beforeEach(() => {
    github = openGitHubDouble({ turns });
    other = openGitHubDouble({ turns: otherTurns });
  });
  afterEach(() => {
    github.done();
    other.done();
  });
  const create = ({ forge }: GitHubDouble) => forge.createBranch(WEB, "x", SHA);

  test("wait for their turn if they write, in any process", async () => {
    for (let count = 0; count < 5; count++) await turns.take(7, write);
    const before = await nextWrite();
    github.on("POST", REFS, 201, made);
    await create(github);
    expect(await nextWrite()).toBeGreaterThanOrEqual(before + 1_000);
    github.on("POST", REFS, 201, made);
    await create(other);
    expect(await nextWrite()).toBeGreaterThanOrEqual(before + 2_000);
  });

  test("do not wait if they read", async () => {
    for (let count = 0; count < 200; count++) await turns.take(7, write);
    github.on("GET", "/repositories/42/git/ref/heads/main", 200, { ...made, ref: "refs/heads/main" });
    expect(await github.forge.branchHead(WEB, "main")).toBe(SHA);
    expect(github.clock.slept).toEqual([]);
  });

  // Fault: C4
  test("that would wait too long fail immediately", async () => {
    for (let count = 0; count < 200; count++) await turns.take(7, write);
    const refused = await create(github).catch((error: unknown) => error);
    expect(refused).toMatchObject({ name: "ForgeUnavailable" });
    expect(github.requests).toEqual([]);
    expect(github.clock.slept).toEqual([]);
  });

  test("that create content use its allowance, others do not", async () => {
    const recovered = async (): Promise<number> => {
      const row = await firstRow<{ at: Date }>(db, "select recovered_at as at from forge_turns", {});
      return row?.at.getTime() ?? 0;
    };
    github.on("POST", REFS, 201, made);
    await create(github);
    const before = await recovered();
    const refused = { message: "Validation Failed", errors: [{ message: "No commits between main and x" }] };
    github.on("POST", PULLS, 422, refused);
    await github.forge.openPullRequest(WEB, {
      title: "x",
      body: "",
      headBranch: "x",
      targetBranch: "main",
      isDraft: true,
      isRetry: false,
      highestKnownNumber: null,
      isReported: () => Promise.resolve(false),
    });
    expect(await recovered()).toBeGreaterThanOrEqual(before + 9_000);
    const after = await recovered();
    github.on("POST", REFS, 201, made);
    await create(github);
    expect(await recovered()).toBe(after);
  });
});
