import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { recordForge, type ForgeRecord } from "../../faults/world/forge-record.ts";
import { eventually } from "../support/api.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";

let at: TestForge;
let record: ForgeRecord;
beforeAll(async () => {
  at = await startTestForge();
  record = recordForge(at.forge);
});
afterAll(() => at.stop());

/** A process makes a call and is limited for these seconds. */
async function limitedFor(pid: number, seconds: number): Promise<void> {
  const fault = { kind: "rate-limit", limit: "secondary", retryAfter: seconds } as const;
  at.forge.control.faults.add({ fault, times: 1 });
  const headers = { authorization: `token ${at.installationToken()}`, "x-sent-by": String(pid) };
  expect((await fetch(`${at.forge.apiUrl}/repos/acme/web`, { headers })).status).toBe(403);
}

test("a rate limit does not apply if the process that received it was killed before it stored it", async () => {
  const killed = spawn(process.execPath, ["-e", "setInterval(() => {}, 1_000)"]);
  await once(killed, "spawn");
  await limitedFor(killed.pid ?? 0, 60);
  killed.kill("SIGKILL");
  await once(killed, "exit");
  // A later limit that was stored means that this one was stored before.
  at.forge.control.limits.clear();
  await limitedFor(process.pid, 90);
  const holds = await eventually(
    () => Promise.resolve(record.limits),
    ({ length }) => length > 0,
  );
  expect(holds.map(({ from, until }) => (until - from) / 1_000)).toEqual([90]);
});
