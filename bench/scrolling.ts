import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { atMost, median, report, short, type Measurement } from "./report.ts";

/** The time of 95 % of the frames, in milliseconds: at 60 Hz, one refresh may be missed. */
const FRAME_MS = 34;
/** A frame that people notice, in milliseconds. */
const SLOW_MS = 50;
/** Turns of the wheel: pixels, and the pause after each in milliseconds. About 10,000 pixels a second. */
const STEP = { pixels: 300, pauseMs: 25 };

interface Frames {
  /** The times between frames, in milliseconds. */
  readonly times: readonly number[];
  /** Tasks of more than 50 ms. */
  readonly longTasks: number;
}

/** Runs in the page: records the frames until `stop` is called. */
const recordFrames = `
  const times = [];
  let [longTasks, last] = [0, null];
  const observer = new PerformanceObserver((list) => { longTasks += list.getEntries().length; });
  observer.observe({ type: "longtask" });
  let request = requestAnimationFrame(function tick(now) {
    if (last !== null) times.push(now - last);
    last = now;
    request = requestAnimationFrame(tick);
  });
  globalThis.benchFrames = { stop: () => { cancelAnimationFrame(request); observer.disconnect(); return { times, longTasks }; } };
`;

/** The index of the column with the most cards. */
const findLongest = `
  [...document.querySelectorAll(".column-cards")]
    .map(({ scrollHeight }, at) => ({ scrollHeight, at }))
    .sort((one, other) => other.scrollHeight - one.scrollHeight)[0].at`;

/** Turns the wheel over the longest column until its last card is in view. */
async function scrollOnce(page: Page, at: number): Promise<Frames> {
  const list = `document.querySelectorAll(".column-cards")[${at}]`;
  const box = await page.locator(".column-cards").nth(at).boundingBox();
  if (!box) throw new Error("The board shows no column.");
  await page.evaluate(`${list}.scrollTo(0, 0)`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  // The page settles before it is measured.
  await sleep(500);
  await page.evaluate(recordFrames);
  const isAtEnd = `${list}.scrollTop + ${list}.clientHeight >= ${list}.scrollHeight - 1`;
  while (!(await page.evaluate<boolean>(isAtEnd))) {
    await page.mouse.wheel(0, STEP.pixels);
    await sleep(STEP.pauseMs);
  }
  const frames = await page.evaluate<Frames>("globalThis.benchFrames.stop()");
  const last = `${list}.querySelector("li:last-child").ariaPosInSet === ${list}.querySelector("li").ariaSetSize`;
  if (!(await page.evaluate<boolean>(last))) throw new Error("The last card of the column is not shown.");
  return frames;
}

/** Scrolls the longest column of the open board from top to bottom, some times. */
export async function measureScrolling(page: Page, cards: number, rounds: number): Promise<Measurement> {
  const at = await page.evaluate<number>(findLongest);
  const all: Frames[] = [];
  for (let nth = 0; nth < rounds; nth++) all.push(await scrollOnce(page, at));
  const times = all.flatMap((frames) => frames.times).toSorted((one, other) => one - other);
  const slow = times.filter((time) => time > SLOW_MS).length;
  const longTasks = all.reduce((sum, frames) => sum + frames.longTasks, 0);
  return report(
    {
      name: `console, board of ${cards}: scrolling a column, 95 % of frames within, ms`,
      value: times[Math.floor(times.length * 0.95)] ?? 0,
      goal: atMost(FRAME_MS),
    },
    `: median ${short(median(times))} ms, ${slow} of ${times.length} frames above ${SLOW_MS} ms, ${longTasks} long tasks`,
  );
}
