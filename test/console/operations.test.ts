import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { operationsRoutes } from "../../src/http/console/operator-page.ts";
import { addJob } from "../../src/store/db/jobs.ts";
import { removeMembersWithLogin } from "../../src/actions/members/members.ts";
import { eventually } from "../support/api.ts";
import { Browser } from "../support/console/browser.ts";
import { COOKIE, newMember, sessionIdOf, signedIn, type Person } from "../support/console/people.ts";
import { commandLineOf, type CommandLine } from "../support/processes/command-line.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const CANARY = "canary-5e1f";
const OVERVIEW = "/console/operations/overview";

const world = useWorld();
let line: CommandLine;
let board: TestBoard;
let operator: Person;
let maintainer: Person;
beforeAll(async () => {
  line = commandLineOf(world);
  board = await world.board();
  operator = await signedIn(world, [board], "viewer");
  maintainer = await signedIn(world, [board], "maintainer");
  await line.json("operator", "add", "--login", operator.login);
});

const calls = operationsRoutes(() => Promise.resolve([])).map(({ definition }) => ({
  method: definition.method.toUpperCase(),
  path: definition.path.replace("{guid}", randomUUID()),
}));
const reads = calls.filter(({ method }) => method === "GET");
const writes = calls.filter(({ method }) => method === "POST");
const nameOf = ({ method, path }: (typeof calls)[number]): string =>
  `${method} ${path.replace(/[\da-f-]{36}/, "{guid}")}`;
const named = (these: typeof calls) => these.map((call) => [nameOf(call), call] as const);

const call = ({ browser }: Person, { method, path }: (typeof calls)[number]) =>
  method === "GET" ? browser.get(path) : browser.write(method, path);

interface Overview {
  readonly version: string;
  readonly processes: readonly { readonly version: string; readonly isAlive: boolean }[];
  readonly database: { readonly version: string; readonly bytes: number };
  readonly lag: Readonly<Record<string, { readonly seconds: number; readonly isLate: boolean }>>;
  readonly waiting: Readonly<Record<string, number>>;
  readonly tasks: readonly { readonly task: string; readonly failed: number }[];
  readonly failedJobs: readonly { readonly id: string; readonly task: string; readonly error: string }[];
  readonly parked: readonly { readonly guid: string; readonly about: string; readonly error: string }[];
}
const overview = async (): Promise<Overview> => (await operator.browser.get(OVERVIEW)).body as Overview;

/** A parked delivery about the board's repository, of an event that Trunkline ignores. */
async function park(error = "It failed."): Promise<string> {
  const guid = randomUUID();
  const { forge_id: forgeId } = await board
    .db("repositories")
    .where("full_name", `${board.owner}/web`)
    .first("forge_id");
  await board.db("deliveries").insert({
    guid,
    event: "star",
    lane: `repository:${forgeId}`,
    payload: JSON.stringify({ text: CANARY }),
    state: "parked",
    attempts: 8,
    error,
  });
  return guid;
}
const stateOf = async (guid: string): Promise<string | undefined> =>
  (await board.db<{ guid: string; state: string }>("deliveries").where({ guid }).first("state"))?.state;

/** A job that failed at its last attempt. */
async function failJob(error: string): Promise<string> {
  const key = `failed-${randomUUID()}`;
  await addJob(board.db, "catch-up-card", { cardId: CANARY }, { key, delayMs: 3_600_000 });
  const { rows } = await board.db.raw<{ rows: { id: string }[] }>(
    "update graphile_worker._private_jobs set attempts = max_attempts, last_error = ? where key = ? returning cast(id as text) as id",
    [error, key],
  );
  return rows[0]?.id ?? "";
}

describe("the routes of the operations page", () => {
  it.each(named(calls))("%s refuses a maintainer who is not an operator", async (_, each) => {
    const { status, body } = await call(maintainer, each);
    expect([status, body]).toMatchObject([
      403,
      { message: expect.stringContaining("rights of an operator") },
    ]);
  });

  it.each(named(calls))("%s needs a session, not a key", async (_, { method, path }) => {
    const key = board.api.apiKey;
    for (const headers of [
      {},
      { authorization: `Bearer ${key}` },
      { cookie: `${COOKIE}=${key}` },
      { cookie: `${COOKIE}=${key.replace("tlk_", "tls_")}` },
    ]) {
      const init = { method, headers: { "sec-fetch-site": "same-origin", ...headers } };
      const response = await fetch(`${world.service.baseUrl}${path}`, init);
      expect([response.status, await response.text()]).toEqual([
        401,
        expect.stringContaining("not_signed_in"),
      ]);
    }
  });

  it("refuse a key whose user was made an operator in the database", async () => {
    const agent = await board.as({});
    await board.db.raw(
      "update users set is_operator = true where id = (select user_id from credentials where client_id = ?)",
      [agent.apiKey.split("_")[1] ?? ""],
    );
    for (const { method, path } of calls) {
      const headers = {
        cookie: `${COOKIE}=${agent.apiKey.replace("tlk_", "tls_")}`,
        "sec-fetch-site": "same-origin",
      };
      const { status } = await fetch(`${world.service.baseUrl}${path}`, { method, headers });
      expect(status).toBe(401);
    }
  });

  it.each(named(writes))("%s is refused if it comes from another site", async (_, { method, path }) => {
    const { status } = await operator.browser.write(method, path, undefined, {
      "sec-fetch-site": "cross-site",
    });
    expect(status).toBe(403);
  });

  it.each(named(reads))("%s responds to an operator", async (_, each) => {
    const { status, text } = await call(operator, each);
    expect([status, text]).toEqual([200, text]);
  });
});

describe("an operator", () => {
  it("is added, listed and removed on the command line; the session knows it with the next call", async () => {
    const person = await signedIn(world, [board]);
    const isOperator = async () => (await person.browser.get("/console/session")).body;
    expect(await isOperator()).toMatchObject({ isOperator: false });
    expect((await person.browser.get(OVERVIEW)).status).toBe(403);
    await line.json("operator", "add", "--login", person.login);
    expect((await person.browser.get(OVERVIEW)).status).toBe(200);
    expect(await isOperator()).toMatchObject({ isOperator: true });
    expect(await line.json("operator", "list")).toContainEqual({ login: person.login, name: person.login });
    await line.json("operator", "remove", "--login", person.login.toUpperCase());
    expect((await person.browser.get(OVERVIEW)).status).toBe(403);
    expect(await line.run(["operator", "remove", "--login", person.login])).toMatchObject({ code: 1 });
    const rows = await board
      .db<{ targets: { login: string } }>("audit_log")
      .where("action", "like", "trunkline operator %");
    expect(rows.filter(({ targets }) => targets.login === person.login)).toHaveLength(2);
  });

  it("cannot be a bot or an account that GitHub does not have", async () => {
    for (const login of ["dependabot[bot]", "nobody-at-all"])
      expect(await line.run(["operator", "add", "--login", login])).toMatchObject({ code: 1, stdout: "" });
  });

  it("needs no board to sign in, and reaches none", async () => {
    const { login } = await newMember(world, [board]);
    await line.json("operator", "add", "--login", login);
    await removeMembersWithLogin(board.db, board.workspaceId, login);
    const browser = new Browser(world.service.baseUrl);
    await browser.signIn(login);
    expect((await browser.get("/console/session")).body).toMatchObject({ isOperator: true, boards: [] });
    expect((await browser.get(OVERVIEW)).status).toBe(200);
    const headers = { "x-service-workspace": board.workspaceId };
    expect((await browser.get("/console/v1/board", headers)).status).toBe(400);
    await line.json("operator", "remove", "--login", login);
    expect((await browser.get("/console/session")).status).toBe(401);
  });

  it("can come with the first sign-in link", async () => {
    const people = await Promise.all([newMember(world, []), newMember(world, [])]);
    const statuses: number[] = [];
    for (const [at, options] of [[], ["--operator"]].entries()) {
      const { url } = await line.json<{ url: string }>(
        "console-link",
        "--workspace",
        board.workspaceId,
        ...options,
      );
      const browser = new Browser(world.service.baseUrl);
      await browser.signIn(people[at]?.login ?? "", new URL(url).pathname);
      statuses.push((await browser.get(OVERVIEW)).status);
    }
    expect(statuses).toEqual([403, 200]);
  });
});

describe("the overview", () => {
  it("has processes, database, queues and lag", async () => {
    const { version, processes, database, lag, waiting } = await overview();
    expect(processes).toContainEqual(expect.objectContaining({ version, isAlive: true }));
    expect(database).toMatchObject({ version: expect.stringMatching(/^\d+/), bytes: expect.any(Number) });
    expect(Object.keys(lag)).toEqual(["jobs", "deliveries", "events", "webhooks", "auditChain"]);
    const age = { seconds: expect.any(Number), isLate: false };
    expect(Object.values(lag)).toEqual(Object.values(lag).map(() => age));
    expect(Object.values(waiting).every((value) => typeof value === "number")).toBe(true);
  });

  it("shows processes that died", async () => {
    const id = randomUUID();
    await board.db("instances").insert({ id, version: "0.0.1", seen_at: new Date(Date.now() - 60_000) });
    const { processes } = await overview();
    expect(processes).toContainEqual(expect.objectContaining({ id, version: "0.0.1", isAlive: false }));
    await board.db("instances").where({ id }).delete();
  });
});

describe("a parked delivery", () => {
  it("is listed with its repository and error, and processed after a retry", async () => {
    const [guid, other] = [await park("GitHub said no."), await park()];
    expect((await overview()).parked).toContainEqual({
      guid,
      event: "star",
      about: `${board.owner}/web`,
      attempts: 8,
      crashes: 0,
      error: "GitHub said no.",
      receivedAt: expect.stringMatching(/Z$/),
    });
    const path = `/console/operations/deliveries/${guid}/retry`;
    const retried = await operator.browser.write("POST", path);
    expect([retried.status, retried.body]).toEqual([200, { retried: 1 }]);
    await eventually(
      () => stateOf(guid),
      (state) => state === "done",
    );
    expect(await stateOf(other)).toBe("parked");
    // The response may have been lost.
    expect((await operator.browser.write("POST", path)).body).toEqual({ retried: 0 });
    const rows = await board
      .db("audit_log")
      .where({ action: "POST /console/operations/deliveries/{guid}/retry" });
    expect(rows).toContainEqual(
      expect.objectContaining({
        status: 200,
        client_id: sessionIdOf(operator.browser),
        actor: expect.objectContaining({ name: operator.login }),
        targets: { guid },
        workspace_id: null,
      }),
    );
  });

  it("is retried with all others", async () => {
    const guids = [await park(), await park()];
    const { body } = await operator.browser.write("POST", "/console/operations/deliveries/retry");
    expect((body as { retried: number }).retried).toBeGreaterThanOrEqual(2);
    for (const guid of guids)
      await eventually(
        () => stateOf(guid),
        (state) => state === "done",
      );
    expect((await overview()).parked).toEqual([]);
  });

  it("that does not exist is not found, which the audit log has", async () => {
    const guid = randomUUID();
    const { status } = await operator.browser.write("POST", `/console/operations/deliveries/${guid}/retry`);
    expect(status).toBe(404);
    const rows = await board.db("audit_log").whereRaw("targets ->> 'guid' = ?", [guid]);
    expect(rows).toMatchObject([{ status: 404, problem: "not_found" }]);
  });

  it("is not retried by a maintainer", async () => {
    const guid = await park();
    const { status } = await maintainer.browser.write("POST", `/console/operations/deliveries/${guid}/retry`);
    expect([status, await stateOf(guid)]).toEqual([403, "parked"]);
    await board.db("deliveries").where({ guid }).delete();
  });
});

it("failed jobs are listed and retried", async () => {
  const id = await failJob("The branch was deleted.");
  const { failedJobs, tasks, waiting } = await overview();
  expect(failedJobs).toContainEqual(
    expect.objectContaining({ id, task: "catch-up-card", error: "The branch was deleted." }),
  );
  expect(tasks).toContainEqual(expect.objectContaining({ task: "catch-up-card", failed: 1 }));
  expect(waiting["failedJobs"]).toBe(1);
  const { body } = await operator.browser.write("POST", "/console/operations/jobs/retry");
  expect(body).toEqual({ retried: 1 });
  await eventually(overview, (now) => now.failedJobs.length === 0);
  await board.db.raw("select graphile_worker.complete_jobs(array[?::bigint])", [id]);
});

describe("the installations", () => {
  interface Installation {
    readonly login: string;
    readonly state: string;
    readonly contentLeft: number | null;
    readonly limitedUntil: string | null;
  }
  const installationOf = async ({ owner }: TestBoard): Promise<Installation | undefined> => {
    const { body } = await operator.browser.get("/console/operations/installations");
    return (body as Installation[]).find(({ login }) => login === owner);
  };

  it("are those of all organizations, with state and budget", async () => {
    const theirs = await world.board();
    expect(await installationOf(theirs)).toMatchObject({
      state: "active",
      boards: 1,
      repositories: 1,
      contentLeft: null,
    });
    const { installation_id: id } = await board
      .db("organizations")
      .where({ slug: theirs.owner })
      .first("installation_id");
    await board.db.raw(
      "insert into forge_turns (installation_id, recovered_at) values (?, now() + interval '90 seconds')",
      [id],
    );
    await board.db("forge_limits").insert({
      account: String(id),
      limited_until: new Date(Date.now() + 60_000),
      repeats: 0,
      by_write: true,
    });
    expect(await installationOf(theirs)).toMatchObject({
      contentLeft: 90,
      contentBurst: 100,
      limitedUntil: expect.any(String),
    });
    await board.db("forge_limits").delete();
    world.forge.webUi.setSuspended(theirs.owner, true);
    await eventually(
      () => installationOf(theirs),
      (now) => now?.state === "suspended",
    );
    world.forge.webUi.setSuspended(theirs.owner, false);
  });
});

it("the findings are those of trunkline doctor", async () => {
  await world.forge.waitUntilIdle();
  const shown = (await operator.browser.get("/console/operations/findings")).body as { about: string }[];
  const printed = JSON.parse((await line.run(["doctor", "--json"])).stdout) as { about: string }[];
  // Of the command line's own environment.
  const shared = printed.filter(({ about }) => !["console", "public url"].includes(about));
  expect(shown.map(({ about }) => about)).toEqual(shared.map(({ about }) => about));
  expect(shown).toEqual(expect.arrayContaining([expect.objectContaining({ about: "app", state: "ok" })]));
});

it("the page shows no secret and no text of a board", async () => {
  const theirs = await world.board();
  await theirs.api.card({ title: `Title ${CANARY}`, description: `Text ${CANARY}` });
  const guid = await park(`insert into cards (title) values ('${CANARY}') - duplicate key\n at ${CANARY}`);
  const id = await failJob(`update cards set title = '${CANARY}' - the database is away`);
  const texts = await Promise.all(reads.map(async (each) => (await call(operator, each)).text));
  const responses = texts.join("\n");
  expect(responses).toContain("duplicate key");
  const { app } = world.forge;
  for (const secret of [CANARY, app.webhookSecret, "PRIVATE KEY", world.databaseUrl, board.api.apiKey])
    expect(responses).not.toContain(secret);
  await board.db("deliveries").where({ guid }).delete();
  await board.db.raw("select graphile_worker.complete_jobs(array[?::bigint])", [id]);
});
