import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import nock from "nock";
import { pino } from "pino";
import { createLimits } from "../../src/forge/github/calls/limits.ts";
import { limitIn } from "../../src/forge/github/calls/reported-limits.ts";
import { CompleteResponse } from "../../src/forge/github/calls/transport.ts";
import { ForgeUnavailable } from "../../src/forge/values.ts";
import { API, type GitHubDouble, openGitHubDouble, SHA, WEB } from "../support/forge/github-double.ts";

const REF = "/repositories/42/git/ref/heads/main";
const REFS = "/repositories/42/git/refs";
const ref = { ref: "refs/heads/main", object: { sha: SHA } };
const DAY_MS = 86_400_000;
const HOUR_ENDS = Date.parse("2026-03-02T11:00:00Z");
const elsewhere = { ...WEB, installationId: 8 };

let github: GitHubDouble;
beforeEach(() => {
  github = openGitHubDouble();
});
afterEach(() => github.done());

const failure = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error);
function tokensRefused(status: number, message: string): void {
  nock.cleanAll();
  nock(API).persist().post("/app/installations/7/access_tokens").reply(status, { message });
}

const head = () => github.forge.branchHead(WEB, "main");

describe("a rate limit of GitHub", () => {
  // Fault: C4 The hourly limit is used up => 503 with a time; other installations continue
  test("for the hour fails immediately with the time of its end", async () => {
    const reset = Math.floor(github.clock.now() / 1_000) + 2_400;
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset) };
    github.on("GET", REF, 403, { message: "API rate limit exceeded for installation ID 7." }, headers);
    expect(await failure(head())).toMatchObject({ name: "ForgeUnavailable", retryAfter: 2_401 });
    expect(github.clock.slept).toEqual([]);
    github.clock.pass(2_000_000);
    expect(await failure(head())).toMatchObject({ retryAfter: 401 });
    expect(github.requests).toHaveLength(1);
    github.clock.pass(401_000);
    github.on("GET", REF, 200, ref);
    expect(await head()).toBe(SHA);
  });

  test("leaves a fifth of the hour to moves: reads of GET routes wait for its end, and other installations go on", async () => {
    const reset = Math.floor(github.clock.now() / 1_000) + 600;
    const remaining = (left: number) => ({
      "x-ratelimit-limit": "5000",
      "x-ratelimit-remaining": String(left),
      "x-ratelimit-reset": String(reset),
      "x-ratelimit-resource": "core",
    });
    const optional = github.forge.with({ leavesReserve: true });
    github.on("GET", REF, 200, ref, remaining(1_000));
    expect(await optional.branchHead(WEB, "main")).toBe(SHA);
    github.on("GET", REF, 200, ref, remaining(999));
    expect(await optional.branchHead(WEB, "main")).toBe(SHA);
    expect(await failure(optional.branchHead(WEB, "main"))).toMatchObject({
      name: "ForgeUnavailable",
      reason: "rate_limit",
      retryAfter: 600,
    });
    github.on("GET", REF, 200, ref, remaining(998));
    github.on("GET", REF, 200, ref);
    expect([await head(), await optional.branchHead(elsewhere, "main")]).toEqual([SHA, SHA]);
    github.clock.pass(601_000);
    github.on("GET", REF, 200, ref);
    expect(await optional.branchHead(WEB, "main")).toBe(SHA);
  });

  test("per minute is not reached by reads of GET routes: after a burst, five per second are sent", async () => {
    const optional = github.forge.with({ leavesReserve: true });
    for (let nth = 0; nth < 202; nth++) github.on("GET", REF, 200, ref);
    for (let nth = 0; nth < 200; nth++) await optional.branchHead(WEB, "main");
    expect(await failure(optional.branchHead(WEB, "main"))).toMatchObject({ retryAfter: 1 });
    expect(await head()).toBe(SHA);
    github.clock.pass(400);
    expect(await optional.branchHead(WEB, "main")).toBe(SHA);
  });

  // People are accounts, too, and each of their tokens is another one.
  test("is remembered for the 10,000 accounts that were called last", async () => {
    const limits = createLimits(github.clock, null, pino({ level: "silent" }));
    const response = (status: number, headers: Record<string, string>) => async () =>
      new CompleteResponse(status, new Headers(headers), Buffer.from("{}"));
    const used = { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9e9" };
    const call = (account: string, status = 200, headers = {}) =>
      limits.guard({ account, kind: "read", url: API }, response(status, headers));
    const isReserved = (account: string): boolean => {
      try {
        limits.takeOptional(account, "rest");
        return false;
      } catch {
        return true;
      }
    };
    const isLimited = async (account: string) => (await failure(limits.check(account))) !== undefined;
    const known = async () => [isReserved("reserved"), isReserved("burst"), await isLimited("limited")];
    await call("reserved", 200, { ...used, "x-ratelimit-resource": "core" });
    for (let nth = 0; nth < 200; nth++) limits.takeOptional("burst", "rest");
    await failure(call("limited", 429, { "retry-after": "3600" }));
    expect(await known()).toEqual([true, true, true]);
    const others = async (count: number, name: string) => {
      for (let nth = 0; nth < count; nth++) {
        limits.takeOptional(`${name} ${nth}`, "rest");
        await failure(call(`${name} ${nth}`, 429, { "retry-after": "3600" }));
      }
    };
    await others(9_000, "some");
    expect(await known()).toEqual([true, true, true]);
    await others(10_000, "more");
    expect(await known()).toEqual([false, false, false]);
  });

  // Fault: E12
  test.each([-DAY_MS, 0, DAY_MS])(
    "lasts until its hour ends if the clock is wrong by %i ms",
    async (skew) => {
      const now = HOUR_ENDS - 60_000;
      const headers = new Headers({
        "x-ratelimit-reset": String(HOUR_ENDS / 1_000),
        "x-ratelimit-remaining": "0",
        date: new Date(now).toUTCString(),
      });
      const body = { message: "API rate limit exceeded for installation ID 1." };
      const response = new CompleteResponse(403, headers, Buffer.from(JSON.stringify(body)));
      expect(await limitIn(`${API}/user`, response, now + skew)).toEqual({ seconds: 61 });
    },
  );

  test("also stops repetitions", async () => {
    const message =
      "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    const { sleep } = github.clock;
    github.clock.sleep = async (ms) => {
      github.on("POST", REFS, 403, { message }, { "retry-after": "90" });
      expect(await failure(github.forge.createBranch(WEB, "x", SHA))).toMatchObject({ retryAfter: 90 });
      await sleep(ms);
    };
    github.on("GET", REF, 502);
    expect(await failure(head())).toMatchObject({ name: "ForgeUnavailable", retryAfter: 90 });
    expect(github.sent("GET", REF)).toHaveLength(1);
  });

  // Fault: C5 GitHub sets a secondary limit => every process waits
  test.each([403, 429])("on the rate of calls is obeyed after a %i", async (status) => {
    const message =
      "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    github.on("POST", REFS, status, { message }, { "retry-after": "90" });
    expect(await failure(github.forge.createBranch(WEB, "x", SHA))).toMatchObject({ retryAfter: 90 });
    github.clock.pass(89_000);
    expect(await failure(head())).toMatchObject({ retryAfter: 1 });
    expect(github.requests).toHaveLength(1);
  });

  test("applies to one installation only", async () => {
    github.on("GET", REF, 429, { message: "Too many requests" });
    expect(await failure(head())).toBeInstanceOf(ForgeUnavailable);
    github.on("GET", REF, 200, ref);
    expect(await github.forge.branchHead(elsewhere, "main")).toBe(SHA);
  });

  const primary = "API rate limit exceeded for installation ID 7.";
  const secondary =
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
  const content =
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.";
  const usedUp = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "in 10 minutes" };
  const left = { "x-ratelimit-remaining": "4990", "x-ratelimit-reset": "in 10 minutes" };
  const inErrors = (error: object) => ({ data: null, errors: [error] });
  const code = "graphql_rate_limit";

  describe.each([
    ["REST", 403, { message: primary }, usedUp, 601],
    ["REST", 429, { message: primary }, usedUp, 601],
    ["REST", 403, { message: secondary }, { "retry-after": "90", ...left }, 90],
    ["REST", 429, { message: content }, { "retry-after": "90" }, 90],
    ["REST", 403, { message: secondary }, left, 60],
    ["REST", 403, { message: secondary }, usedUp, 601],
    ["REST", 429, "", {}, 60],
    ["GraphQL", 200, { errors: [{ type: "RATE_LIMITED", message: primary }] }, usedUp, 601],
    ["GraphQL", 200, inErrors({ type: "RATE_LIMIT", code, message: primary }), usedUp, 601],
    ["GraphQL", 200, inErrors({ code, message: "Too much" }), {}, 60],
    ["GraphQL", 200, inErrors({ type: "RATE_LIMIT", code }), { "retry-after": "90" }, 90],
    ["GraphQL", 200, { message: secondary }, { "retry-after": "90", ...left }, 90],
    ["GraphQL", 200, { message: secondary }, left, 60],
    ["GraphQL", 200, inErrors({ message: secondary }), left, 60],
    ["GraphQL", 403, { message: secondary }, left, 60],
    ["GraphQL", 403, { message: content }, { "retry-after": "90" }, 90],
  ] as const)("over %s, answered %i %j with %j", (api, status, body, headers, retryAfter) => {
    const question = { repository: WEB, branchName: null, targetBranch: null };
    const asked = {
      REST: () => github.forge.createBranch(WEB, "x", SHA),
      GraphQL: () => github.forge.inspect([question]),
    };

    test("stops every call until its time", async () => {
      const reset = String(Math.floor(github.clock.now() / 1_000) + 600);
      const sent = { ...headers, ...("x-ratelimit-reset" in headers && { "x-ratelimit-reset": reset }) };
      const path = api === "REST" ? REFS : "/graphql";
      github.on("POST", path, status, body, sent);
      const until = new Date(github.clock.now() + retryAfter * 1_000);
      expect(await failure(asked[api]())).toMatchObject({
        name: "ForgeUnavailable",
        message: `GitHub limits requests until ${until.toISOString().replace(".000", "")}`,
        retryAfter,
        until,
      });
      github.clock.pass(retryAfter * 1_000 - 1);
      for (const call of [asked.REST, asked.GraphQL, head])
        expect(await failure(call())).toMatchObject({ retryAfter: 1, until });
      expect(github.requests).toHaveLength(1);
      github.clock.pass(1);
      github.on("GET", REF, 200, ref);
      expect(await head()).toBe(SHA);
    });
  });

  test("stops requests for a token, too", async () => {
    nock.cleanAll();
    nock(API).post("/app/installations/7/access_tokens").reply(403, { message: secondary });
    expect(await failure(head())).toMatchObject({ retryAfter: 60 });
    expect(await failure(head())).toMatchObject({ retryAfter: 60 });
  });

  test("is not read from the texts of users", async () => {
    const errors = [
      { type: "NOT_FOUND", path: ["r0"], message: "Nothing is named 'API rate limit exceeded'" },
    ];
    github.on("POST", "/graphql", 200, { data: { r0: null }, errors });
    github.on("GET", "/repositories/42", 404, { message: "Not Found" });
    github.on("GET", "/repos/acme/web", 404, { message: "Not Found" });
    const question = { repository: WEB, branchName: "rate limit", targetBranch: null };
    expect(await github.forge.inspect([question])).toMatchObject([{ refusal: { reason: "not_permitted" } }]);
  });

  test("is distinguished from a refusal with the same status", async () => {
    const headers = { "x-ratelimit-remaining": "0" };
    github.on("POST", REFS, 403, { message: "Resource not accessible by integration" }, headers);
    expect(await github.forge.createBranch(WEB, "x", SHA)).toMatchObject({
      ok: false,
      refusal: { reason: "not_permitted" },
    });
  });
});

describe("a missing permission", () => {
  const message = "Resource not accessible by integration";

  test("is named in the refusal of a write, with the alternatives", async () => {
    const accepted = "contents=write; contents=write,workflows=write";
    github.on("POST", REFS, 403, { message }, { "x-accepted-github-permissions": accepted });
    expect(await github.forge.createBranch(WEB, "x", SHA)).toEqual({
      ok: false,
      refusal: {
        reason: "not_permitted",
        message,
        details: { permissions: ["contents: write", "contents: write and workflows: write"] },
      },
    });
  });

  test("is named in the error of a read", async () => {
    github.on("GET", REF, 403, { message }, { "x-accepted-github-permissions": "contents=read" });
    expect(await failure(head())).toMatchObject({
      name: "ForgeUnavailable",
      cause: { message: expect.stringMatching(/responded with 403, requires contents: read$/) },
    });
  });
});

describe("a token that lacks a permission", () => {
  const forbidden = { message: "Resource not accessible by integration" };

  const INSTALLATION = "/app/installations/7";
  const isAsked = () => github.sent("GET", INSTALLATION).length;
  const refused = { ok: false, refusal: { reason: "not_permitted" } };
  /** What an owner grants; a token keeps what was granted when it was created. */
  let granted: Record<string, string>;
  beforeEach(async () => {
    github.done();
    granted = { contents: "read", metadata: "read" };
    github = openGitHubDouble({ permissions: granted });
    github.on("GET", REF, 200, ref);
    await head();
    github.clock.pass(60_000);
  });
  const asksInstallation = () => github.on("GET", INSTALLATION, 200, () => ({ permissions: granted }));

  test("is replaced once, because the permission may have been granted since", async () => {
    granted["contents"] = "write";
    github.on("POST", REFS, 403, forbidden);
    asksInstallation();
    github.on("POST", REFS, 201, ref);
    expect(await github.forge.createBranch(WEB, "x", SHA)).toMatchObject({ ok: true });
    github.on("POST", REFS, 403, forbidden);
    expect(await github.forge.createBranch(WEB, "y", SHA)).toMatchObject(refused);
    expect(github.sent("POST", "/refs").map(({ headers }) => headers["authorization"])).toEqual([
      "token ghs_test.1",
      "token ghs_test.2",
      "token ghs_test.2",
    ]);
  });

  test("is replaced once for concurrent calls", async () => {
    granted["contents"] = "write";
    for (let calls = 0; calls < 2; calls++) github.on("POST", REFS, 403, forbidden);
    asksInstallation();
    for (let calls = 0; calls < 2; calls++) github.on("POST", REFS, 201, ref);
    const names = ["x", "y"];
    const created = await Promise.all(names.map((name) => github.forge.createBranch(WEB, name, SHA)));
    expect([created.map(({ ok }) => ok), github.minted]).toEqual([[true, true], 2]);
  });

  test("is not replaced while the permission is not granted, and GitHub is asked once a minute", async () => {
    for (let minutes = 0; minutes < 120; minutes++) {
      asksInstallation();
      for (let calls = 0; calls < 3; calls++) {
        github.on("POST", REFS, 403, forbidden);
        expect(await github.forge.createBranch(WEB, "x", SHA)).toMatchObject(refused);
        github.clock.pass(20_000);
      }
    }
    expect([github.minted, isAsked()]).toEqual([1, 120]);
    granted["contents"] = "write";
    github.on("POST", REFS, 403, forbidden);
    asksInstallation();
    github.on("POST", REFS, 201, ref);
    expect(await github.forge.createBranch(WEB, "x", SHA)).toMatchObject({ ok: true });
  });

  test("is replaced once if the new one seems to lack it as well", async () => {
    // Octokit caches it as `read`.
    granted["organization_projects"] = "admin";
    for (let calls = 0; calls < 5; calls++) {
      asksInstallation();
      for (let sent = calls === 0 ? 0 : 1; sent < 2; sent++) github.on("POST", REFS, 403, forbidden);
      expect(await github.forge.createBranch(WEB, "x", SHA)).toMatchObject(refused);
      github.clock.pass(600_000);
    }
    expect([github.minted, isAsked()]).toEqual([2, 5]);
  });

  test("stays if GitHub cannot be asked what is granted", async () => {
    granted["contents"] = "write";
    github.on("POST", REFS, 403, forbidden);
    for (let repeats = 0; repeats < 3; repeats++) github.on("GET", INSTALLATION, 502);
    expect(await github.forge.createBranch(WEB, "x", SHA)).toMatchObject(refused);
    expect(github.minted).toBe(1);
  });

  describe("for a mutation", () => {
    const error = (...path: string[]) => ({ type: "FORBIDDEN", path, ...forbidden });
    const conflict = { type: "UNPROCESSABLE", path: ["t1"], message: "Reference already exists" };
    const tags = ["v1", "v2"].map((tagName) => ({
      repository: { ...WEB, nodeId: "R_1" },
      tagName,
      sha: SHA,
    }));
    const created = { ref: { target: { oid: SHA } } };
    beforeEach(() => {
      granted["contents"] = "write";
    });

    test.each([
      { data: { t0: null, t1: null }, errors: [error("t0"), error("t1")] },
      { data: null, errors: [error("t0"), error("t1")] },
      { errors: [{ type: "FORBIDDEN", ...forbidden }] },
    ])("is replaced, and the mutation is sent again if it changed nothing: %j", async (body) => {
      github.on("POST", "/graphql", 200, body);
      asksInstallation();
      github.on("POST", "/graphql", 200, { data: { t0: created, t1: created } });
      expect(await github.forge.createTags(tags)).toEqual([true, true]);
      expect(github.minted).toBe(2);
    });

    test.each([
      [[true, false], { data: { t0: created, t1: null }, errors: [error("t1")] }],
      [[false, false], { data: { t0: null, t1: null }, errors: [error("t0", "ref"), error("t1")] }],
      [[false, false], { data: { t0: null, t1: null }, errors: [error("t0"), conflict] }],
      [[false, false], { data: { t0: null, t1: null }, errors: [error("t0")] }],
      [[false, false], { data: null, errors: [error("t1")] }],
    ])("is not sent again if it may have changed something: %j %j", async (expected, body) => {
      github.on("POST", "/graphql", 200, body);
      expect(await github.forge.createTags(tags)).toEqual(expected);
      expect([github.sent("POST", "/graphql").length, isAsked(), github.minted]).toEqual([1, 0, 1]);
    });
  });

  test("is replaced for a part of a query, too", async () => {
    granted["contents"] = "write";
    const question = { repository: WEB, branchName: null, targetBranch: null };
    const target = { name: "main", target: { oid: SHA } };
    const found = { databaseId: 42, nameWithOwner: "acme/web", defaultBranchRef: null, target };
    const errors = [{ type: "FORBIDDEN", path: ["r0", "defaultBranchRef"], ...forbidden }];
    github.on("POST", "/graphql", 200, { data: { r0: found }, errors });
    asksInstallation();
    const all = { ...found, defaultBranchRef: { name: "main" } };
    github.on("POST", "/graphql", 200, { data: { r0: all } });
    expect(await github.forge.inspect([question])).toMatchObject([{ target: { sha: SHA } }]);
  });

  test("is not used after its installation has changed", async () => {
    await github.forge.forgetToken(7);
    await github.forge.forgetToken(8);
    for (let calls = 0; calls < 2; calls++) {
      github.on("GET", REF, 200, ref);
      await head();
    }
    expect(github.requests.map(({ headers }) => headers["authorization"])).toEqual([
      "token ghs_test.1",
      "token ghs_test.2",
      "token ghs_test.2",
    ]);
  });

  test("is named in place of the 404 with which GitHub hides it", async () => {
    github.done();
    github = openGitHubDouble({ permissions: { contents: "write", metadata: "read" } });
    const needs = { "x-accepted-github-permissions": "contents=write,workflows=write" };
    github.on("POST", REFS, 404, { message: "Not Found" }, needs);
    const { ok, refusal } = Object(await github.forge.createBranch(WEB, "x", SHA));
    expect([ok, refusal]).toEqual([
      false,
      {
        reason: "not_permitted",
        message: "Not Found. The App lacks the permission workflows: write.",
        details: { permissions: ["contents: write and workflows: write"] },
      },
    ]);
    // Something is missing if the token has what the call requires.
    github.on(
      "GET",
      REF,
      404,
      { message: "Not Found" },
      { "x-accepted-github-permissions": "contents=read" },
    );
    expect(await head()).toBeNull();
    github.on("GET", REF, 404, { message: "Not Found" }, { "x-accepted-github-permissions": "issues=read" });
    expect(await failure(head())).toBeInstanceOf(Error);
  });
});

// Fault: C12 A token is rejected => Trunkline gets a new one, at most twice a minute; then 503
describe("a token that GitHub rejects", () => {
  const bad = { message: "Bad credentials" };

  test("is replaced once, and the call is repeated, also a write", async () => {
    github.on("POST", REFS, 401, bad);
    github.on("POST", REFS, 201, { ref: "refs/heads/x", object: { sha: SHA } });
    expect(await github.forge.createBranch(WEB, "x", SHA)).toEqual({ ok: true, value: { created: true } });
    expect(github.requests.map((request) => request.headers["authorization"])).toEqual([
      "token ghs_test.1",
      "token ghs_test.2",
    ]);
    github.on("GET", REF, 200, ref);
    await head();
    expect(github.requests[2]?.headers["authorization"]).toBe("token ghs_test.2");
  });

  // Fault: E12
  test("is replaced by a process whose clock is fast, too", async () => {
    github.done();
    github = openGitHubDouble({ behindMs: 600_000 });
    github.on("GET", REF, 401, bad);
    github.on("GET", REF, 200, ref);
    expect(await head()).toBe(SHA);
    expect(github.minted).toBe(2);
  });

  test("is replaced at most twice a minute", async () => {
    for (let tries = 0; tries < 3; tries++) github.on("GET", REF, 401, bad);
    expect(await failure(head())).toMatchObject({ name: "ForgeUnavailable", retryAfter: 60 });
    github.on("GET", REF, 401, bad);
    expect(await failure(head())).toMatchObject({ name: "ForgeUnavailable", retryAfter: 60 });
    expect(github.minted).toBe(2);
  });

  test("is replaced again within the minute if it had been accepted", async () => {
    github.on("GET", REF, 401, bad);
    github.on("GET", REF, 200, ref);
    expect(await head()).toBe(SHA);
    for (let calls = 0; calls < 3; calls++) github.on("GET", REF, 401, bad);
    for (let calls = 0; calls < 3; calls++) github.on("GET", REF, 200, ref);
    expect(await Promise.all([head(), head(), head()])).toEqual([SHA, SHA, SHA]);
    expect(github.minted).toBe(3);
  });

  test("is replaced within the minute if no new token was available", async () => {
    github.on("GET", REF, 200, ref);
    await head();
    const minting = /\/access_tokens$/;
    nock.cleanAll();
    nock(API).post(minting).reply(401, bad);
    github.on("GET", REF, 401, bad);
    expect(await failure(head())).toMatchObject({ name: "ForgeUnavailable" });
    nock(API).post(minting).reply(201, { token: "ghs_good", permissions: {} });
    github.on("GET", REF, 401, bad);
    github.on("GET", REF, 200, ref);
    expect(await head()).toBe(SHA);
    expect(github.requests.at(-1)?.headers["authorization"]).toBe("token ghs_good");
  });

  test("is replaced once for concurrent calls", async () => {
    github.on("GET", REF, 200, ref);
    await head();
    for (let calls = 0; calls < 3; calls++) {
      github.on("GET", REF, 401, bad);
    }
    for (let calls = 0; calls < 3; calls++) github.on("GET", REF, 200, ref);
    expect(await Promise.all([head(), head(), head()])).toEqual([SHA, SHA, SHA]);
    expect(github.minted).toBe(2);
  });
});

// Fault: C13
describe("an installation without access", () => {
  const question = { repository: WEB, branchName: "x", targetBranch: null };

  test.each([
    [403, "This installation has been suspended"],
    [404, "Not Found"],
  ])("refuses reads and writes with GitHub's message: %i %s", async (status, message) => {
    tokensRefused(status, message);
    const refusal = { reason: "not_permitted", message, details: { connection: "refused" } };
    expect(await github.forge.createBranch(WEB, "x", SHA)).toEqual({ ok: false, refusal });
    expect(await github.forge.inspect([question])).toEqual([{ refusal }]);
    expect(await github.forge.repositories(7)).toMatchObject({ ok: false });
    expect(await github.forge.repository(WEB)).toBeNull();
    await expect(head()).rejects.toThrow(ForgeUnavailable);
  });

  test("may be suspended while a token is still valid", async () => {
    github.on("POST", REFS, 403, { message: "This installation has been suspended" });
    expect(await github.forge.createBranch(WEB, "x", SHA)).toMatchObject({
      ok: false,
      refusal: { reason: "not_permitted", message: "This installation has been suspended" },
    });
  });

  test("may be deleted while a token is cached: the next one is refused", async () => {
    github.on("GET", REF, 200, ref);
    await head();
    tokensRefused(404, "Not Found");
    github.on("POST", REFS, 401, { message: "Bad credentials" });
    expect(await github.forge.createBranch(WEB, "x", SHA)).toEqual({
      ok: false,
      refusal: { reason: "not_permitted", message: "Not Found", details: { connection: "refused" } },
    });
  });

  test("is not refused if the App's key is rejected", async () => {
    tokensRefused(401, "A JSON web token could not be decoded");
    await expect(github.forge.createBranch(WEB, "x", SHA)).rejects.toThrow("does not accept our credentials");
  });

  test("gets its token after a temporary error", async () => {
    nock.cleanAll();
    nock(API).post("/app/installations/7/access_tokens").reply(502);
    nock(API).post("/app/installations/7/access_tokens").reply(201, { token: "ghs_late" });
    github.on("GET", REF, 200, ref);
    expect(await head()).toBe(SHA);
  });
});

describe("logs and errors", () => {
  test("have no token, body or name", async () => {
    for (let tries = 0; tries < 3; tries++) {
      github.on("POST", REFS, 500, { message: "secret words" }, { "x-github-request-id": "AB:12" });
      github.on("GET", "/repositories/42/git/ref/heads/secret%2Fbranch", 404, {});
    }
    const thrown = await failure(github.forge.createBranch(WEB, "secret/branch", SHA));
    const output = `${github.logged.join("")}${JSON.stringify(thrown)}${String((thrown as Error).cause)}`;
    expect(output).not.toMatch(/ghs_|secret|BEGIN|authorization/i);
    expect(github.logged.join("")).toContain('"requestId":"AB:12"');
    expect(github.logged.join("")).toContain("/repositories/{repository_id}/git/refs");
  });
});
