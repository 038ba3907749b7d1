import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { WEBHOOK_PATH } from "../../src/app.ts";
import type { Finding } from "../../src/actions/doctor/finding.ts";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { startPostgres, type RunningPostgres } from "../../sandbox/postgres/start-postgres.ts";
import { readForgeFile, type ForgeFile } from "../../sandbox/state-files.ts";
import { eventually, makeApi } from "../support/api.ts";
import { freePorts } from "../support/free-ports.ts";
import { cloneRepository } from "../support/git.ts";
import { branchOf } from "../support/stories/work-on-card.ts";
import {
  environmentOf,
  shipService,
  type Shipped,
  type ShippedOptions,
} from "../support/processes/shipped-service.ts";

const cleanUps: (() => Promise<unknown>)[] = [];
let shipped: Shipped;
let postgres: RunningPostgres;
let port: number;
let forge: ForgeFile;
beforeAll(async () => {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-real-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  shipped = await shipService();
  cleanUps.push(() => shipped.remove());
  postgres = await startPostgres({ dataDir: await lockDataDir(join(dir, "own"), process.pid) });
  cleanUps.push(() => postgres.stop());
  [port = 0] = await freePorts(1);
  forge = await startForge(join(dir, "forge"));
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

/** Starts `trunkline forge` as in docs/operating.md. */
async function startForge(dataDir: string): Promise<ForgeFile> {
  const args = ["forge", "--port", "0", "--webhook-url", `http://127.0.0.1:${port}${WEBHOOK_PATH}`];
  const child = spawn(process.execPath, ["dist/src/cli/main.js", ...args], {
    cwd: shipped.dir,
    env: { PATH: process.env["PATH"], TRUNKLINE_DATA_DIR: dataDir },
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => child.on("exit", resolve));
  cleanUps.push(() => (child.kill("SIGTERM"), exited));
  const file = await eventually(
    () => readForgeFile(dataDir),
    (found) => found !== null,
  );
  if (!file) throw new Error("the sandbox forge wrote no file");
  return file;
}

const optionsOf = (): ShippedOptions => ({
  databaseUrl: postgres.connectionString,
  port,
  github: {
    apiUrl: forge.apiUrl,
    appId: forge.appId,
    privateKey: forge.privateKey,
    webhookSecrets: [forge.webhookSecret],
    paceWrites: true,
  },
});

/** Runs the command line with the service's environment; does not throw. */
async function trunkline(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; printed: string }> {
  const settings = { ...environmentOf(optionsOf()), PUBLIC_URL: `http://127.0.0.1:${port}`, ...env };
  return promisify(execFile)(process.execPath, ["dist/src/cli/main.js", ...args, "--json"], {
    cwd: shipped.dir,
    env: { PATH: process.env["PATH"], ...settings },
  }).then(
    ({ stdout }) => ({ code: 0, printed: stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, printed: stdout }),
  );
}

/** The problems that the doctor reports, as `about: says`. */
async function doctor(env?: Readonly<Record<string, string>>): Promise<{ code: number; problems: string[] }> {
  const { code, printed } = await trunkline(["doctor"], env);
  const found = JSON.parse(printed) as Finding[];
  const problems = found
    .filter(({ state }) => state !== "ok")
    .map(({ about, message }) => `${about}: ${message}`);
  return { code, problems };
}

it("with a GitHub App the doctor reports what is missing, a card is merged, and no secret is printed", async () => {
  expect((await trunkline(["--version"])).printed).toMatch(/^\d+\.\d+\.\d+\n$/);
  const before = await doctor();
  expect(before.code).toBe(1);
  expect(before.problems).toEqual([
    expect.stringMatching(/^migrations: Not yet applied: 0001_tenancy\.sql/),
    expect.stringMatching(/^public url: Nothing responds at http:/),
  ]);

  const service = await shipped.start(optionsOf());
  cleanUps.push(() => service.kill());
  expect(await doctor()).toEqual({ code: 0, problems: [] });

  const [board] = JSON.parse((await trunkline(["workspace", "list"])).printed) as { id: string }[];
  const options = ["--name", "first", "--board", `${board?.id}:maintainer`, "--scopes", "read,write"];
  const { printed } = await trunkline(["credential", "issue", ...options]);
  const api = makeApi(service.baseUrl, (JSON.parse(printed) as { apiKey: string }).apiKey);
  const { body } = await api.get<{ columns: { name: string; statusId: string }[] }>("/v1/board");
  const stage = (name: string) => body.columns.find((column) => column.name === name)?.statusId ?? "";

  const granted = await api.get<{ id: string; fullName: string }[]>("/v1/repositories");
  const web = granted.body.find(({ fullName }) => fullName === "acme/web");
  const { number } = await api.card({ title: "Say hello", repositoryIds: [web?.id] });
  expect((await api.move(number, stage("In progress"))).status).toBe(200);
  const branch = await branchOf({ api }, number);
  const ada = forge.users.find(({ login }) => login === "ada");
  const address = forge.cloneUrl.replace("://", `://ada:${ada?.token}@`);
  const clone = await cloneRepository(`${address}/acme/web.git`, "Ada");
  cleanUps.push(() => clone.remove());
  await clone.checkout(branch);
  await clone.commit("Say hello", { "hello.txt": "hello\n" });
  await clone.push();
  await api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  expect((await api.move(number, stage("Done"))).body).toMatchObject({
    promoted: [{ fullName: "acme/web", targetBranch: "main" }],
  });

  for (const secret of [forge.privateKey.split("\n")[1] ?? "", forge.webhookSecret, api.apiKey]) {
    expect(service.wrote()).not.toContain(secret);
  }
  expect(service.wrote()).not.toMatch(/ghs_|tlk_|:\/\/[^/\s]*:[^/\s[]+@/);

  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  expect(await doctor({ PUBLIC_URL: "https://elsewhere.example" })).toMatchObject({
    code: 1,
    problems: [
      "public url: Nothing responds at https://elsewhere.example.",
      expect.stringMatching(/^webhook: Webhooks go to http:.* not to https:\/\/elsewhere\.example/),
    ],
  });
  expect(await doctor({ PRIVATE_KEY: privateKey })).toMatchObject({
    code: 1,
    problems: [expect.stringMatching(/^app: GitHub does not accept our credentials/)],
  });

  await service.kill();
  await postgres.stop();
  expect((await doctor()).problems).toEqual([
    expect.stringMatching(/^database: /),
    expect.stringMatching(/^public url: Nothing responds at http:/),
  ]);
});
