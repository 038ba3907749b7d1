import type { Locator, Page } from "playwright-core";
import { eventually } from "../../support/api.ts";
import type { TestBoard } from "../../support/world.ts";
import type { ConsoleWorld } from "./console-world.ts";

/** The parts of the board's screen. */
export interface BoardPage {
  readonly page: Page;
  column(name: string): Locator;
  card(number: number): Locator;
  cardIn(column: string, number: number): Locator;
  /** The numbers of the cards that a column shows, from top to bottom. */
  numbersIn(column: string): Promise<number[]>;
  /** Drags a card onto the head of a column or onto another card. */
  drag(number: number, target: Locator): Promise<void>;
  /** Picks a card up and keeps it over a column. */
  hold(number: number, column: string): Promise<void>;
  /** Opens a card's menu of moves and chooses an entry. */
  choose(number: number, entry: string): Promise<void>;
  /** Waits until a column shows exactly these cards. */
  shows(column: string, numbers: readonly number[]): Promise<void>;
  /** The sentences that the live region has said, in order. */
  announced(): Promise<readonly string[]>;
  /** The number of the card with the focus. */
  focused(): Promise<number | null>;
}

/** Wraps a page that shows the board, and records from now on what the live region says. */
export async function onBoard(page: Page): Promise<BoardPage> {
  await page.locator(".board").waitFor();
  await page.evaluate(recordAnnouncements);
  const column = (name: string): Locator =>
    page.locator(".column", { has: page.getByRole("heading", { name, exact: false }) });
  const card = (number: number): Locator => page.locator(`[data-card="${number}"]`);
  /** Near the top, so that a card dropped on another one goes above it. */
  const pointOn = async (target: Locator): Promise<readonly [number, number]> => {
    const box = await target.boundingBox();
    if (!box) throw new Error("the target is not on the page");
    return [box.x + box.width / 2, box.y + 6];
  };
  /** Moves the pointer again if the target has moved meanwhile, for example because a banner appeared above it. */
  const pointAt = async (target: Locator): Promise<void> => {
    const [x, y] = await pointOn(target);
    await page.mouse.move(x - 5, y - 2, { steps: 4 });
    await page.mouse.move(x, y, { steps: 2 });
    const [nextX, nextY] = await pointOn(target);
    if (nextX !== x || nextY !== y) await pointAt(target);
  };
  const hold = async (number: number, target: Locator): Promise<void> => {
    await pointAt(card(number));
    await page.mouse.down();
    await pointAt(target);
  };
  const numbersIn = async (name: string): Promise<number[]> => {
    const shown = await column(name).locator("[data-card]").evaluateAll(numbersOf);
    return shown.map(Number);
  };
  return {
    page,
    column,
    card,
    cardIn: (name, number) => column(name).locator(`[data-card="${number}"]`),
    numbersIn,
    shows: async (name, numbers) => {
      await eventually(
        () => numbersIn(name),
        (shown) => shown.join() === numbers.join(),
      );
    },
    drag: async (number, target) => {
      await hold(number, target);
      await page.mouse.up();
    },
    hold: (number, name) => hold(number, column(name).locator(".column-head")),
    choose: async (number, entry) => {
      await card(number).hover();
      await page.getByRole("button", { name: `Move card ${number}`, exact: true }).click();
      await page.getByRole("menuitem", { name: new RegExp(`^${entry}`) }).click();
    },
    announced: () => page.evaluate("globalThis.announced"),
    focused: () =>
      page.evaluate(
        "Number(document.activeElement?.closest('[data-card]')?.getAttribute('data-card') ?? NaN) || null",
      ),
  };
}

/** Runs in the page. */
const numbersOf = (cards: readonly object[]): string[] =>
  (cards as readonly { readonly dataset: Readonly<Record<string, string>> }[]).map(
    ({ dataset }) => dataset["card"] ?? "",
  );

const recordAnnouncements = `
  globalThis.announced = [];
  new MutationObserver(() => {
    const text = document.querySelector('[data-testid="announcer"]').textContent;
    if (text !== globalThis.announced.at(-1)) globalThis.announced.push(text);
  }).observe(document.querySelector('[data-testid="announcer"]'), { childList: true, subtree: true, characterData: true });
`;

/** A board with cards in its first stage: the first one is card 1, the last one is on top. */
export async function boardWithCards(app: ConsoleWorld, count: number) {
  const board = await app.board();
  for (let number = 1; number <= count; number++) await addCard(board, `Card ${number}`);
  return board;
}

/** A card at the top of the first stage. */
export async function addCard(board: TestBoard, title: string): Promise<number> {
  const { number } = await board.api.card({ title });
  await board.api.move(number, board.stages["To do"]);
  return number;
}
