import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";
import { startPostgres, type RunningPostgres } from "../../sandbox/postgres/start-postgres.ts";
import { freePorts } from "../support/free-ports.ts";
import { blocksOf, textsOf } from "../support/markdown.ts";
import { shipService, type Shipped } from "../support/processes/shipped-service.ts";

const GUIDE = join(import.meta.dirname, "../../docs/operating.md");
/** Replaces the guide's name `trunkline`, which the embedded cluster already has. */
const DATABASE = "newcomer";

const cleanUps: (() => Promise<unknown>)[] = [];
let shipped: Shipped;
let postgres: RunningPostgres;
beforeAll(async () => {
  shipped = await shipService();
  cleanUps.push(() => shipped.remove());
  const dir = await mkdtemp(join(tmpdir(), "trunkline-first-card-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  postgres = await startPostgres({
    dataDir: await lockDataDir(join(dir, "own"), process.pid),
    listen: "tcp",
  });
  cleanUps.push(() => postgres.stop());
}, 120_000);
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
}, 60_000);

async function asAdministrator(statements: string): Promise<void> {
  const client = new Client({ connectionString: postgres.connectionString });
  await client.connect();
  try {
    for (const statement of statements.split(";")) await client.query(statement);
  } finally {
    await client.end();
  }
}

it("the commands of docs/operating.md merge a first card, and the doctor reports no problem before and after", async () => {
  const guide = await readFile(GUIDE, "utf8");
  const [sql = ""] = textsOf(blocksOf(guide, "Install"), "sql");
  await asAdministrator(sql.replaceAll("trunkline", DATABASE));

  const [build, ...steps] = textsOf(blocksOf(guide, "The first card, without GitHub"), "sh");
  expect(build).toBe("npm ci && npm run build\n");
  const [servicePort, forgePort] = await freePorts(2);
  const script = steps
    .join("")
    .replace("postgres://trunkline:", `postgres://${DATABASE}:`)
    .replace("127.0.0.1:5432/trunkline", `${new URL(postgres.connectionString).host}/${DATABASE}`)
    .replaceAll("3000", String(servicePort))
    .replaceAll("3001", String(forgePort));
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    cwd: shipped.dir,
    env: {
      PATH: process.env["PATH"],
      HOME: shipped.dir,
      SANDBOX_FORGE_PORT: String(forgePort),
      DRAIN_SECONDS: "0",
    },
    timeout: 250_000,
  });
  expect(stdout).toMatch(/"promoted" ?: ?\[\{[^\]]*"targetBranch" ?: ?"main"/);
  expect(stdout).toMatch(/Merge .*\n(.*\n)*.*Say hello/);
  expect(stdout).not.toMatch(/PROBLEM|warning/);
  expect(stdout.match(/^ok {7}app: /gm)).toHaveLength(2);
  const log = await readFile(join(shipped.dir, "service.log"), "utf8");
  expect(log).toContain("shutdown complete");
  for (const port of [servicePort, forgePort])
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow("fetch failed");
}, 300_000);
