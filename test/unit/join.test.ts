import { expect, it } from "@jest/globals";
import { createCoalescer } from "../../src/store/cards/cached-boards.ts";

/** Something that is asked about, answers when it is told to, and counts who asks it. */
function slowTruth() {
  let value = 0;
  const open: (() => void)[] = [];
  return {
    set: (to: number) => void (value = to),
    asked: 0,
    /** What is true as it is asked, told once `answer` is called. */
    ask(): Promise<number> {
      this.asked++;
      const now = value;
      return new Promise((resolve) => open.push(() => resolve(now)));
    },
    async answer(): Promise<void> {
      open.shift()?.();
      // What waits for the answer begins in turns of the microtask queue.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it("who asks while a question is under way shares the next, and hears what was true after he asked", async () => {
  const truth = slowTruth();
  const join = createCoalescer();
  const ask = () => join("a", () => truth.ask());
  const first = ask();
  truth.set(1);
  const second = ask();
  const third = ask();
  expect(truth.asked).toBe(1);
  await truth.answer();
  expect(await first).toBe(0);
  expect(truth.asked).toBe(2);
  truth.set(2);
  const fourth = ask();
  await truth.answer();
  expect(await Promise.all([second, third])).toEqual([1, 1]);
  await truth.answer();
  expect(await fourth).toBe(2);
  expect(truth.asked).toBe(3);
});

it("questions of another key wait for nobody", async () => {
  const truth = slowTruth();
  const join = createCoalescer();
  const asked = [join("a", () => truth.ask()), join("b", () => truth.ask())];
  expect(truth.asked).toBe(2);
  await truth.answer();
  await truth.answer();
  await Promise.all(asked);
});

it("a question that fails fails for those who share it, and for nobody after", async () => {
  const join = createCoalescer();
  const failing = (): Promise<number> => Promise.reject(new Error("away"));
  const first = join("a", failing);
  const shared = [join("a", failing), join("a", failing)];
  const outcomes = await Promise.allSettled([first, ...shared]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(await join("a", () => Promise.resolve(1))).toBe(1);
});
