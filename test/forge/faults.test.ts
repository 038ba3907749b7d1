import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { CREATE_REF, createBranch, hasRef, mainOf } from "../support/stories/create-branch.ts";
import { openOne } from "../support/forge/pull-requests.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";

const ME = "{ viewer { login } }";
let world: TestForge;

beforeAll(async () => {
  world = await startTestForge();
});
afterEach(async () => {
  world.forge.control.reset();
  await world.forgetReceived();
});
afterAll(() => world.stop());

describe("a fault of a call", () => {
  test("sends a response without the effect", async () => {
    const { faults } = world.forge.control;
    faults.add({ match: { operation: "createRef" }, fault: { kind: "response", status: 502 }, times: 1 });
    const name = await createBranch(world);
    expect(await hasRef(world, name)).toBe(false);
    await createBranch(world);
    expect(faults.list()).toMatchObject([{ hits: 1 }]);
  });

  test("sends an error after the effect, from the second call on", async () => {
    const { faults } = world.forge.control;
    const fault = {
      kind: "response",
      status: 502,
      body: { message: "Server Error" },
      effect: "after",
    } as const;
    faults.add({ match: { operation: "Cut" }, fault, skip: 1 });
    const { id, oid } = await mainOf(world);
    const cut = (name: string) => world.graphql(CREATE_REF, { id, name, oid });
    expect((await cut("refs/heads/fine")).status).toBe(200);
    const failed = await cut("refs/heads/done-all-the-same");
    expect(failed.status).toBe(502);
    expect(failed.body).toEqual({ message: "Server Error" });
    expect(await hasRef(world, "refs/heads/done-all-the-same")).toBe(true);
  });

  test.each(["before", "after"] as const)("a connection cut %s the effect", async (effect) => {
    world.forge.control.faults.add({
      match: { operation: "createRef" },
      fault: { kind: "reset", effect },
      times: 1,
    });
    const { id, oid } = await mainOf(world);
    const name = `refs/heads/reset-${effect}`;
    await expect(world.graphql(CREATE_REF, { id, name, oid })).rejects.toThrow("fetch failed");
    expect(await hasRef(world, name)).toBe(effect === "after");
  });

  test.each(["before", "after"] as const)(
    "a call is held %s the effect until its fault is removed",
    async (effect) => {
      const { faults } = world.forge.control;
      const held = faults.add({
        match: { operation: "createRef" },
        fault: { kind: "hold", effect },
        times: 1,
      });
      const { id, oid } = await mainOf(world);
      const name = `refs/heads/held-${effect}`;
      const cut = world.graphql(CREATE_REF, { id, name, oid });
      await eventually(
        () => Promise.resolve(faults.list()),
        ([rule]) => rule?.hits === 1,
      );
      await createBranch(world);
      const isEffective = () => hasRef(world, name);
      await eventually(isEffective, (is) => is === (effect === "after"));
      expect(await Promise.race([cut, Promise.resolve("waits")])).toBe("waits");
      expect([faults.remove(held), faults.remove(held)]).toEqual([true, false]);
      expect((await cut).status).toBe(200);
      expect(await isEffective()).toBe(true);
    },
  );

  test("sends no byte until the caller stops waiting", async () => {
    world.forge.control.faults.add({ match: { path: "/graphql" }, fault: { kind: "hang" }, times: 1 });
    const waiting = fetch(`${world.forge.rootUrl}/graphql`, {
      method: "POST",
      body: JSON.stringify({ query: ME }),
      signal: AbortSignal.timeout(50),
    });
    await expect(waiting).rejects.toThrow("timeout");
  });

  test("delays the response, and another fault may apply too", async () => {
    const { faults } = world.forge.control;
    faults.add({ match: { path: "/graphql" }, fault: { kind: "delay", ms: 40 }, times: 1 });
    faults.add({ match: { path: "/graphql" }, fault: { kind: "response", status: 504 }, times: 1 });
    const started = performance.now();
    expect((await world.graphql(ME)).status).toBe(504);
    expect(performance.now() - started).toBeGreaterThanOrEqual(38);
  });

  test("sends successes of the wrong shape", async () => {
    const { faults } = world.forge.control;
    const garble = (fault: Parameters<typeof faults.add>[0]["fault"]) => faults.add({ fault, times: 1 });
    garble({ kind: "garble", as: "html" });
    garble({ kind: "garble", as: "truncated" });
    garble({ kind: "garble", as: "without", fields: ["login"] });
    garble({ kind: "garble", as: "empty" });
    const html = await world.graphql(ME);
    expect([html.status, html.headers.get("content-type"), html.body]).toEqual([
      200,
      "text/html; charset=utf-8",
      undefined,
    ]);
    const cut = await world.graphql(ME);
    expect([cut.status, cut.body]).toEqual([200, undefined]);
    expect(cut.text).toMatch(/^\{"data":/);
    expect((await world.graphql(ME)).body).toEqual({ data: { viewer: {} } });
    expect((await world.graphql(ME)).text).toBe("");
    expect((await world.graphql(ME)).body).toEqual({ data: { viewer: { login: "ada" } } });
  });

  test("sends a list of responses, and normal ones afterwards", async () => {
    world.forge.control.script({ operation: "viewer" }, [
      { status: 500 },
      "pass",
      { status: 200, body: { data: null } },
    ]);
    const statuses = [
      await world.graphql(ME),
      await world.graphql(ME),
      await world.graphql(ME),
      await world.graphql(ME),
    ];
    expect(statuses.map((each) => each.status)).toEqual([500, 200, 200, 200]);
    expect(statuses[2]?.body).toEqual({ data: null });
    expect(statuses[3]?.body).toEqual({ data: { viewer: { login: "ada" } } });
  });
});

describe("limits and tokens", () => {
  test("apply a secondary limit to one installation only", async () => {
    const token = world.installationToken();
    const [installation] = world.forge.context.state.installations.all();
    const match = { installationId: installation!.id };
    world.forge.control.faults.add({
      match,
      fault: { kind: "rate-limit", limit: "secondary", retryAfter: 30 },
    });
    const limited = await world.graphql(ME, {}, token);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([403, "30"]);
    expect(limited.at("message")).toMatch(/secondary rate limit/);
    expect((await world.graphql(ME)).status).toBe(200);
  });

  test("report the end of a primary limit; GraphQL reports it with status 200", async () => {
    const { faults } = world.forge.control;
    faults.add({ fault: { kind: "rate-limit", limit: "primary", status: 429, resetIn: 60 } });
    const rest = await world.api("GET", "/meta");
    expect([rest.status, rest.headers.get("x-ratelimit-remaining")]).toEqual([429, "0"]);
    const reset = Number(rest.headers.get("x-ratelimit-reset")) - Date.now() / 1000;
    expect(Math.abs(reset - 60)).toBeLessThan(3);
    const graphql = await world.graphql(ME);
    expect([graphql.status, graphql.at("errors.0.type")]).toEqual([200, "RATE_LIMITED"]);
  });

  test("any error of GraphQL is sent with the path it is about", async () => {
    const error = { type: "STALE_DATA", message: "Too late", path: ["viewer", "login"] };
    world.forge.control.faults.add({ fault: { kind: "graphql-error", ...error }, times: 1 });
    expect((await world.graphql(ME)).body).toEqual({ data: { viewer: { login: null } }, errors: [error] });
    expect((await world.graphql(ME)).at("data.viewer.login")).toBe("ada");
  });

  const usedUp = "API rate limit exceeded for installation ID";
  const secondary = "You have exceeded a secondary rate limit. Please wait a few minutes";
  test.each([
    ["REST", { limit: "primary" }, 403, "0", null, { message: expect.stringContaining(usedUp) }],
    [
      "REST",
      { limit: "secondary", status: 429 },
      429,
      "4990",
      "60",
      { message: expect.stringContaining(secondary) },
    ],
    ["REST", { limit: "secondary", status: 200, retryAfter: null }, 403, "4990", null, {}],
    ["GraphQL", { limit: "primary" }, 200, "0", null, { errors: [{ type: "RATE_LIMITED" }] }],
    [
      "GraphQL",
      { limit: "primary", type: "RATE_LIMIT" },
      200,
      "0",
      null,
      { errors: [{ type: "RATE_LIMIT", code: "graphql_rate_limit" }] },
    ],
    [
      "GraphQL",
      { limit: "secondary", status: 200 },
      200,
      "4990",
      "60",
      { message: expect.stringContaining(secondary) },
    ],
    ["GraphQL", { limit: "content", retryAfter: null }, 403, "4990", null, {}],
  ] as const)("over %s, %j is %i", async (api, limit, status, remaining, retryAfter, body) => {
    const token = world.installationToken();
    const [installation] = world.forge.context.state.installations.all();
    const { control } = world.forge;
    const match = { installationId: installation!.id };
    control.faults.add({ match, fault: { kind: "rate-limit", ...limit }, times: 1 });
    const ask = () =>
      api === "GraphQL"
        ? world.graphql(ME, {}, token)
        : world.api("GET", "/repos/acme/web", undefined, token);
    const response = await ask();
    expect(response.status).toBe(status);
    expect(response.headers.get("x-ratelimit-remaining")).toBe(remaining);
    expect(response.headers.get("retry-after")).toBe(retryAfter);
    expect(response.body).toMatchObject(body);
    // It lasts until its time, for every call, and these calls are recorded.
    expect((await world.graphql(ME, {}, token)).body).not.toHaveProperty("data.viewer");
    expect(control.limits.list()).toMatchObject([{ ...match, violations: [{ route: "POST /graphql" }] }]);
    control.limits.clear();
    expect((await ask()).status).toBe(200);
  });

  test("reject revoked tokens with bad credentials", async () => {
    const token = world.installationToken();
    const [installation] = world.forge.context.state.installations.all();
    expect((await world.graphql(ME, {}, token)).at("data.viewer.login")).toBe("trunkline[bot]");
    expect(world.forge.control.revokeTokens(installation!.id)).toBeGreaterThan(0);
    const refused = await world.graphql(ME, {}, token);
    expect([refused.status, refused.at("message")]).toEqual([401, "Bad credentials"]);
  });
});

describe("stale reads", () => {
  test("do not show a new branch at first", async () => {
    world.forge.control.setStaleReads({ seconds: 2 });
    const name = await createBranch(world);
    expect(await hasRef(world, name)).toBe(false);
    expect(await eventually(() => hasRef(world, name), Boolean)).toBe(true);
  });

  test("show a pull request before its change in every read", async () => {
    const pull = await openOne(world);
    world.forge.control.setStaleReads({
      seconds: 30,
      after: { method: "PATCH", path: "/repos/*/*/pulls/*" },
    });
    const path = `/repos/acme/web/pulls/${pull.number}`;
    expect((await world.api("PATCH", path, { title: "New" })).at("title")).toBe("New");
    expect((await world.api("GET", path)).at("title")).toBe(pull.title);
    expect((await world.api("GET", "/repos/acme/web/pulls?per_page=1")).at("0.title")).toBe(pull.title);
    world.forge.control.setStaleReads(null);
    expect((await world.api("GET", path)).at("title")).toBe("New");
  });

  test("show the state of a chosen time, also for pushes", async () => {
    world.forge.control.setStaleReads({ seconds: 30 });
    await world.forge.control.takeSnapshot();
    await world.forge.commit("acme/web", "pushed", { "pushed.txt": "pushed\n" });
    expect((await world.api("GET", "/repos/acme/web/git/ref/heads/pushed")).status).toBe(404);
  });

  test("keep that state after other reads", async () => {
    world.forge.control.setStaleReads({ seconds: 30 });
    const reading = async (): Promise<void> => {
      for (let times = 0; times < 20; times++) await world.api("GET", "/repos/acme/web");
    };
    await Promise.all([world.forge.control.takeSnapshot(), reading()]);
    await world.forge.commit("acme/web", "meanwhile", { "meanwhile.txt": "meanwhile\n" });
    expect((await world.api("GET", "/repos/acme/web/git/ref/heads/meanwhile")).status).toBe(404);
  });

  test("do not apply to secrets: a new token works immediately", async () => {
    world.forge.control.setStaleReads({ seconds: 5 });
    await world.forge.control.takeSnapshot();
    expect((await world.graphql(ME, {}, world.installationToken())).status).toBe(200);
  });
});

describe("unknown mergeability", () => {
  test("lasts for a number of reads, with REST and GraphQL", async () => {
    const pull = await openOne(world);
    world.forge.control.faults.add({ fault: { kind: "mergeability-unknown" }, times: 2 });
    const path = `/repos/acme/web/pulls/${pull.number}`;
    const first = await world.api("GET", path);
    expect([first.at("mergeable"), first.at("mergeable_state")]).toEqual(["null", "unknown"]);
    const query = `query ($n: Int!) { repository(owner: "acme", name: "web") { pullRequest(number: $n) { mergeable mergeStateStatus } } }`;
    const mergeability = async () =>
      (await world.graphql(query, { n: pull.number })).at("data.repository.pullRequest.mergeable");
    expect(await mergeability()).toBe("UNKNOWN");
    expect(await mergeability()).toBe("MERGEABLE");
    expect((await world.api("GET", path)).at("mergeable")).toBe("true");
  });
});

describe("the count of calls", () => {
  test("is by route and by GraphQL operation", async () => {
    await mainOf(world);
    await createBranch(world);
    await world.api("GET", "/nowhere");
    const counts = world.forge.control.calls.read();
    expect(counts).toMatchObject({
      total: 4,
      writes: 1,
      operations: { Main: 2, repository: 2, Cut: 1, createRef: 1 },
    });
    expect(counts.routes).toEqual({ "POST /graphql": 3, "GET /nowhere": 1 });
  });
});
