import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { npmStart, type NpmStarted } from "../support/processes/npm-start.ts";

const GUIDE = join(import.meta.dirname, "../../docs/sandbox.md");

const cleanUps: (() => Promise<unknown>)[] = [];
let dir: string;
let sandbox: NpmStarted;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "trunkline-control-"));
  cleanUps.push(() => rm(dir, { recursive: true, force: true }));
  sandbox = await npmStart(join(dir, ".trunkline"), (child, exited) =>
    cleanUps.push(() => {
      child.kill("SIGTERM");
      return exited;
    }),
  );
});
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

it("the control API accepts only the token that npm start writes to sandbox.json", async () => {
  const { url, token } = sandbox.file.forge.control;
  expect(sandbox.printed()).toContain(url);
  expect((await stat(join(dir, ".trunkline/sandbox.json"))).mode & 0o777).toBe(0o600);
  const responses = [token, `${token.slice(1)}x`].map((bearer) =>
    fetch(`${url}/faults`, { headers: { authorization: `Bearer ${bearer}` } }),
  );
  expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([200, 401]);
});

it("the examples of docs/sandbox.md print what the document shows", async () => {
  const guide = await readFile(GUIDE, "utf8");
  const examples = [...guide.matchAll(/```sh\n(.*?)```\n(?:\n```text\n(.*?)```)?/gs)].map(
    ([, script = "", printed = ""]) => ({ script, printed }),
  );
  const steps = examples.map(({ script }, at) => `${script}echo "--- ${at}"\n`);
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", steps.join("")], {
    cwd: dir,
    env: { PATH: process.env["PATH"], HOME: dir },
    timeout: 280_000,
  });
  const printed = stdout.split(/^--- \d+\n/m);
  expect(printed).toEqual([...examples.map((example) => example.printed), ""]);
});
