import { afterEach, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { blocksOf } from "../support/markdown.ts";
import { npmStart, type NpmStarted } from "../support/processes/npm-start.ts";
import { openShell } from "../support/processes/run-blocks.ts";

const README = join(import.meta.dirname, "../../README.md");

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

/** A folder to run `npm start` and the README's commands in. */
async function newFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "trunkline-walk-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** The command lines of all processes that contain the data directory. */
async function processesOf(dataDir: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,args="]);
  return stdout.split("\n").filter((line) => line.includes(dataDir));
}

/** The process that locked the data directory: the service, not npm. */
async function servicePid(dataDir: string): Promise<number> {
  const lock = (await readdir(dataDir)).find((name) => name.startsWith("lock."));
  return Number(lock?.split(".")[1]);
}

async function stagesOf(api: Api): Promise<Record<string, string>> {
  const { body } = await api.get<{ columns: { name: string; statusId: string }[] }>("/v1/board");
  return Object.fromEntries(body.columns.map(({ name, statusId }) => [name, statusId]));
}

/** The responses in the output of a block: each is one line of JSON. */
const responsesIn = (printed: string): unknown[] =>
  printed
    .split("\n")
    .filter((line) => /^(\{"|\[\{")/.test(line))
    .map((line) => JSON.parse(line) as unknown);

describe("the README", () => {
  it("leads from npm start to a refusal and a merged card, which survive a kill of the service", async () => {
    const readme = await readFile(README, "utf8");
    expect(blocksOf(readme, "Quick start").map(({ text }) => text)).toEqual([
      "npm ci && npm start\n",
      "npm ci && npm test\n",
    ]);
    const folder = await newFolder();
    const dataDir = join(folder, ".trunkline");
    const first = await start(dataDir);
    expect((await stat(join(dataDir, "sandbox.json"))).mode & 0o777).toBe(0o600);
    const { api, file } = first;
    const head = first.printed().slice(0, first.printed().indexOf("Ctrl-C"));
    for (const text of [file.baseUrl, file.apiKey, file.forge.cloneUrl, "git clone", "curl"]) {
      expect(head).toContain(text);
    }
    expect(head).not.toContain('{"level"');

    const stages = await stagesOf(api);
    const shell = openShell(folder, { PATH: process.env["PATH"], HOME: folder, LANG: "C.UTF-8" });
    cleanUps.push(() => shell.end());
    let printed = "";
    const walk = blocksOf(readme, "From draft to merged");
    /** Runs the blocks up to the one with a text, and compares the responses with the README's. */
    const follow = async (text: string): Promise<void> => {
      const end = walk.findIndex((block) => block.kind === "sh" && block.text.includes(text));
      if (end < 0) throw new Error(`no block is left with ${text}`);
      const documented: unknown[] = [];
      const received: unknown[] = [];
      for (const block of walk.splice(0, end + 1)) {
        if (block.kind === "sh") printed = await shell.run(block.text);
        else {
          documented.push(JSON.parse(block.text));
          received.push(responsesIn(printed).at(-1));
        }
      }
      expect(received).toMatchObject(documented);
    };

    await follow("/v1/cards -d");
    expect(await api.readCard(1)).toMatchObject({ repositories: [{ branchName: null }] });

    await follow("'In progress'");
    const branchName = "card/1-say-hello";
    expect(await api.readCard(1)).toMatchObject({
      statusId: stages["In progress"],
      repositories: [{ fullName: "acme/web", branchName, prState: null }],
    });

    await follow("git clone");
    await api.cardWhen(1, ({ repositories }) => repositories[0]?.prState === "draft");

    await follow("'In review'");
    expect(printed).toMatch(/^event: status_changed\ndata: \{"seq":/m);
    const inReview = { statusId: stages["In review"], repositories: [{ prState: "open" }] };
    expect(await api.readCard(1)).toMatchObject({ ...inReview, blocked: null });

    await follow("push main");
    expect(await api.readCard(1)).toMatchObject({ ...inReview, blocked: { reason: "conflicts" } });

    await follow("move 1 Done");
    const merged = { statusId: stages["Done"], repositories: [{ branchName, prState: "merged" }] };
    expect(await api.readCard(1)).toMatchObject({ ...merged, blocked: null });

    await follow("git -C .trunkline/web fetch");
    expect(printed).toMatch(/Merge pull request #1 .*\n(.*\n)*.*Say hello/);
    expect(responsesIn(printed)).toEqual([
      expect.arrayContaining([expect.objectContaining({ kind: "pull_request_merged" })]),
    ]);
    expect(walk).toEqual([]);

    process.kill(await servicePid(dataDir), "SIGKILL");
    await first.exited;
    await eventually(
      () => processesOf(dataDir),
      (left) => left.length === 0,
    );

    const second = await start(dataDir);
    expect(second.file.apiKey).toBe(file.apiKey);
    expect(await second.api.readCard(1)).toMatchObject(merged);
    second.child.kill("SIGTERM");
    expect(await second.exited).toBe(0);
    await eventually(
      () => processesOf(dataDir),
      (left) => left.length === 0,
    );
  });
});
