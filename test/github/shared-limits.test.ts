import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import nock from "nock";
import type { SharedLimits } from "../../src/forge/github/calls/limits.ts";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { createForgeLimits } from "../../src/store/forge/forge-limits.ts";
import { eventually } from "../support/api.ts";
import { createTestDatabase, type TestDatabase } from "../support/database/database.ts";
import { startDatabaseProxy } from "../support/database/database-proxy.ts";
import { API, type GitHubDouble, openGitHubDouble, SHA, WEB } from "../support/forge/github-double.ts";

const REFS = "/repositories/42/git/refs";
const made = { ref: "refs/heads/x", object: { sha: SHA } };

let database: TestDatabase;
let db: Db;
/** As two processes know them. */
let limits: SharedLimits;
let othersLimits: SharedLimits;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ connectionString: database.connectionString, onError: () => undefined });
  limits = createForgeLimits(db);
  othersLimits = createForgeLimits(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

let github: GitHubDouble;
let other: GitHubDouble;
beforeEach(async () => {
  await db("forge_limits").delete();
  github = openGitHubDouble({ sharedLimits: limits });
  other = openGitHubDouble({ sharedLimits: othersLimits });
});
afterEach(() => {
  github.done();
  other.done();
});

const create = ({ forge }: GitHubDouble) => forge.createBranch(WEB, "x", SHA);
const secondsLeft = async (): Promise<number> => (await othersLimits.read("7")).seconds;
const limitEnds = () => db("forge_limits").update({ limited_until: db.fn.now() });

const HEAD = "/repositories/42/git/ref/heads/main";

describe("calls to GitHub", () => {
  test("are held back in every process where the database was away when GitHub said so", async () => {
    const proxy = await startDatabaseProxy(database.connectionString);
    const far = connect({ connectionString: proxy.url, onError: () => undefined });
    const cutOff = openGitHubDouble({ sharedLimits: createForgeLimits(far) });
    const body = { message: "You have exceeded a secondary rate limit." };
    const cutting = (): object => {
      proxy.cut();
      return body;
    };
    cutOff.on("POST", REFS, 403, cutting, { "retry-after": "900" });
    await expect(create(cutOff)).rejects.toMatchObject({ retryAfter: 900 });
    expect(await secondsLeft()).toBe(0);
    proxy.restore();
    await eventually(secondsLeft, (seconds) => seconds > 800);
    await expect(create(other)).rejects.toThrow("GitHub limits requests until");
    expect(other.requests).toEqual([]);
    await far.destroy();
    await proxy.stop();
    cutOff.done();
  });

  // Fault: C5
  test("stop in every process when GitHub tells one of them to", async () => {
    const message =
      "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    github.on("POST", REFS, 403, { message }, { "retry-after": "900" });
    await expect(create(github)).rejects.toMatchObject({ retryAfter: 900 });
    for (const call of [() => create(other), () => other.forge.branchHead(WEB, "main")]) {
      const refused = await call().catch((error: unknown) => error);
      expect(refused).toMatchObject({ name: "ForgeUnavailable" });
      expect(Object(refused).retryAfter).toBeGreaterThan(800);
    }
    expect(other.requests).toEqual([]);
  });

  const stopAll = () => othersLimits.record("7", { seconds: 900, byWrite: false });
  const heldBack = async (asked: Promise<unknown>): Promise<void> => {
    const refused = await asked.catch((error: unknown) => error);
    expect(refused).toMatchObject({
      name: "ForgeUnavailable",
      message: expect.stringMatching(/^GitHub limits requests until/),
    });
    expect(Object(refused).retryAfter).toBeGreaterThan(800);
  };
  /** While a token is made, time passes and another process is told to stop. */
  const stopWhileMinting = (): void => {
    nock.cleanAll();
    nock(API)
      .post("/app/installations/7/access_tokens")
      .reply(async () => {
        await stopAll();
        github.clock.pass(3_000);
        return [201, { token: "ghs_test.late", expires_at: "2099-01-01T00:00:00Z", permissions: {} }];
      });
  };

  test.each(["read", "write"])(
    "stop when another process is told to while they wait for a token: a %s",
    async (kind) => {
      stopWhileMinting();
      github.on("GET", HEAD, 200, { ...made, ref: "refs/heads/main" });
      github.on("POST", REFS, 201, made);
      await heldBack(kind === "read" ? github.forge.branchHead(WEB, "main") : create(github));
      expect(github.requests).toEqual([]);
      nock.cleanAll();
    },
  );

  test("are not repeated when another process is told to stop before that", async () => {
    const { sleep } = github.clock;
    github.clock.sleep = async (ms) => {
      await stopAll();
      await sleep(ms);
    };
    github.on("GET", HEAD, 500);
    await heldBack(github.forge.branchHead(WEB, "main"));
    expect(github.requests).toHaveLength(1);
  });

  test("are not made again with a new token when another process was told to stop while it was made", async () => {
    github.on("POST", REFS, 201, made);
    await create(github);
    stopWhileMinting();
    github.on("POST", REFS, 401, { message: "Bad credentials" });
    github.on("POST", REFS, 201, made);
    await heldBack(create(github));
    expect(github.sent("POST", REFS)).toHaveLength(2);
    nock.cleanAll();
  });
});

describe("a limit for which GitHub states no time", () => {
  const message =
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.";
  /** One of the processes is told to stop, and for how long it does. */
  async function limited(at: GitHubDouble, kind: "read" | "write" = "write"): Promise<number> {
    const { forge } = at;
    at.on(kind === "write" ? "POST" : "GET", kind === "write" ? REFS : HEAD, 403, { message });
    const asked = kind === "write" ? forge.createBranch(WEB, "x", SHA) : forge.branchHead(WEB, "main");
    const refused = await asked.then(
      () => null,
      (error: unknown) => error,
    );
    return Number(Object(refused).retryAfter);
  }
  const reads = async (at: GitHubDouble): Promise<void> => {
    at.on("GET", HEAD, 200, { ...made, ref: "refs/heads/main" });
    expect(await at.forge.branchHead(WEB, "main")).toBe(SHA);
  };

  // Fault: C5
  test("lasts a minute, then doubles up to an hour in any process, until a write succeeds", async () => {
    const processes = [github, other];
    for (const [at, seconds] of [60, 120, 240, 480, 960, 1_920, 3_600, 3_600].entries()) {
      expect(await limited(processes[at % 2] ?? github)).toBe(seconds);
      await limitEnds();
      await reads(github);
    }
    other.on("POST", REFS, 201, made);
    expect(await create(other)).toMatchObject({ ok: true });
    expect(await limited(github)).toBe(60);
  });

  test("of a read ends with a successful read", async () => {
    expect(await limited(github, "read")).toBe(60);
    await limitEnds();
    expect(await limited(other, "read")).toBe(120);
    await limitEnds();
    await reads(other);
    expect(await limited(github, "read")).toBe(60);
  });

  test("counts once for the calls that were on their way when it began", async () => {
    const record = () => limits.record("7", { seconds: null, byWrite: true });
    expect(await Promise.all([record(), record(), record()])).toEqual([60, 60, 60]);
    await limitEnds();
    expect(await Promise.all([record(), record()])).toEqual([120, 120]);
  });

  test("does not shorten one with a time", async () => {
    await limits.record("7", { seconds: 900, byWrite: true });
    expect(await limits.record("7", { seconds: null, byWrite: true })).toBe(900);
    await limits.record("7", { seconds: 1, byWrite: true });
    expect(await secondsLeft()).toBeGreaterThan(800);
  });
});
