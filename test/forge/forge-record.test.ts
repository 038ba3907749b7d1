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

/** A process asks, and is told to wait so many seconds. */
async function toldToWait(pid: number, seconds: number): Promise<void> {
  const fault = { kind: "rate-limit", limit: "secondary", retryAfter: seconds } as const;
  at.forge.control.faults.add({ fault, times: 1 });
  const headers = { authorization: `token ${at.installationToken()}`, "x-sent-by": String(pid) };
  expect((await fetch(`${at.forge.apiUrl}/repos/acme/web`, { headers })).status).toBe(403);
}

test("holds nobody to a wait whose hearer was killed before it could tell of it", async () => {
  const killed = spawn(process.execPath, ["-e", "setInterval(() => {}, 1_000)"]);
  await once(killed, "spawn");
  await toldToWait(killed.pid ?? 0, 60);
  killed.kill("SIGKILL");
  await once(killed, "exit");
  // Told later, and there to tell of it: by the time this is known, that was to be known, too.
  await toldToWait(process.pid, 90);
  const holds = await eventually(
    () => Promise.resolve(record.limits),
    ({ length }) => length > 0,
  );
  expect(holds.map(({ from, until }) => (until - from) / 1_000)).toEqual([90]);
});
