import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { eventually, makeApi } from "../support/api.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

/** Compiled by the setup of the slow tests, as it is shipped. */
const MAIN = resolve(import.meta.dirname, "../../dist/src/cli/main.js");

let world: TestWorld;
let folder: string;
beforeAll(async () => {
  world = await startWorld();
  folder = await mkdtemp(join(tmpdir(), "trunkline-cli-"));
});
afterAll(async () => {
  await world.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command with the test's database. */
const trunkline = (args: readonly string[], databaseUrl = world.databaseUrl): Promise<Ended> =>
  new Promise((done) => {
    const env = {
      PATH: process.env["PATH"],
      DATABASE_URL: databaseUrl,
      TRUNKLINE_DATA_DIR: join(folder, "none"),
    };
    execFile(process.execPath, [MAIN, ...args], { env }, (error, stdout, stderr) =>
      done({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
    );
  });

describe("trunkline credential", () => {
  it("issues a key that works immediately, lists it without its secret, and revokes it", async () => {
    const board = await world.board();
    const issued = await trunkline([
      ..."credential issue --name deployer --scopes read,write --json --board".split(" "),
      `${board.workspaceId}:member`,
    ]);
    expect(issued.code).toBe(0);
    const made = JSON.parse(issued.stdout) as { clientId: string; apiKey: string; expiresAt: string };
    const days = (Date.parse(made.expiresAt) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);
    const api = makeApi(board.api.baseUrl, made.apiKey);
    expect((await api.get("/v1/me")).body).toMatchObject({ name: "deployer", clientId: made.clientId });

    const listed = await trunkline(["credential", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toEqual(
      expect.arrayContaining([expect.objectContaining({ clientId: made.clientId, revokedAt: null })]),
    );
    expect(listed.stdout).not.toContain(made.apiKey.split("_")[2]);

    expect((await trunkline(["credential", "revoke", made.clientId])).code).toBe(0);
    expect((await api.get("/v1/me")).status).toBe(401);
  });

  it("refuses a call with invalid arguments, names the problem, and exits with 2", async () => {
    const noBoard = await trunkline("credential issue --name x --scopes read".split(" "));
    expect(noBoard).toMatchObject({ code: 2, stdout: "" });
    expect(noBoard.stderr).toContain("--board is required");
    const noRole = await trunkline("credential issue --name x --scopes read --board abc:king".split(" "));
    expect(noRole.stderr).toContain("viewer, member, maintainer");
    expect((await trunkline(["credential", "issue", "--nmae", "x"])).code).toBe(2);
    expect((await trunkline(["unheard-of"])).code).toBe(2);
  });

  it("cannot revoke an unknown credential, and exits with 1", async () => {
    expect(await trunkline(["credential", "revoke", "nobody"])).toMatchObject({
      code: 1,
      stderr: "There is no credential nobody.\n",
    });
  });
});

it("trunkline workspace list prints the boards", async () => {
  const board = await world.board();
  const { stdout } = await trunkline(["workspace", "list", "--json"]);
  expect(JSON.parse(stdout)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: board.workspaceId, organizationSlug: board.owner }),
    ]),
  );
});

it("trunkline migrate applies nothing to a migrated database", async () => {
  const { code, stdout } = await trunkline(["migrate", "--json"]);
  expect({ code, applied: JSON.parse(stdout) as unknown }).toEqual({ code: 0, applied: { applied: [] } });
});

it("prints how to get a database if none is configured", async () => {
  const { code, stderr } = await trunkline(["workspace", "list"], "");
  expect(code).toBe(1);
  expect(stderr).toContain("DATABASE_URL");
});

it("trunkline delivery lists parked deliveries and retries them", async () => {
  const { db } = world.service.deps;
  const row = { guid: "set-aside", event: "ping", lane: "app", payload: "{}", state: "parked", error: "odd" };
  await db("deliveries").insert(row);
  const { stdout } = await trunkline(["delivery", "list", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject([{ guid: "set-aside", event: "ping", error: "odd" }]);
  expect((await trunkline(["delivery", "retry", "another"])).code).toBe(1);
  expect((await trunkline(["delivery", "retry"])).code).toBe(2);
  const retried = await trunkline(["delivery", "retry", "set-aside", "--json"]);
  expect(JSON.parse(retried.stdout)).toEqual([{ retried: 1 }]);
  await eventually(
    () => db("deliveries").where({ guid: "set-aside" }).first("state"),
    (now: { state: string } | undefined) => now?.state === "done",
  );
});

it("trunkline forge starts the sandbox forge and stores its keys for the owner only", async () => {
  const dataDir = join(folder, "forge-alone");
  const child = spawn(process.execPath, [MAIN, "forge", "--port", "0", "--json"], {
    env: { PATH: process.env["PATH"], TRUNKLINE_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const { apiUrl, file } = JSON.parse(said.toString()) as { apiUrl: string; file: string };
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const kept = JSON.parse(await readFile(file, "utf8")) as {
    users: { login: string; token: string }[];
    webhookSecret: string;
    privateKey: string;
  };
  expect(kept.privateKey).toContain("-----BEGIN");
  const token = kept.users[0]?.token;
  const response = await fetch(`${apiUrl}/repos/acme/web`, { headers: { authorization: `token ${token}` } });
  expect(await response.json()).toMatchObject({ full_name: "acme/web", default_branch: "main" });
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});
