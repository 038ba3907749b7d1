import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { lockDataDir } from "../../sandbox/data-dir-lock.ts";

describe("the lock on a data directory", () => {
  let dir: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "trunkline-lock-test-"));
  });

  afterEach(async () => {
    await chmod(dir, 0o700);
    await rm(dir, { recursive: true, force: true });
  });

  test("is held by one process, and by the next after its release", async () => {
    const first = await lockDataDir(dir, process.pid);
    await expect(lockDataDir(dir, process.pid)).rejects.toThrow(`is in use by process ${process.pid}`);
    await first.release();

    const next = await lockDataDir(dir, process.pid);
    expect(next.path).toBe(first.path);
    await next.release();
    expect(await readdir(dir)).toEqual([]);
  });

  test("is held by at most one process, however many try concurrently", async () => {
    const tries = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataDir(dir, process.pid)));
    expect(tries.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(1);
  });

  test("creates the folder with access for its owner only", async () => {
    const { path } = await lockDataDir(join(dir, "state", ".trunkline"), process.pid);
    expect(path.endsWith("/state/.trunkline")).toBe(true);
  });

  test("is not held by an ended process, nor by another process that got its id", async () => {
    await writeFile(join(dir, "lock.999999999.0123456789ab.00"), "");
    await writeFile(join(dir, `lock.${process.pid}.0123456789ab.00`), "");

    const lock = await lockDataDir(dir, process.pid);
    expect(await readdir(dir)).toEqual([expect.stringMatching(`^lock\\.${process.pid}\\.(?!0123456789ab)`)]);
    await lock.release();
  });

  test("explains what to do about a folder without write access", async () => {
    await writeFile(join(dir, "file"), "");
    await expect(lockDataDir(join(dir, "file", "below"), process.pid)).rejects.toThrow(
      /cannot be used as the data directory .*ENOTDIR.*TRUNKLINE_DATA_DIR/,
    );
  });
});
