import { afterEach, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { cloneRepository } from "../support/git.ts";
import { npmStart, type NpmStarted, type SandboxFile } from "../support/processes/npm-start.ts";

interface Started extends NpmStarted {
  readonly api: Api;
}

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function start(dataDir: string): Promise<Started> {
  const started = await npmStart(dataDir, (child, exited) =>
    cleanUps.push(async () => {
      child.kill("SIGTERM");
      await exited;
    }),
  );
  return { ...started, api: makeApi(started.file.baseUrl, started.file.apiKey) };
}

async function newDataDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-walk-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  return join(dir, "data");
}

/** The command lines of all processes that name the data directory, or the working directory of its PostgreSQL. */
async function processesOf(dataDir: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,args="]);
  return stdout.split("\n").filter((line) => line.includes(dataDir));
}

/** The process that holds the data directory: the service itself, not the npm that started it. */
async function servicePid(dataDir: string): Promise<number> {
  const lock = (await readdir(dataDir)).find((name) => name.startsWith("lock."));
  return Number(lock?.split(".")[1]);
}

async function stagesOf(api: Api): Promise<Record<string, string>> {
  const { body } = await api.get<{ columns: { name: string; statusId: string }[] }>("/v1/board");
  return Object.fromEntries(body.columns.map(({ name, statusId }) => [name, statusId]));
}

async function cloneAsAda({ forge }: SandboxFile): ReturnType<typeof cloneRepository> {
  const ada = forge.users.find(({ login }) => login === "ada");
  const clone = await cloneRepository(
    `${forge.cloneUrl.replace("://", `://ada:${ada?.token}@`)}/acme/web.git`,
    "Ada",
  );
  cleanUps.push(() => clone.remove());
  return clone;
}

describe("a newcomer with npm, git and HTTP", () => {
  it("is told first where everything is, moves a card from draft to merged, kills the service, and finds the board as it was", async () => {
    const dataDir = await newDataDir();
    const first = await start(dataDir);
    expect((await stat(join(dataDir, "sandbox.json"))).mode & 0o777).toBe(0o600);
    const { api, file } = first;
    const head = first.printed().slice(0, first.printed().indexOf("Ctrl-C"));
    for (const told of [file.baseUrl, file.apiKey, file.forge.cloneUrl, "git clone", "curl"]) {
      expect(head).toContain(told);
    }
    expect(head).not.toContain('{"level"');

    const stages = await stagesOf(api);

    const card = await api.card({ title: "Say hello" });
    expect((await api.move(card.number, stages["In progress"] ?? "")).status).toBe(200);
    const branch = (await api.readCard(card.number)).repositories[0]?.branchName ?? "";

    const clone = await cloneAsAda(file);
    await clone.checkout(branch);
    const sha = await clone.commit("Say hello", { "hello.txt": "hello\n" });
    await clone.push();
    await api.cardWhen(card.number, ({ repositories }) => repositories[0]?.prState === "draft");

    expect((await api.move(card.number, stages["In review"] ?? "")).status).toBe(200);
    const merged = await api.move(card.number, stages["Done"] ?? "");
    expect(merged.body).toMatchObject({ promoted: [{ fullName: "acme/web", targetBranch: "main" }] });
    await clone.checkout("main");
    expect(await clone.git("log", "--merges", "-1", "--format=%P")).toContain(sha);

    process.kill(await servicePid(dataDir), "SIGKILL");
    await first.exited;
    await eventually(
      () => processesOf(dataDir),
      (left) => left.length === 0,
    );

    const second = await start(dataDir);
    expect(second.file.apiKey).toBe(file.apiKey);
    expect(await second.api.readCard(card.number)).toMatchObject({
      statusId: stages["Done"],
      repositories: [{ branchName: branch, prState: "merged" }],
    });
    second.child.kill("SIGTERM");
    expect(await second.exited).toBe(0);
    await eventually(
      () => processesOf(dataDir),
      (left) => left.length === 0,
    );
  }, 120_000);
});
