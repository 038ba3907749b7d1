import { setTimeout as sleep } from "node:timers/promises";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { v7 as uuidv7 } from "uuid";
import { makeSessionKey } from "../src/actions/credentials/credential-key.ts";
import { forgeActor } from "../src/actions/members/forge-accounts.ts";
import { findBrowser } from "../scripts/find-browser.mjs";
import type { Db } from "../src/store/db/connect.ts";
import { setMembership } from "../src/store/tenancy/memberships.ts";
import { insertSession } from "../src/store/tenancy/sessions.ts";
import type { Pace } from "./compare.ts";
import { atMost, median, report, short, type Measurement } from "./report.ts";
import { measureScrolling } from "./scrolling.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import type { BenchWorld } from "./world.ts";

const LOAD_MS = 1_000;
/** The most that a drop takes beyond its call. */
const DROP_MS = 50;
const LOADS = 9;
const DROPS = 15;
const SCROLLS = 3;
/** The cards of the board that is scrolled. */
const MANY_CARDS = 5_000;
const HOUR_MS = 3_600_000;
/** How often the bench asks the page whether it has recorded a time, in milliseconds. */
const LOOK_EVERY_MS = 50;

/** The cookie of a new session of a person who is a member of the board. */
async function signIn(db: Db, { workspaceId }: BenchBoard): Promise<string> {
  const account = { forgeId: 1, login: "bench-person", avatarUrl: null, isBot: false };
  const { userId } = await forgeActor({ newId: uuidv7 }, db, account);
  await setMembership(db, { workspaceId, userId, role: "member" });
  const { clientId, secretHash, text } = makeSessionKey();
  const times = { idleMs: HOUR_MS, maxMs: HOUR_MS };
  await insertSession(db, {
    id: uuidv7(),
    clientId,
    userId,
    secretHash,
    ...times,
    forgeToken: Buffer.alloc(0),
  });
  return text;
}

/** Opens a new profile, without cached files, that is signed in. */
async function openProfile(browser: Browser, service: string, cookie: string): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL: service, viewport: { width: 1440, height: 900 } });
  await context.addCookies([
    { name: "__Host-trunkline", value: cookie, url: service.replace("http:", "https:"), secure: true },
  ]);
  await context.addInitScript(recordTimes);
  return context;
}

/** Runs in the page before its own scripts: records when a card can be used, and when a dropped one is saved. */
const recordTimes = `
  const times = globalThis.benchTimes = { usable: null, dropped: null, settled: null };
  const look = () => {
    const now = performance.now();
    if (times.usable === null && document.querySelector("[data-card] a"))
      requestAnimationFrame(() => setTimeout(() => { times.usable ??= performance.now(); }));
    if (times.dropped !== null && times.settled === null && document.querySelector(".toast")) times.settled = now;
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
  addEventListener("drop", () => { times.dropped = performance.now(); }, { capture: true });
`;

/** Waits until the page has recorded a time. */
async function timeOf(page: Page, name: "usable" | "settled"): Promise<number> {
  for (;;) {
    const time = await page.evaluate<number | null>(`globalThis.benchTimes.${name}`);
    if (time !== null) return time;
    await sleep(LOOK_EVERY_MS);
  }
}

/** The milliseconds from opening the board until its cards can be used. */
async function loadOnce(browser: Browser, service: string, board: BenchBoard, cookie: string) {
  const context = await openProfile(browser, service, cookie);
  const page = await context.newPage();
  await page.goto(`/b/${board.workspaceId}`);
  const usable = await timeOf(page, "usable");
  await context.close();
  return usable;
}

/** A page of a new profile that shows the board, with live updates. */
async function openBoard(
  browser: Browser,
  service: string,
  board: BenchBoard,
  cookie: string,
): Promise<Page> {
  const context = await openProfile(browser, service, cookie);
  const page = await context.newPage();
  await page.goto(`/b/${board.workspaceId}`);
  await page.locator('.connection[data-state="live"]').waitFor();
  await timeOf(page, "usable");
  return page;
}

interface Drop {
  /** From the drop until the page shows that the card is saved, in milliseconds. */
  readonly total: number;
  /** Of the call that moves the card. */
  readonly call: number;
}

/** Drags the third card of the first stage to its top. */
async function dropOnce(page: Page): Promise<Drop> {
  const cards = page.locator(".column").first().locator("[data-card]");
  const [from, to] = [await cards.nth(2).boundingBox(), await cards.nth(0).boundingBox()];
  if (!from || !to) throw new Error("The board shows no cards.");
  await page.evaluate(
    "performance.clearResourceTimings(); Object.assign(globalThis.benchTimes, { dropped: null, settled: null })",
  );
  await page.mouse.move(from.x + from.width / 2, from.y + 6);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2 - 5, to.y + 4, { steps: 4 });
  await page.mouse.move(to.x + to.width / 2, to.y + 6, { steps: 2 });
  await page.mouse.up();
  await timeOf(page, "settled");
  const drop = await page.evaluate<Drop>(`
    new Promise((done) => setTimeout(done, 100)).then(() => {
      const { dropped, settled } = globalThis.benchTimes;
      const call = performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/move"));
      return { total: settled - dropped, call: call.responseEnd - call.startTime };
    })`);
  await page.getByRole("region", { name: "Notices" }).getByRole("button", { name: "Dismiss" }).click();
  return drop;
}

async function measureLoads(load: () => Promise<number>, count: number, cards: number): Promise<Measurement> {
  await load();
  const loads: number[] = [];
  for (let nth = 0; nth < count; nth++) loads.push(await load());
  return report({
    name: `console, board of ${cards}: first load to usable, ms`,
    value: median(loads),
    goal: atMost(LOAD_MS),
  });
}

async function measureDrops(page: Page, count: number): Promise<Measurement> {
  await dropOnce(page);
  const drops: Drop[] = [];
  for (let nth = 0; nth < count; nth++) drops.push(await dropOnce(page));
  const calls = median(drops.map(({ call }) => call));
  return report(
    {
      name: "console, drop to saved without Git, beyond the call, ms",
      value: median(drops.map(({ total, call }) => total - call)),
      goal: atMost(DROP_MS),
    },
    `: the call takes ${short(calls)} ms`,
  );
}

/** The console in Chromium. The service has served the same pages before. */
export async function measureConsole(
  { db, seeding, service, cleanups }: BenchWorld,
  { isShort }: Pace,
  board: BenchBoard,
): Promise<Measurement[]> {
  const executablePath = findBrowser();
  if (executablePath === null) {
    console.log("console: not measured, there is no Chromium");
    return [];
  }
  // Chromium refuses its sandbox to root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  cleanups.push(() => browser.close());
  const cookie = await signIn(db, board);
  const load = (): Promise<number> => loadOnce(browser, service, board, cookie);
  const loads = await measureLoads(load, isShort ? 1 : LOADS, board.cards);
  const page = await openBoard(browser, service, board, cookie);
  const drops = await measureDrops(page, isShort ? 1 : DROPS);
  await page.context().close();
  const large = await seedBoard(seeding, MANY_CARDS, "bench-console", 0);
  const scrolled = await openBoard(browser, service, large, await signIn(db, large));
  return [loads, drops, await measureScrolling(scrolled, large.cards, isShort ? 1 : SCROLLS)];
}
