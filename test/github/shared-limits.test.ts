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
/** Two processes with the same database. */
let limits: SharedLimits;
let otherLimits: SharedLimits;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect({ connectionString: database.connectionString, onError: () => undefined });
  limits = createForgeLimits(db);
  otherLimits = createForgeLimits(db);
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
  other = openGitHubDouble({ sharedLimits: otherLimits });
});
afterEach(() => {
  github.done();
  other.done();
});

const create = ({ forge }: GitHubDouble) => forge.createBranch(WEB, "x", SHA);
const secondsLeft = async (): Promise<number> => (await otherLimits.read("7")).seconds;
const limitEnds = () => db("forge_limits").update({ limited_until: db.fn.now() });

const HEAD = "/repositories/42/git/ref/heads/main";

const failsLimited = async (asked: Promise<unknown>): Promise<void> => {
  const refused = await asked.catch((error: unknown) => error);
  expect(refused).toMatchObject({
    name: "ForgeUnavailable",
    message: expect.stringMatching(/^GitHub limits requests until/),
  });
  expect(Object(refused).retryAfter).toBeGreaterThan(800);
};

describe("calls to GitHub", () => {
  test("wait in every process if the database was unavailable when GitHub set the limit", async () => {
    const proxy = await startDatabaseProxy(database.connectionString);
    const far = connect({ connectionString: proxy.url, onError: () => undefined });
    const failed = openGitHubDouble({ sharedLimits: createForgeLimits(far) });
    const body = { message: "You have exceeded a secondary rate limit." };
    const failing = (): object => {
      proxy.cut();
      return body;
    };
    failed.on("POST", REFS, 403, failing, { "retry-after": "900" });
    await expect(create(failed)).rejects.toMatchObject({ retryAfter: 900 });
    expect(await secondsLeft()).toBe(0);
    proxy.restore();
    await eventually(secondsLeft, (seconds) => seconds > 800);
    await expect(create(other)).rejects.toThrow("GitHub limits requests until");
    expect(other.requests).toEqual([]);
    await far.destroy();
    await proxy.stop();
    failed.done();
  });

  // Fault: C5
  test("wait in every process when GitHub limits one of them", async () => {
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

  const stopAll = () => otherLimits.record("7", { seconds: 900, byWrite: false });
  /** Simulates a slow token request during which another process is limited. */
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
    "fail if another process is limited while they wait for a token: a %s",
    async (kind) => {
      stopWhileMinting();
      github.on("GET", HEAD, 200, { ...made, ref: "refs/heads/main" });
      github.on("POST", REFS, 201, made);
      await failsLimited(kind === "read" ? github.forge.branchHead(WEB, "main") : create(github));
      expect(github.requests).toEqual([]);
      nock.cleanAll();
    },
  );

  test("are not repeated if another process is limited before the repetition", async () => {
    const { sleep } = github.clock;
    github.clock.sleep = async (ms) => {
      await stopAll();
      await sleep(ms);
    };
    github.on("GET", HEAD, 500);
    await failsLimited(github.forge.branchHead(WEB, "main"));
    expect(github.requests).toHaveLength(1);
  });

  test("are not repeated with a new token if another process is limited meanwhile", async () => {
    github.on("POST", REFS, 201, made);
    await create(github);
    stopWhileMinting();
    github.on("POST", REFS, 401, { message: "Bad credentials" });
    github.on("POST", REFS, 201, made);
    await failsLimited(create(github));
    expect(github.sent("POST", REFS)).toHaveLength(2);
    nock.cleanAll();
  });
});

describe("the permission for a write", () => {
  test("is checked immediately before the write, after the limits", async () => {
    const checked: string[] = [];
    // From now on it has a token.
    github.on("POST", REFS, 201, made);
    await create(github);
    const permitted = github.forge.with({ mayWrite: () => Promise.resolve(checked.push("asked") > 0) });
    await otherLimits.record("7", { seconds: 900, byWrite: true });
    await failsLimited(permitted.createBranch(WEB, "x", SHA));
    expect(checked).toEqual([]);
    await limitEnds();
    github.on("POST", REFS, 201, made);
    expect(await permitted.createBranch(WEB, "x", SHA)).toMatchObject({ ok: true });
    expect(checked).toEqual(["asked"]);
  });

  test("that ended is not reported as an outage of GitHub", async () => {
    const reported: string[] = [];
    const onUnavailable = (_: number, reason: string) => Promise.resolve(void reported.push(reason));
    const at = openGitHubDouble({ sharedLimits: limits, onUnavailable });
    const permitted = at.forge.with({ mayWrite: () => Promise.resolve(false) });
    await expect(permitted.createBranch(WEB, "x", SHA)).rejects.toThrow("permission for this write ended");
    expect([at.requests, reported]).toEqual([[], []]);
    at.done();
  });

  test("that could not be read fails with the error of the database", async () => {
    const permitted = github.forge.with({ mayWrite: () => Promise.reject(new Error("no database")) });
    await expect(permitted.createBranch(WEB, "x", SHA)).rejects.toThrow(/^no database$/);
    expect(github.requests).toEqual([]);
  });
});

describe("a limit for which GitHub states no time", () => {
  const message =
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.";
  /** Limits one of the processes. Returns for how many seconds. */
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

  test("counts once for calls that were sent before it began", async () => {
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
