import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Deps } from "../../src/actions/deps.ts";
import type { RunningForge } from "../../sandbox/forge/start-forge.ts";
import { Browser, type Page } from "../../test/support/console/browser.ts";
import { newMember } from "../../test/support/console/people.ts";
import type { TestBoard } from "../../test/support/world.ts";
import { uniqueText } from "./board-knowledge.ts";
import { isFinal } from "./caller.ts";
import type { Commenting } from "./commenting.ts";

/** The console has an https URL. The harness is the proxy that terminates TLS. */
const PUBLIC_URL = "https://trunkline.example.test";
const RETRY_MS = 300;

/** The settings of a service with a console. */
export const consoleEnvironment = ({ app }: RunningForge) => ({
  PUBLIC_URL,
  CLIENT_ID: app.clientId,
  CLIENT_SECRET: app.clientSecret,
});

/** The login of a new member of the board. */
export async function newPerson(
  { forge, deps }: { readonly forge: RunningForge; readonly deps: Deps },
  board: TestBoard,
): Promise<string> {
  return (await newMember({ forge, service: { deps } }, [board])).login;
}

/** Starts a session of the console. */
export async function signInToConsole(baseUrl: string, login: string): Promise<Browser> {
  const browser = new Browser(baseUrl);
  const returned = await browser.choose(await browser.openSignIn(), login);
  const { text } = await browser.get(returned.replace(PUBLIC_URL, baseUrl));
  const { status } = await browser.get("/console/session");
  if (status !== 200) throw new Error(`${login} could not sign in: ${text}`);
  return browser;
}

/** Reads the board and comments on cards as the console's pages do, with one session, until `isOver`. */
export async function runConsolePerson(browser: Browser, context: Commenting): Promise<void> {
  const { own, comments, isOver, pauseMs } = context;
  while (!isOver()) {
    const [cardNumber] = own.cards.slice(-1);
    if (cardNumber !== undefined) {
      const body = uniqueText(own, "said by a person");
      await untilResponse(browser, "GET", "/console/v1/board", undefined, context);
      const path = `/console/v1/cards/${cardNumber}/comments`;
      const page = await untilResponse(browser, "POST", path, { body }, context);
      if (page?.status === 201) comments.push({ id: (page.body as { id: string }).id, body, at: Date.now() });
    }
    await sleep(pauseMs);
  }
}

async function untilResponse(
  browser: Browser,
  method: string,
  path: string,
  body: unknown,
  { failed, withoutResponse, retryUntil }: Commenting,
): Promise<Page | null> {
  const key = { "idempotency-key": `person-${randomUUID()}` };
  for (;;) {
    const page = await browser.write(method, path, body, key).catch((error: unknown) => String(error));
    if (typeof page === "object") {
      if (page.status === 401) withoutResponse.push(`the session ended: ${method} ${path} ${page.text}`);
      const { status, headers } = page;
      if (isFinal({ status, retryAfter: headers.get("retry-after") })) return page;
    }
    failed.push(
      `person ${method} ${path}: ${typeof page === "string" ? page : `${page.status} ${page.text}`}`,
    );
    if (Date.now() > retryUntil()) {
      withoutResponse.push(`person ${method} ${path} has no final response`);
      return null;
    }
    await sleep(RETRY_MS);
  }
}
