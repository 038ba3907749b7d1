/** Runs the README's production steps, with the sandbox forge in place of GitHub. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { spawn } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { WEBHOOK_PATH } from "../../src/app.ts";
import { writeAppSettings } from "../../src/cli/setup/env-file.ts";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { startPostgres, type RunningPostgres } from "../../sandbox/postgres/start-postgres.ts";
import { readForgeFile, type ForgeFile } from "../../sandbox/state-files.ts";
import { eventually, makeApi } from "../support/api.ts";
import { freePorts } from "../support/free-ports.ts";
import { blocksOf, textsOf } from "../support/markdown.ts";
import { openShell } from "../support/processes/run-blocks.ts";
import { shipService, type Shipped } from "../support/processes/shipped-service.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Replaces the guide's name `trunkline`, which the embedded cluster already has. */
const DATABASE = "newcomer";

const cleanUps: (() => Promise<unknown>)[] = [];
let shipped: Shipped;
let postgres: RunningPostgres;
let port: number;
let forge: ForgeFile;
beforeAll(async () => {
  shipped = await shipService();
  cleanUps.push(() => shipped.remove());
  const dir = await mkdtemp(join(tmpdir(), "trunkline-production-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  postgres = await startPostgres({
    dataDir: await lockDataDir(join(dir, "own"), process.pid),
    listen: "tcp",
  });
  cleanUps.push(() => postgres.stop());
  [port = 0] = await freePorts(1);
  forge = await startForge();
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

/** Starts a compiled program in the folder of the service; it ends with the test. */
function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const child = spawn(process.execPath, args, {
    cwd: shipped.dir,
    env: { PATH: process.env["PATH"], ...env },
    stdio: "ignore",
  });
  const exited = new Promise((resolve) => child.on("exit", resolve));
  cleanUps.push(() => (child.kill("SIGTERM"), exited));
}

/** Starts `trunkline forge` as in docs/operating.md. */
async function startForge(): Promise<ForgeFile> {
  const url = `http://127.0.0.1:${port}${WEBHOOK_PATH}`;
  run(["dist/src/cli/main.js", "forge", "--port", "0", "--webhook-url", url]);
  const file = await eventually(
    () => readForgeFile(join(shipped.dir, ".trunkline")),
    (found) => found !== null,
  );
  if (!file) throw new Error("the sandbox forge wrote no file");
  return file;
}

/** Creates the role and the database of docs/operating.md. Returns the URL of the database. */
async function createDatabase(): Promise<string> {
  const guide = await readFile(join(ROOT, "docs/operating.md"), "utf8");
  const [sql = ""] = textsOf(blocksOf(guide, "Install"), "sql");
  const client = new Client({ connectionString: postgres.connectionString });
  await client.connect();
  try {
    for (const statement of sql.replaceAll("trunkline", DATABASE).split(";")) await client.query(statement);
  } finally {
    await client.end();
  }
  return `postgres://${DATABASE}:choose-one@${new URL(postgres.connectionString).host}/${DATABASE}`;
}

/** Writes `.env`: the App's settings as `setup` does, and the others. */
async function writeSettings(databaseUrl: string): Promise<void> {
  const file = join(shipped.dir, ".env");
  const { appId, privateKey, webhookSecret, clientId = "", clientSecret = "", apiUrl } = forge;
  const app = { id: appId, privateKey, webhookSecret, clientId, clientSecret, pageUrl: "" };
  await writeAppSettings(file, app, `http://127.0.0.1:${port}`);
  const others = {
    DATABASE_URL: databaseUrl,
    GHE_PROTOCOL: "http",
    GHE_HOST: new URL(apiUrl).host,
    PORT: String(port),
    DRAIN_SECONDS: "0",
  };
  await appendFile(
    file,
    Object.entries(others)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
}

it("the README's production steps start the service, find no problem and issue an API key", async () => {
  const readme = await readFile(join(ROOT, "README.md"), "utf8");
  const [create, start = "", check = ""] = textsOf(blocksOf(readme, "Production"), "sh");
  expect(create).toContain("npm run --silent setup -- --url ");
  await writeSettings(await createDatabase());

  const [build, command = ""] = start.trim().split(/\n */);
  expect(build).toBe("npm run build");
  const [, mode, args = ""] = /^NODE_ENV=(\w+) node (.*)$/.exec(command) ?? [];
  run(args.split(" "), { NODE_ENV: mode ?? "" });
  const ready = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await eventually(ready, (isReady) => isReady);

  const shell = openShell(shipped.dir, { PATH: process.env["PATH"] });
  cleanUps.push(() => shell.end());
  const lines = check.trim().split(/\n */);
  const needId = lines.filter((line) => line.includes("<workspaceId>"));
  expect(lines.slice(-needId.length)).toEqual(needId);
  const printed = await shell.run(lines.slice(0, -needId.length).join("\n"));
  expect(printed).toMatch(/^ok {7}app: /m);
  // The console needs TLS, which this test does not have.
  const withoutConsole = printed.replace(/^warning {2}console: .*$/m, "");
  expect(withoutConsole).not.toMatch(/PROBLEM|warning/);
  const [workspaceId = ""] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(printed) ?? [];
  const issued = await shell.run(needId.join("\n").replaceAll("<workspaceId>", workspaceId));
  expect(issued).toMatch(
    new RegExp(`^ *http://127\\.0\\.0\\.1:${port}/console/first-sign-in/tlf_\\w+$`, "m"),
  );
  const [apiKey = ""] = /tlk_\S+/.exec(issued) ?? [];
  const { body } = await makeApi(`http://127.0.0.1:${port}`, apiKey).get("/v1/workspaces");
  expect(body).toMatchObject([{ id: workspaceId, role: "member" }]);
});
