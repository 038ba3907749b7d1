import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import { haveSpareTime, inSpareTime } from "../../src/spare-time.ts";

/** More than such work waits by itself. */
const LONG_MS = 100;

it("is used once it is there, and not before what runs is over", async () => {
  const done: string[] = [];
  inSpareTime(() => done.push("first"));
  inSpareTime(() => done.push("second"));
  haveSpareTime();
  done.push("what runs");
  await new Promise((resolve) => process.nextTick(resolve));
  expect(done).toEqual(["what runs", "first", "second"]);
  await sleep(LONG_MS);
  expect(done).toHaveLength(3);
});

it("is taken in a moment where there is none", async () => {
  const done: string[] = [];
  inSpareTime(() => {
    done.push("work");
    inSpareTime(() => done.push("what came of it"));
  });
  expect(done).toEqual([]);
  await sleep(LONG_MS);
  expect(done).toEqual(["work", "what came of it"]);
});

it.each(["", "process.exit(0);", "process.exitCode = 0; throw new Error('on purpose');"])(
  "does what is left, and tells the log of it, when the process ends (%p)",
  (ending) => {
    const from = (path: string): string => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
    const program = `
      import { inSpareTime } from ${from("spare-time.ts")};
      import { createLog } from ${from("log.ts")};
      const log = createLog("info");
      inSpareTime(() => log.info("said at the end"));
      ${ending}`;
    const { stdout } = spawnSync(
      process.execPath,
      ["--import", "tsx", "--input-type=module", "--eval", program],
      { encoding: "utf8" },
    );
    expect(stdout).toContain("said at the end");
  },
);
