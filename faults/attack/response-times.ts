import { setTimeout as sleep } from "node:timers/promises";

/** The longest response time of `/healthz`, which needs the event loop only, until `work` ends. */
export async function longestResponse(baseUrl: string, work: Promise<unknown>): Promise<number> {
  const state = { isDone: false };
  const done = work.finally(() => (state.isDone = true));
  let longest = 0;
  while (!state.isDone) {
    const began = performance.now();
    await (await fetch(`${baseUrl}/healthz`)).text();
    longest = Math.max(longest, performance.now() - began);
    await sleep(5);
  }
  await done;
  return longest;
}
