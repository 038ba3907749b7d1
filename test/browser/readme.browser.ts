import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { issueCredential } from "../../src/actions/credentials/credentials.ts";
import { makeApi } from "../support/api.ts";
import { branchOf, writeFile } from "../support/stories/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";
import { onBoard } from "./support/board-page.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";

/** With a folder, the picture of the README is saved there as board.png. */
const SCREENSHOTS = process.env["SCREENSHOTS"];

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterAll(() => app.stop());

type StageName = keyof TestBoard["stages"];

interface Story {
  readonly title: string;
  readonly stage: StageName;
  readonly priority?: "low" | "medium" | "high" | "urgent";
  readonly labels?: readonly string[];
  readonly assignee?: "ada" | "grace";
}

/** The cards of a shop, the first of each stage on top. */
const STORIES: readonly Story[] = [
  { title: "Offer gift cards", stage: "Backlog" },
  {
    title: "Limit the sign-in attempts of an address",
    stage: "To do",
    priority: "urgent",
    labels: ["security"],
  },
  { title: "Export invoices as CSV", stage: "To do", priority: "high", labels: ["billing"], assignee: "ada" },
  { title: "Remember the last filter of the order list", stage: "To do", labels: ["design"] },
  { title: "Write down how refunds work", stage: "To do", priority: "low", labels: ["docs"] },
  {
    title: "Explain failed payments",
    stage: "In progress",
    priority: "high",
    labels: ["billing"],
    assignee: "grace",
  },
  { title: "Find orders by customer number", stage: "In progress", assignee: "ada" },
  {
    title: "Update the checkout to the new tax rates",
    stage: "In review",
    priority: "urgent",
    labels: ["billing"],
    assignee: "grace",
  },
  { title: "Show the total while the cart changes", stage: "In review", labels: ["design"], assignee: "ada" },
  {
    title: "Fix the rounding of discounts",
    stage: "Done",
    priority: "high",
    labels: ["bug"],
    assignee: "grace",
  },
  { title: "Link invoices in mails", stage: "Done", labels: ["billing"], assignee: "ada" },
];
const LABELS = { billing: "blue", bug: "red", design: "purple", docs: "gray", security: "orange" } as const;
const ORDER: readonly StageName[] = ["Backlog", "To do", "In progress", "In review", "Done"];

/** Moves a new card through the stages, with a commit on its branch. */
async function bring(board: TestBoard, number: number, stage: StageName): Promise<void> {
  if (stage === "Backlog") return;
  await board.api.move(number, board.stages[stage === "To do" ? stage : "In progress"]);
  if (stage === "To do") return;
  await writeFile(board, "web", await branchOf(board, number), `${number}.txt`, "done\n");
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  for (const next of ORDER.slice(3, ORDER.indexOf(stage) + 1))
    await board.api.move(number, board.stages[next]);
}

async function boardOfAShop(
  people: Readonly<Record<"ada" | "grace", string>>,
  board: TestBoard,
): Promise<number[]> {
  const labelIds = new Map<string, string>();
  for (const [name, color] of Object.entries(LABELS)) {
    const { body } = await board.api.post<{ id: string }>("/v1/labels", { name, color });
    labelIds.set(name, body.id);
  }
  const members = (await board.api.get<{ id: string; name: string }[]>("/v1/members")).body;
  const idOf = (person: "ada" | "grace") => members.find(({ name }) => name === people[person])?.id;
  const numbers: number[] = [];
  for (const { title, stage, priority, labels = [], assignee } of STORIES.toReversed()) {
    const { number } = await board.api.card({
      title,
      ...(priority && { priority }),
      labelIds: labels.map((name) => labelIds.get(name)),
      ...(assignee && { assigneeId: idOf(assignee) }),
    });
    await bring(board, number, stage);
    numbers.unshift(number);
  }
  return numbers;
}

/** GitHub refuses to merge a card whose branch conflicts with main. */
async function refuse(board: TestBoard, number: number): Promise<void> {
  const branch = await branchOf(board, number);
  await writeFile(board, "web", branch, "app.txt", "tax 21\n");
  await writeFile(board, "web", "main", "app.txt", "tax 20\n");
  const moved = await board.api.move(number, board.stages.Done);
  if (moved.status !== 409) throw new Error(`the move was not refused: ${moved.text}`);
}

/** An agent works on a card. */
async function claim({ workspaceId }: TestBoard, number: number): Promise<void> {
  const { deps, baseUrl } = app.world.service;
  const boards = [{ workspaceId, role: "member" as const }];
  const order = { name: "fixing agent", boards, scopes: ["read", "write"] as const, expiresAt: null };
  const { apiKey } = await issueCredential(deps, order);
  await makeApi(baseUrl, apiKey).post(`/v1/cards/${number}/claim`, { ttlSeconds: 3_600 });
}

it("a board at work shows who does what, and what GitHub refuses", async () => {
  const board = await app.board();
  await board.db("workspaces").where({ id: board.workspaceId }).update({ name: "Shop" });
  const grace = await app.signIn(board, "grace");
  await grace.close();
  const { page, ...ada } = await app.signIn(board);
  const numbers = await boardOfAShop(board.logins, board);
  const numberOf = (start: string) => numbers[STORIES.findIndex(({ title }) => title.startsWith(start))] ?? 0;
  await refuse(board, numberOf("Update the checkout"));
  await claim(board, numberOf("Explain failed"));
  const shown = await onBoard(page);
  await shown.card(numberOf("Update the checkout")).getByText("Merge conflict").waitFor();
  await shown.card(numberOf("Explain failed")).getByText("claimed by fixing agent").waitFor();
  for (const stage of ORDER.slice(1)) {
    await shown.shows(
      stage,
      numbers.filter((_, at) => STORIES[at]?.stage === stage),
    );
  }
  expect(ada.problems()).toEqual([]);
  if (SCREENSHOTS) {
    await mkdir(SCREENSHOTS, { recursive: true });
    await page.setViewportSize({ width: 1_440, height: 540 });
    await page.reload();
    await shown.card(numberOf("Update the checkout")).getByText("Merge conflict").waitFor();
    await page.waitForLoadState("networkidle").catch(() => undefined);
    await page.screenshot({ path: join(SCREENSHOTS, "board.png") });
  }
  await ada.close();
});
