import { generateKeyPairSync, randomUUID } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { buildSchema, introspectionFromSchema, printSchema } from "graphql";
import { logGraphqlGaps } from "../../src/actions/installations/check-graphql.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import type { Finding } from "../../src/actions/doctor/finding.ts";
import { NEEDED_EVENTS, NEEDED_PERMISSIONS } from "../../src/forge/github/app.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { githubSchema } from "../../sandbox/forge/graphql/serve-graphql.ts";
import type { AppRow } from "../../sandbox/forge/rows.ts";
import { eventually } from "../support/api.ts";
import { settled } from "../support/database/database-content.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { headOf } from "../support/stories/event-stream.ts";
import { useWorld } from "../support/use-world.ts";
import { METRICS_TOKEN } from "../support/world.ts";
import { JOBS } from "../../src/store/jobs.ts";

const world = useWorld();

const ANOTHER_KEY = generateKeyPairSync("rsa", { modulusLength: 2_048 })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();

/** The environment of a service that uses the test's forge and database. */
const environment = (): Record<string, string> => ({
  DATABASE_URL: world.databaseUrl,
  APP_ID: String(world.forge.app.id),
  PRIVATE_KEY: world.forge.app.privateKey,
  WEBHOOK_SECRET: world.forge.app.webhookSecret,
  GHE_HOST: new URL(world.forge.apiUrl).host,
  GHE_PROTOCOL: "http",
});

async function doctor(env: Readonly<Record<string, string>> = {}, ...args: readonly string[]) {
  const lines: string[] = [];
  const complaints: string[] = [];
  const code = await runCommandLine(["doctor", ...args], {
    env: { ...environment(), ...env },
    cwd: "/nowhere",
    pid: 1,
    print: (line) => void lines.push(line),
    printError: (line) => void complaints.push(line),
    readInput: () => Promise.resolve(""),
    untilSignal: () => Promise.resolve(),
  });
  return { code, output: lines.join("\n"), complaints: complaints.join("\n") };
}

/** The findings other than `ok`, as `about: says`. */
async function findings(env: Readonly<Record<string, string>> = {}) {
  const { code, output } = await doctor(env, "--json");
  const found = JSON.parse(output) as Finding[];
  const bad = found.filter(({ state }) => state !== "ok");
  return {
    code,
    bad: bad.map(({ about, message }) => `${about}: ${message}`),
    advice: bad.every((one) => one.advice),
  };
}

describe("trunkline doctor", () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    ["off without the App's client", {}, undefined],
    [
      "incomplete without https",
      { CLIENT_ID: "Iv1.a", CLIENT_SECRET: "b", PUBLIC_URL: "http://127.0.0.1:9" },
      "Set PUBLIC_URL to the service's https URL, without a path.",
    ],
    [
      "incomplete without the secret",
      { CLIENT_ID: "Iv1.a", PUBLIC_URL: "https://127.0.0.1:9" },
      "Set CLIENT_SECRET to a client secret, which you generate on the same page.",
    ],
    ["complete", { CLIENT_ID: "Iv1.a", CLIENT_SECRET: "b", PUBLIC_URL: "https://127.0.0.1:9" }, undefined],
  ])("reports that the console is %s", async (_, env, advice) => {
    const { output } = await doctor(env, "--json");
    const found = (JSON.parse(output) as Finding[]).filter(({ about }) => about === "console");
    expect(found.map((one) => [one.state, one.advice])).toEqual([
      [advice === undefined ? "ok" : "warning", advice],
    ]);
  });

  it("reports no problem of a correct configuration and exits with 0", async () => {
    await world.board();
    await world.forge.waitUntilIdle();
    const { code, output, complaints } = await doctor({
      PUBLIC_URL: world.service.baseUrl,
    });
    expect(output).not.toMatch(/PROBLEM|warning/);
    expect([code, complaints]).toEqual([0, ""]);
    for (const about of [
      "database",
      "migrations",
      "processes",
      "public url",
      "app",
      "clock",
      "webhook",
      "deliveries",
    ]) {
      expect(output).toContain(`ok       ${about}: `);
    }
  });

  it("reports missing permissions and suspensions of installations, without secrets", async () => {
    const board = await world.board();
    const { permissions } = world.forge.context.state.apps.all()[0] ?? { permissions: {} };
    world.forge.webUi.acceptPermissions(board.owner, { ...permissions, contents: "read" });
    const other = await world.board();
    world.forge.webUi.setSuspended(other.owner, true);
    const { code, bad, advice } = await findings();
    expect(bad).toEqual(
      expect.arrayContaining([
        `installation ${board.owner}: It does not grant contents: write.`,
        `installation ${other.owner}: It is suspended.`,
      ]),
    );
    expect([code, advice]).toEqual([1, true]);
    const { output } = await doctor();
    expect(output).not.toContain(world.forge.app.webhookSecret);
    expect(output).not.toContain("PRIVATE KEY");
    world.forge.webUi.acceptPermissions(board.owner, permissions);
    world.forge.webUi.setSuspended(other.owner, false);
  });

  it("sends nothing for the App while GitHub limits its calls", async () => {
    await world.board();
    await settled(world);
    const limit = {
      account: "app",
      limited_until: new Date(Date.now() + 60_000),
      repeats: 0,
      by_write: false,
    };
    await world.service.deps.db("forge_limits").insert(limit);
    world.forge.requests.reset();
    const { bad } = await findings();
    await world.service.deps.db("forge_limits").delete();
    expect(world.forge.requests.count(({ path }) => path.includes("/app"))).toBe(0);
    expect(bad.join(" ")).toContain("GitHub limits requests");
  });

  it("warns of webhooks that were paused after failures", async () => {
    const { api, db, workspaceId } = await world.board();
    await api.post("/v1/webhooks", { url: "https://hooks.example.com/" });
    const pause = { paused_reason: "failing", paused_at: db.fn.now() };
    await db("webhooks").where({ workspace_id: workspaceId }).update(pause);
    expect(await findings()).toEqual({
      code: 0,
      bad: ["webhooks: Webhooks paused after failures: 1."],
      advice: true,
    });
    await db("webhooks").delete();
  });

  it("warns of a webhook whose receiver has failed for an hour", async () => {
    const board = await world.board();
    const { api, db, workspaceId } = board;
    await api.post("/v1/webhooks", { url: "https://hooks.example.com/" });
    const where = { workspace_id: workspaceId };
    await db("webhooks")
      .where(where)
      .update({ next_attempt_at: db.raw("now() + interval '1 hour'") });
    await api.card();
    await headOf(board);
    await db("events")
      .where(where)
      .update({ numbered_at: db.raw("now() - interval '2 hours'") });
    const found = await findings();
    expect(found.bad).toEqual([
      expect.stringMatching(/^webhooks: A webhook has not received events for 72\d\d seconds\.$/),
    ]);
    await db("webhooks").delete();
  });

  describe("reports what the App lacks:", () => {
    /** The findings while the App is changed. */
    async function whileAppIs(change: (app: AppRow) => Partial<AppRow>) {
      const { apps } = world.forge.context.state;
      const [app] = apps.all();
      if (!app) throw new Error("no App");
      apps.save({ ...app, ...change(app) });
      try {
        return await findings();
      } finally {
        apps.save(app);
      }
    }
    const without = (permissions: AppRow["permissions"], name: string): AppRow["permissions"] =>
      Object.fromEntries(Object.entries(permissions).filter(([each]) => each !== name));

    it.each(Object.entries(NEEDED_PERMISSIONS))("the permission %s: %s", async (name, level) => {
      const { code, bad } = await whileAppIs(({ permissions }) => ({
        permissions: without(permissions, name),
      }));
      expect([code, bad]).toEqual([1, [`permissions: The App does not request ${name}: ${level}.`]]);
    });

    it.each(NEEDED_EVENTS)("the event %s", async (event) => {
      const { code, bad } = await whileAppIs(({ events }) => ({
        events: events.filter((each) => each !== event),
      }));
      expect([code, bad]).toEqual([1, [`events: The App is not subscribed to ${event}.`]]);
    });

    it("as a warning, the event installation_target, which no manifest can select", async () => {
      const { code, bad, advice } = await whileAppIs(({ events }) => ({
        events: events.filter((event) => event !== "installation_target"),
      }));
      expect([code, bad, advice]).toEqual([
        0,
        ["events: The App is not subscribed to installation_target."],
        true,
      ]);
    });

    it.each(Object.entries(NEEDED_PERMISSIONS))(
      "the permission of an installation %s: %s",
      async (name, level) => {
        const { owner } = await world.board({ repositories: [] });
        const { permissions } = world.forge.context.state.apps.all()[0] ?? { permissions: {} };
        world.forge.webUi.acceptPermissions(owner, without(permissions, name));
        const { code, bad } = await findings();
        world.forge.webUi.acceptPermissions(owner, permissions);
        expect([code, bad]).toEqual([1, [`installation ${owner}: It does not grant ${name}: ${level}.`]]);
      },
    );
  });

  it.each<[string, object, string]>([
    ["no webhook URL", { url: "" }, "webhook: The App has no webhook URL."],
    ["no webhook secret", { secret: undefined }, "webhook: The App has no webhook secret."],
    ["webhooks as forms", { content_type: "form" }, "webhook: Webhooks are not sent as JSON."],
  ])("reports an App with %s", async (_, change, expected) => {
    const { webhookUrl: url } = world.service;
    const body = { content_type: "json", secret: "********", insecure_ssl: "0", url, ...change };
    world.forge.control.script({ method: "GET", path: "/app/hook/config" }, [{ status: 200, body }]);
    const { code, bad } = await findings();
    expect([code, bad]).toEqual([1, [expected]]);
  });

  describe("reports GitHub's GraphQL API", () => {
    const introspection = { path: "/graphql", operation: "IntrospectionQuery" };
    const send = (status: number, body: unknown) =>
      world.forge.control.script(introspection, [{ status, body }]);
    const schemaWithout = (field: string) =>
      buildSchema(printSchema(githubSchema()).replace(new RegExp(`^ +${field}\\b.*$`, "m"), ""));
    const logAtStart = async () => {
      const before = world.logged().length;
      await logGraphqlGaps(world.service.deps);
      return world.logged().slice(before);
    };

    it("as missing if it is not found, also at the start", async () => {
      send(404, { message: "Not Found" });
      const { code, bad, advice } = await findings();
      const says = "GitHub has no GraphQL API at this address";
      expect([code, bad, advice]).toEqual([1, [`graphql: ${says}.`], true]);
      send(404, { message: "Not Found" });
      expect(await logAtStart()).toContain(says);
    });

    it("as too old if it lacks a field, also at the start", async () => {
      const body = { data: introspectionFromSchema(schemaWithout("isInMergeQueue")) };
      send(200, body);
      const { code, bad } = await findings();
      const says = /Cannot query field "isInMergeQueue" on type "PullRequest"\./;
      expect([code, bad]).toEqual([1, [expect.stringMatching(says)]]);
      send(200, body);
      expect(JSON.parse(await logAtStart())).toMatchObject({
        level: 50,
        lacking: [expect.stringMatching(says)],
      });
    });

    it("as complete where it is", async () => {
      expect((await doctor()).output).toContain("ok       graphql: ");
      expect(await logAtStart()).toBe("");
    });
  });

  it("reports a clock that differs from GitHub's", async () => {
    const { control } = world.forge;
    let body: unknown;
    const unobserve = control.observe({
      onResponse: ({ path }, result) => {
        if (path === "/app") body = result.body;
      },
    });
    await findings();
    unobserve();
    const date = new Date(Date.now() + 120_000).toUTCString();
    control.script({ method: "GET", path: "/app" }, [{ status: 200, body, headers: { date } }]);
    const { bad } = await findings();
    expect(bad).toContainEqual(
      expect.stringMatching(/^clock: The clock of this machine is 1[12]\d seconds behind GitHub's\.$/),
    );
  });

  it("reports a pending migration", async () => {
    const { db } = world.service.deps;
    const [last] = (await db("knex_migrations").orderBy("id", "desc").limit(1)) as { name: string }[];
    await db("knex_migrations").where({ name: last?.name }).delete();
    const { code, bad } = await findings();
    await db("knex_migrations").insert({ ...last });
    expect([code, bad[0]]).toEqual([1, `migrations: Not yet applied: ${last?.name}.`]);
  });

  it("reports parked deliveries", async () => {
    const { db } = world.service.deps;
    await db("deliveries").insert({
      guid: "aside",
      event: "ping",
      lane: "x",
      payload: "{}",
      state: "parked",
    });
    const { code, bad } = await findings();
    await db("deliveries").where({ guid: "aside" }).delete();
    expect(bad).toContain("deliveries: Deliveries parked after too many failures: 1.");
    expect(code).toBe(1);
  });

  it("warns of scheduled jobs that failed permanently, until one succeeds", async () => {
    const { db } = world.service.deps;
    const run = () => addJob(db, JOBS.recoverMissedDeliveries.name, {}, { maxAttempts: 1 });
    world.forge.control.faults.add({
      match: { path: "/app/hook/deliveries" },
      fault: { kind: "response", status: 502 },
    });
    for (let runs = 0; runs < 2; runs++) await run();
    await eventually(
      () => findings(),
      ({ bad }) => bad.includes("jobs: Jobs that failed permanently: 2."),
    );
    world.forge.control.faults.clear();
    await run();
    const healed = await eventually(
      () => findings(),
      ({ bad }) => bad.length === 0,
    );
    expect(healed.code).toBe(0);
  });

  it("warns of a job that failed permanently, until it succeeds", async () => {
    const { db } = world.service.deps;
    await addJob(db, JOBS.recheckBlocked.name, { cardId: randomUUID() }, { delayMs: 3_600_000 });
    await db.raw(
      "select graphile_worker.permanently_fail_jobs(array(select id from graphile_worker.jobs where task_identifier = ?))",
      [JOBS.recheckBlocked.name],
    );
    expect((await findings()).bad).toEqual(["jobs: Jobs that failed permanently: 1."]);
    await commandLineOf(world).json("repair");
    await eventually(
      () => findings(),
      ({ bad }) => bad.length === 0,
    );
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ["the id of another App", { APP_ID: "987654" }, /^app: GitHub does not accept our credentials/],
    ["an unreachable forge", { GHE_HOST: "127.0.0.1:1" }, /^app: GitHub did not respond/],
    ["a key of another App", { PRIVATE_KEY: ANOTHER_KEY }, /^app: GitHub does not accept our credentials/],
    ["an invalid key", { PRIVATE_KEY: "abc" }, /^configuration: PRIVATE_KEY is not a private key/],
    ["an unreachable public URL", { PUBLIC_URL: "http://127.0.0.1:1" }, /^public url: Nothing responds/],
    ["an invalid public URL", { PUBLIC_URL: "localhost:3000" }, /^configuration: PUBLIC_URL must be the URL/],
    ["an unreachable database", { DATABASE_URL: "postgres://nobody@127.0.0.1:1/x" }, /^database: /],
    ["a missing setting", { WEBHOOK_SECRET: "" }, /^configuration: WEBHOOK_SECRET is not set/],
    [
      "a short webhook secret",
      { WEBHOOK_SECRET: "development" },
      /^configuration: WEBHOOK_SECRET must have at least 32 characters/,
    ],
  ])("reports %s and continues with the other checks", async (_, env, expected) => {
    const { code, bad } = await findings(env);
    expect(bad).toEqual(expect.arrayContaining([expect.stringMatching(expected)]));
    expect(code).toBe(1);
    const { output } = await doctor(env, "--json");
    const abouts = (JSON.parse(output) as Finding[]).map(({ about }) => about);
    expect(abouts).toContain("database");
    expect(abouts.some((about) => about === "app" || about === "configuration")).toBe(true);
  });

  it("reports a webhook secret other than the service's until a delivery is accepted", async () => {
    const { owner } = await world.board({ repositories: [] });
    const { apps } = world.forge.context.state;
    const [app] = apps.all();
    if (!app) throw new Error("no App");
    const suspend = async (isSuspended: boolean): Promise<void> => {
      world.forge.webUi.setSuspended(owner, isSuspended);
      await world.forge.waitUntilIdle();
    };
    apps.save({ ...app, webhookSecret: "another secret than the service has" });
    for (const isSuspended of [true, false]) await suspend(isSuspended);
    const wrong = await findings({ WEBHOOK_SECRET: "another secret than the service has" });
    expect([wrong.code, wrong.advice]).toEqual([1, true]);
    expect(wrong.bad).toEqual([
      expect.stringMatching(
        /^webhook secret: 2 of .* deliveries were not accepted\. The newest got 401: .* differs from the running service's\.$/,
      ),
    ]);
    const metrics = await fetch(`${world.service.baseUrl}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    });
    expect(await metrics.text()).toContain(
      'trunkline_deliveries_total{source="webhook",result="refused"} 2\n',
    );
    const warnings = world
      .logged()
      .split("\n")
      .filter((line) => line.includes("another secret than WEBHOOK_SECRET"));
    expect(warnings).toHaveLength(1);
    expect(JSON.parse(warnings[0] ?? "{}")).toMatchObject({ level: 40, requestId: expect.any(String) });
    expect(world.logged()).not.toContain(app.webhookSecret);

    apps.save(app);
    for (const isSuspended of [true, false]) await suspend(isSuspended);
    expect((await findings()).bad).toEqual([
      expect.stringMatching(/^deliveries: 2 of .* deliveries were not accepted\.$/),
    ]);
    await commandLineOf(world).json("repair");
    await eventually(
      () => findings(),
      ({ bad }) => bad.length === 0,
    );
  });

  it("reports a webhook URL that is not the service's, and failed deliveries", async () => {
    const { webhookUrl } = world.service;
    world.forge.setWebhookUrl(`${world.service.baseUrl}/elsewhere`);
    const board = await world.board();
    for (const isSuspended of [true, false]) world.forge.webUi.setSuspended(board.owner, isSuspended);
    await world.forge.waitUntilIdle();
    const { bad } = await findings({ PUBLIC_URL: world.service.baseUrl });
    world.forge.setWebhookUrl(webhookUrl);
    expect(bad).toEqual([
      `webhook: Webhooks go to ${world.service.baseUrl}/elsewhere, not to ${webhookUrl}.`,
      expect.stringMatching(
        /^deliveries: \d+ of GitHub's last \d+ deliveries were not accepted\. The newest failed: Invalid HTTP Response: 404\.$/,
      ),
    ]);
  });
});
