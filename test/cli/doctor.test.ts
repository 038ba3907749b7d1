import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { runCommandLine } from "../../src/cli/run.ts";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** The environment of a service against the world's forge and database. */
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
    complain: (line) => void complaints.push(line),
    readInput: () => Promise.resolve(""),
    untilSignal: () => Promise.resolve(),
  });
  return { code, said: lines.join("\n"), complaints: complaints.join("\n") };
}

/** What it found other than well, as `about: says`. */
async function findings(env: Readonly<Record<string, string>> = {}) {
  const { code, said } = await doctor(env, "--json");
  const found = JSON.parse(said) as Finding[];
  const bad = found.filter(({ state }) => state !== "ok");
  return {
    code,
    bad: bad.map(({ about, says }) => `${about}: ${says}`),
    advised: bad.every((one) => one.advice),
  };
}

describe("trunkline doctor", () => {
  it("finds nothing to do where all is well, and exits with 0", async () => {
    await world.board();
    await world.forge.settle();
    const { code, said, complaints } = await doctor({
      PUBLIC_URL: world.service.baseUrl,
    });
    expect(said).not.toMatch(/PROBLEM|warning/);
    expect([code, complaints]).toEqual([0, ""]);
    for (const about of ["database", "migrations", "processes", "app", "clock", "webhook"]) {
      expect(said).toContain(`ok       ${about}: `);
    }
  });

  it("names what an account does not grant, and one that is suspended, without any secret", async () => {
    const board = await world.board();
    const { permissions } = world.forge.context.state.apps.all()[0] ?? { permissions: {} };
    world.forge.pages.acceptPermissions(board.owner, { ...permissions, contents: "read" });
    const other = await world.board();
    world.forge.pages.setSuspended(other.owner, true);
    const { code, bad, advised } = await findings();
    expect(bad).toEqual(
      expect.arrayContaining([
        `installation ${board.owner}: It does not grant contents: write.`,
        `installation ${other.owner}: It is suspended.`,
      ]),
    );
    expect([code, advised]).toEqual([1, true]);
    const { said } = await doctor();
    expect(said).not.toContain(world.forge.app.webhookSecret);
    expect(said).not.toContain("PRIVATE KEY");
    world.forge.pages.acceptPermissions(board.owner, permissions);
    world.forge.pages.setSuspended(other.owner, false);
  });

  it("names what the App itself lacks", async () => {
    const { state } = world.forge.context;
    const [app] = state.apps.all();
    if (!app) throw new Error("no App");
    const { workflows: _workflows, ...permissions } = app.permissions;
    state.apps.save({ ...app, permissions, events: app.events.filter((event) => event !== "push") });
    const { code, bad } = await findings();
    state.apps.save(app);
    expect(bad).toEqual(
      expect.arrayContaining([
        "permissions: The App does not ask for workflows: write.",
        "events: The App is not sent push.",
      ]),
    );
    expect(code).toBe(1);
  });

  it("names a webhook URL that leads elsewhere, and what was not taken there", async () => {
    const { webhookUrl } = world.service;
    world.forge.setWebhookUrl(`${world.service.baseUrl}/elsewhere`);
    const board = await world.board();
    for (const isSuspended of [true, false]) world.forge.pages.setSuspended(board.owner, isSuspended);
    await world.forge.settle();
    const { bad } = await findings({ PUBLIC_URL: world.service.baseUrl });
    world.forge.setWebhookUrl(webhookUrl);
    expect(bad).toEqual([
      `webhook: Webhooks go to ${world.service.baseUrl}/elsewhere, not to ${webhookUrl}.`,
      expect.stringMatching(/^webhook: Of the forge's last \d+ deliveries \d+ were not taken\.$/),
    ]);
  });

  it("names a clock that is far off the forge's", async () => {
    const { control } = world.forge;
    let body: unknown;
    const unobserve = control.observe({
      onAnswer: ({ path }, answer) => {
        if (path === "/app") body = answer.body;
      },
    });
    await findings();
    unobserve();
    const date = new Date(Date.now() + 120_000).toUTCString();
    control.script({ method: "GET", path: "/app" }, [{ status: 200, body, headers: { date } }]);
    const { bad } = await findings();
    expect(bad).toContainEqual(
      expect.stringMatching(/^clock: This clock is 1[12]\d seconds behind the forge's\.$/),
    );
  });

  it("names a migration that is pending", async () => {
    const { db } = world.service.deps;
    const [last] = (await db("knex_migrations").orderBy("id", "desc").limit(1)) as { name: string }[];
    await db("knex_migrations").where({ name: last?.name }).delete();
    const { code, bad } = await findings();
    await db("knex_migrations").insert({ ...last });
    expect([code, bad[0]]).toEqual([1, `migrations: Not yet applied: ${last?.name}.`]);
  });

  it("names deliveries that were set aside", async () => {
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
    expect(bad).toContain("deliveries: Deliveries set aside after too many failures: 1.");
    expect(code).toBe(1);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ["an App id of another", { APP_ID: "987654" }, /^app: GitHub does not accept our credentials/],
    ["a forge that is not there", { GHE_HOST: "127.0.0.1:1" }, /^app: GitHub did not answer/],
    ["a database that is not there", { DATABASE_URL: "postgres://nobody@127.0.0.1:1/x" }, /^database: /],
    ["a missing setting", { WEBHOOK_SECRET: "" }, /^configuration: WEBHOOK_SECRET is not set/],
    [
      "the secret everybody knows",
      { WEBHOOK_SECRET: "development" },
      /^configuration: WEBHOOK_SECRET is `dev/,
    ],
  ])("names %s, and still looks at the rest", async (_, env, expected) => {
    const { code, bad } = await findings(env);
    expect(bad).toEqual(expect.arrayContaining([expect.stringMatching(expected)]));
    expect(code).toBe(1);
    const { said } = await doctor(env, "--json");
    const abouts = (JSON.parse(said) as Finding[]).map(({ about }) => about);
    expect(abouts).toContain("database");
    expect(abouts.some((about) => about === "app" || about === "configuration")).toBe(true);
  });
});
