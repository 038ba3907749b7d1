import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, jest } from "@jest/globals";
import { awake } from "../../src/store/awake.ts";

let looks: jest.SpiedFunction<typeof setImmediate>;
beforeEach(() => {
  looks = jest.spyOn(globalThis, "setImmediate");
});
afterEach(() => {
  looks.mockRestore();
});

/** Far more than fit into the time that an answer is watched for, and far fewer than into one of these. */
const MANY = 2_000;
const LONG_MS = 200;

it("gives and throws what the answer does", async () => {
  await expect(awake(Promise.resolve("found"))).resolves.toBe("found");
  await expect(awake(Promise.reject(new Error("lost")))).rejects.toThrow("lost");
});

it("goes to sleep over an answer that takes long", async () => {
  expect(await awake(sleep(LONG_MS, "late"))).toBe("late");
  expect(looks.mock.calls.length).toBeLessThan(MANY);
});

it("ends with the answer", async () => {
  await awake(Promise.resolve());
  await sleep(5);
  const after = looks.mock.calls.length;
  await sleep(LONG_MS);
  expect(looks.mock.calls.length).toBe(after);
});

it("does not watch for several at once", async () => {
  await Promise.all([1, 2, 3].map((nth) => awake(sleep(20, nth))));
  expect(looks.mock.calls.length).toBeLessThan(10);
});
