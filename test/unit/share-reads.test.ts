import { expect, it } from "@jest/globals";
import { createReadSharing } from "../../src/store/db/share-reads.ts";

/** A value with a slow read that ends when `respond` is called, and a count of the reads. */
function slowValue() {
  let value = 0;
  const open: (() => void)[] = [];
  return {
    set: (to: number) => void (value = to),
    reads: 0,
    /** Returns the value at the time of the call. */
    read(): Promise<number> {
      this.reads++;
      const now = value;
      return new Promise((resolve) => open.push(() => resolve(now)));
    },
    async respond(): Promise<void> {
      open.shift()?.();
      // The next read starts in the microtask queue.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it("callers during a read share the next read and get the value of that time", async () => {
  const source = slowValue();
  const share = createReadSharing();
  const read = () => share("a", () => source.read());
  const first = read();
  source.set(1);
  const second = read();
  const third = read();
  expect(source.reads).toBe(1);
  await source.respond();
  expect(await first).toBe(0);
  expect(source.reads).toBe(2);
  source.set(2);
  const fourth = read();
  await source.respond();
  expect(await Promise.all([second, third])).toEqual([1, 1]);
  await source.respond();
  expect(await fourth).toBe(2);
  expect(source.reads).toBe(3);
});

it("reads of different keys do not wait for each other", async () => {
  const source = slowValue();
  const share = createReadSharing();
  const reads = [share("a", () => source.read()), share("b", () => source.read())];
  expect(source.reads).toBe(2);
  await source.respond();
  await source.respond();
  await Promise.all(reads);
});

it("a failed read fails for the callers that share it, and for no later caller", async () => {
  const share = createReadSharing();
  const failing = (): Promise<number> => Promise.reject(new Error("away"));
  const first = share("a", failing);
  const shared = [share("a", failing), share("a", failing)];
  const outcomes = await Promise.allSettled([first, ...shared]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(await share("a", () => Promise.resolve(1))).toBe(1);
});
