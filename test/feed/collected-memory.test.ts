/** What the soak test found: signals that outlive their use, or end before it. */
import { EventEmitter, getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Response } from "express";
import { expect, it } from "@jest/globals";
import { createWebhookClient } from "../../src/actions/webhooks/webhook-client.ts";
import { closedSignal, waitUntilDrained } from "../../src/http/event-stream.ts";
import { eventually } from "../support/api.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const openResponse = (): Response => new EventEmitter() as unknown as Response;

it("a sent webhook leaves nothing in memory", async () => {
  const results: WeakRef<object>[] = [];
  const client = createWebhookClient({
    resolveHost: () => {
      const addresses = [{ address: "127.0.0.1", family: 4 }];
      results.push(new WeakRef(addresses));
      return Promise.resolve(addresses);
    },
  });
  const { signal } = new AbortController();
  for (let sent = 0; sent < 20; sent++) {
    const { error } = await client.post("https://hook.example", { headers: {}, body: "{}" }, signal);
    expect(error).not.toBeNull();
  }
  const kept = await eventually(
    () => {
      collectGarbage();
      return Promise.resolve(results.filter((each) => each.deref() !== undefined));
    },
    // The last one may be on the stack.
    ({ length }) => length <= 1,
  );
  expect(kept.length).toBeLessThanOrEqual(1);
  expect(results).toHaveLength(20);
});

it("a reader that reads nothing is given up in time, also after a garbage collection", async () => {
  const { signal } = new AbortController();
  const drained = waitUntilDrained(openResponse(), 300, signal);
  await sleep(50);
  collectGarbage();
  expect(await Promise.race([drained, sleep(5_000, "still waiting")])).toBe(false);
});

it("a closed connection leaves nothing at the signal of the process", async () => {
  const closing = new AbortController();
  const [one, other] = [openResponse(), openResponse()];
  const signals = [closedSignal(one, closing.signal), closedSignal(other, closing.signal)];
  await sleep(1);
  collectGarbage();
  one.emit("close");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  expect(getEventListeners(closing.signal, "abort")).toHaveLength(1);
  closing.abort();
  expect(signals[1]?.aborted).toBe(true);
});
