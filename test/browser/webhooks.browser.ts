import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import { eventually } from "../support/api.ts";
import { startReceiver, type Receiver } from "../support/stories/outgoing-webhooks.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];
const HOSTILE = `<img src=x onerror="alert(1)"> "quoted"`;

type Board = Awaited<ReturnType<ConsoleWorld["board"]>>;

let console: ConsoleWorld;
const receivers: Receiver[] = [];
beforeAll(async () => {
  console = await startConsole({ webhooks: { allowedAddresses: ["127.0.0.0/8"], random: () => 0.5 } });
});
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});
afterAll(() => console.stop());

async function aReceiver(): Promise<Receiver> {
  const receiver = await startReceiver();
  receivers.push(receiver);
  return receiver;
}

/** Signs in as a maintainer and opens the webhooks. */
async function openWebhooks(
  board: Board,
  options: Parameters<ConsoleWorld["signIn"]>[2] = {},
): Promise<Visitor> {
  const visitor = await console.signIn(board, "ada", { role: "maintainer", ...options });
  await visitor.page.goto(`${new URL(visitor.page.url()).pathname}/settings/webhooks`);
  await visitor.page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
  return visitor;
}

const announced = (page: Visitor["page"], text: string) =>
  page.getByTestId("announcer").getByText(text, { exact: true }).waitFor({ state: "attached" });

/** A webhook that was created by the API, in the state that its row says. */
async function aWebhook(board: Board, url: string, state: object = {}): Promise<string> {
  const { body } = await board.api.post<{ id: string }>("/v1/webhooks", { url });
  if (Object.keys(state).length > 0) await board.db("webhooks").where({ id: body.id }).update(state);
  return body.id;
}
const webhookOf = async (board: Board) =>
  (
    await board.api.get<{ url: string; kinds: string[] | null; pausedReason: string | null }[]>(
      "/v1/webhooks",
    )
  ).body;

describe("a webhook", () => {
  it("that fails is inspected, and sends everything again after its receiver was repaired", async () => {
    const board = await console.board();
    const receiver = await aReceiver();
    receiver.respondWith((response) => response.writeHead(500).end(`out of order ${HOSTILE}`));
    const { page, context, ...ada } = await console.signIn(board, "ada", { role: "maintainer" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    // By keyboard: two keys, the section, the button.
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("link", { name: "Webhooks" }).press("Enter");
    await page.getByRole("button", { name: "New webhook" }).press("Enter");
    await page.getByRole("textbox", { name: "URL" }).fill(receiver.url);
    await page.getByRole("textbox", { name: "URL" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "The secret of the webhook" });
    const secret = (await dialog.locator("code").textContent()) ?? "";
    await dialog.getByRole("button", { name: "Copy" }).click();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(secret);
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "I have stored it" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);

    const { number } = await board.api.card({ title: "Say hello" });
    const [failed] = await receiver.receivedWhen(1);
    const webhook = page.getByRole("listitem", { name: receiver.url });
    await webhook.getByText("Failing", { exact: true }).waitFor();
    await webhook.getByRole("button", { name: "Deliveries" }).click();
    const delivery = webhook.getByRole("list", { name: "Deliveries" }).getByRole("listitem").first();
    await delivery.getByText("500", { exact: true }).waitFor();
    await delivery.getByText(/A card was created/).waitFor();
    await delivery.getByText("Next attempt within a minute.").waitFor();
    await delivery.getByText("Response", { exact: true }).click();
    await delivery.getByText(`out of order ${HOSTILE}`).waitFor();

    receiver.respondWith((response) => response.writeHead(204).end());
    await delivery.getByRole("button", { name: "Send this and later events again…" }).click();
    await page.getByText(`The first one sent is event ${failed?.event.seq}.`).waitFor();
    await page
      .getByRole("dialog", { name: "Send events again" })
      .getByRole("button", { name: "Send again" })
      .click();
    await announced(page, "The events are sent again");
    const received = await receiver.receivedWhen(2);
    expect(received.at(-1)?.event).toMatchObject({ kind: "card_created", card: { number } });
    expect(received.at(-1)?.headers["webhook-id"]).toBe(failed?.headers["webhook-id"]);
    const headers = received.at(-1)?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(received.at(-1)?.text ?? "", headers)).toMatchObject({
      kind: "card_created",
    });
    await webhook.getByText("Active", { exact: true }).waitFor({ timeout: 10_000 });
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("is edited, paused, resumed and pinged", async () => {
    const board = await console.board();
    const receiver = await aReceiver();
    await aWebhook(board, receiver.url);
    const { page, ...ada } = await openWebhooks(board);
    const webhook = page.getByRole("listitem", { name: receiver.url });
    await webhook.getByRole("button", { name: "Send a ping" }).click();
    await webhook.getByText("204", { exact: true }).waitFor();
    await announced(page, "The receiver responded to the ping with 204");
    // The response takes as much space as it needs.
    expect((await webhook.locator(".outcome").boundingBox())?.height).toBeLessThan(60);
    receiver.respondWith((response) => response.writeHead(500).end());
    await webhook.getByRole("button", { name: "Send a ping" }).click();
    await announced(page, "The receiver responded to the ping with 500");
    receiver.respondWith((response) => response.writeHead(204).end());
    expect(receiver.received.map(({ event }) => event.kind)).toContain("ping");
    await webhook.getByRole("button", { name: "Pause" }).click();
    await webhook.getByText("Paused by hand").waitFor();
    await webhook.getByRole("button", { name: "Resume" }).click();
    await webhook.getByText("Active", { exact: true }).waitFor();
    await webhook.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("radio", { name: "Only these" }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Choose at least one kind of event.").waitFor();
    for (const name of [/A comment was written/, /A comment was edited/])
      await page.getByRole("checkbox", { name }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await announced(page, "Saved");
    expect((await webhookOf(board))[0]?.kinds).toEqual(["comment", "comment_edited"]);
    await ada.close();
  });

  it("gets a new secret, and is deleted, only after a question", async () => {
    const board = await console.board();
    const url = "https://hooks.example.com/a";
    await aWebhook(board, url);
    const { page, ...ada } = await openWebhooks(board);
    const webhook = page.getByRole("listitem", { name: url });
    await webhook.getByRole("button", { name: "New secret…" }).click();
    await page.getByRole("button", { name: "Replace the secret" }).click();
    const secret = page.getByRole("dialog", { name: "The secret of the webhook" });
    expect(await secret.locator("code").textContent()).toMatch(/^whsec_/);
    await secret.getByRole("button", { name: "I have stored it" }).click();
    await webhook.getByRole("button", { name: "Delete…" }).click();
    await page.keyboard.press("Escape");
    expect(await webhookOf(board)).toHaveLength(1);
    await webhook.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No webhook yet").waitFor();
    expect(await webhookOf(board)).toEqual([]);
    expect(await page.locator(":focus").textContent()).toBe("Webhooks");
    await ada.close();
  });

  it.each([
    ["failing", "Paused after failures", /Repair the receiver/],
    ["gone", "Disabled by the receiver", /responded with 410/],
    ["left", "Paused: somebody left", /replace the secret/],
  ])("that is paused because it is %s says what to do", async (reason, label, advice) => {
    const board = await console.board();
    await aWebhook(board, "https://hooks.example.com/a", { paused_reason: reason, paused_at: new Date() });
    const { page, ...ada } = await openWebhooks(board);
    await page.getByText(label, { exact: true }).waitFor();
    await page.getByText(advice).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await eventually(
      () => webhookOf(board),
      ([webhook]) => webhook?.pausedReason === null,
    );
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("the form of a webhook", () => {
  it("keeps what was typed when the service refuses or does not respond, and creates one webhook", async () => {
    const board = await console.board();
    const { page, context, ...ada } = await openWebhooks(board);
    await page.getByRole("button", { name: "New webhook" }).click();
    const url = page.getByRole("textbox", { name: "URL" });
    await url.fill("https://10.0.0.1/hook");
    await page.getByRole("button", { name: "Create" }).click();
    await page.locator(".field-error").waitFor();
    expect(await url.inputValue()).toBe("https://10.0.0.1/hook");
    await url.fill("https://hooks.example.com/b");
    let isLost = false;
    await context.route("**/console/v1/webhooks", async (route) => {
      if (route.request().method() !== "POST" || isLost) return route.fallback();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await page.getByRole("button", { name: "Create" }).click();
    await page
      .getByRole("alert")
      .getByText(/Not saved/)
      .waitFor();
    expect(await url.inputValue()).toBe("https://hooks.example.com/b");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "I have stored it" }).click();
    expect((await webhookOf(board)).map((each) => each.url)).toEqual(["https://hooks.example.com/b"]);
    await ada.close();
  });

  it("refuses a position that the feed does not keep, with the service's words", async () => {
    const board = await console.board();
    await aWebhook(board, "https://hooks.example.com/a");
    const { page, ...ada } = await openWebhooks(board);
    await page.getByRole("button", { name: "Send again…" }).click();
    const position = page.getByRole("textbox", { name: "Send the events after number" });
    await page.getByText("The first one sent is event 1.").waitFor();
    expect(await position.inputValue()).toBe("0");
    await position.fill("999999");
    await position.press("Enter");
    await page.getByText(/The feed has no events after 999999/).waitFor();
    expect(await position.inputValue()).toBe("999999");
    await ada.close();
  });
});

it("members are told that only maintainers see webhooks", async () => {
  const board = await console.board();
  await aWebhook(board, "https://hooks.example.com/secret-path");
  const { page, ...ada } = await console.signIn(board, "grace");
  await page.goto(`${new URL(page.url()).pathname}/settings/webhooks`);
  await page.getByText("Only maintainers see and change webhooks.").waitFor();
  expect(await page.content()).not.toContain("secret-path");
  await ada.close();
});

describe.each(["desktop", "phone"] as const)("on a %s", (size) => {
  it("the webhooks have no serious accessibility problem and fit the width", async () => {
    const board = await console.board();
    const receiver = await aReceiver();
    receiver.respondWith((response) => response.writeHead(500).end(HOSTILE));
    await aWebhook(board, receiver.url);
    await aWebhook(
      board,
      "https://hooks.example.com/a-rather-long-path/that-does-not-break/anywhere-by-itself",
      {
        paused_reason: "gone",
        paused_at: new Date(),
      },
    );
    await board.api.card();
    await receiver.receivedWhen(1);
    const { page, ...ada } = await openWebhooks(board, { size });
    const webhook = page.getByRole("listitem", { name: receiver.url });
    await webhook.getByRole("button", { name: "Deliveries" }).click();
    await webhook.getByText("500", { exact: true }).first().waitFor();
    expect(await findInaccessible(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")).toBe(true);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `webhooks-${size}`);
    await page.getByRole("button", { name: "New webhook" }).click();
    await page.getByRole("radio", { name: "Only these" }).click();
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `webhook-form-${size}`);
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});
