import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import type { Locator } from "playwright-core";
import { DERIVED_KINDS, STORED_KINDS } from "../../src/store/inbox/list-inbox.ts";
import { eventually } from "../support/api.ts";
import { makeProject } from "../support/forge/repositories.ts";
import { clearedWhen, itemsOf, itemWhen } from "../support/inbox.ts";
import { reportStatus } from "../support/stories/repairing.ts";
import { pullPath } from "../support/stories/work-on-card.ts";
import type { TestBoard } from "../support/world.ts";
import { findInaccessible, takeScreenshots, type Visitor } from "./support/browser.ts";
import { startConsole, type ConsoleWorld } from "./support/console-world.ts";
import { boardWithItem, requireReviews, type BoardWithItem, type ItemKind } from "./support/inbox-items.ts";

/** Pictures are taken only if a folder is named. */
const SCREENSHOTS = process.env["SCREENSHOTS"];

const REVIEW_REQUIRED = "Pull request #1 needs an approving review. Ask for one.";

let app: ConsoleWorld;
beforeAll(async () => {
  app = await startConsole();
});
afterEach(() => app.world.forge.control.reset());
afterAll(() => app.stop());

type Open = BoardWithItem & Visitor & { readonly item: Locator };

const itemOn = (page: Visitor["page"], kind: ItemKind): Locator => page.locator(`[data-kind="${kind}"]`);

/** A board with an item of the kind, and ada who looks at it. */
async function openItem(kind: ItemKind, role: "member" | "maintainer" | "viewer" = "member"): Promise<Open> {
  const made = await boardWithItem(app.world, kind);
  const visitor = await app.signIn(made.board, "ada", { role });
  await visitor.page.getByRole("navigation").getByRole("link", { name: /Inbox/ }).click();
  const item = itemOn(visitor.page, kind);
  await item.waitFor();
  return { ...made, ...visitor, item };
}

const click = (item: Locator, name: string) => item.getByRole("button", { name, exact: true }).click();

const mergeQuestion = ({ page, number }: Pick<Open, "page" | "number">): Locator =>
  page.getByRole("dialog", { name: `Move #${number} to Done?` });

/** Repeats a refused move, and confirms that it merges. */
async function repeatMerge(open: Pick<Open, "page" | "number" | "item">): Promise<void> {
  await click(open.item, "Move to Done again");
  await mergeQuestion(open).getByText("merge pull request #1 into main").waitFor();
  await click(mergeQuestion(open), "Merge and move");
}

const isIn = ({ board, number }: BoardWithItem, stage: keyof TestBoard["stages"]) =>
  board.api.cardWhen(number, ({ statusId }) => statusId === board.stages[stage]);

/** For each kind: what it says besides its detail, and how a person ends it. */
const STORIES: Readonly<Record<ItemKind, { says: string; decide: (open: Open) => Promise<unknown> }>> = {
  promotion_blocked: {
    says: "A person reviews the pull request on GitHub.",
    decide: async ({ board, item, ...open }) => {
      await click(item, "Move to Done again");
      await mergeQuestion(open).getByText(REVIEW_REQUIRED).waitFor();
      await click(mergeQuestion(open), "Try anyway");
      await item.getByText(`Not moved again just now: ${REVIEW_REQUIRED}`).waitFor();
      if (SCREENSHOTS) await takeScreenshots(open.page, SCREENSHOTS, "inbox-not-moved");
      await open.page
        .getByTestId("announcer")
        .getByText(`Card #${open.number} was not moved to Done. ${REVIEW_REQUIRED}`)
        .waitFor({ state: "attached" });
      await requireReviews(board, false);
      await repeatMerge({ item, ...open });
      await open.page.getByRole("region", { name: "Notices" }).getByText("is merged").waitFor();
      await isIn({ board, ...open }, "Done");
    },
  },
  branch_suggestion: {
    says: "Link it if the work belongs to the card",
    decide: async ({ board, number, item }) => {
      await click(item, `Link it to #${number}`);
      await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.branchName === "card/1-hello");
    },
  },
  branch_deleted: {
    says: "Push the branch again if the work goes on",
    decide: async ({ page, item }) => {
      await page.keyboard.press("j");
      await page.locator('[data-kind="branch_deleted"]:focus').waitFor();
      await page.keyboard.press("d");
      await item.waitFor({ state: "detached" });
    },
  },
  error_reported: {
    says: "Open it in Sentry",
    decide: async ({ board, page, item }) => {
      await click(item, "Write a card");
      const card = await eventually(
        async () => (await board.api.get<{ title: string; description: string }[]>("/v1/backlog")).body[0],
        (first) => first !== undefined,
      );
      expect(card).toMatchObject({ title: "Checkout returns 500" });
      expect(card?.description).toContain("https://errors.example/1");
      await page.getByRole("region", { name: "Notices" }).getByText("The card is in the backlog").waitFor();
      await click(item, "Dismiss");
    },
  },
  move_disarmed: {
    says: "Then let the move wait again",
    decide: async ({ board, number, item, page }) => {
      await click(item, "Move to Done when ready");
      const question = page.getByRole("dialog", { name: `Move #${number} to Done when ready?` });
      await click(question, "Merge when ready");
      await board.api.cardWhen(number, (card) => "armed" in card);
    },
  },
  pr_merged_outside: {
    says: "Open #1 on GitHub",
    decide: async ({ item, ...open }) => {
      await click(item, "Move to Done");
      await isIn(open, "Done");
    },
  },
  pr_closed_outside: {
    says: "Reopen the pull request on GitHub",
    decide: async ({ item, ...open }) => {
      await click(item, "Move back to the backlog");
      await isIn(open, "Backlog");
    },
  },
  checks_broken: {
    says: "run the checks again on GitHub",
    decide: async ({ board, item }) => {
      const { data } = await itemWhen(board.api, "checks_broken");
      const link = item.getByRole("link", { name: "Open #1 on GitHub" });
      expect(await link.getAttribute("href")).toContain(`/${board.owner}/web/pull/1`);
      await reportStatus(board, String(data["sha"]), "success");
    },
  },
  waiting_stale: {
    says: "Ask for news in a comment",
    decide: async ({ item, ...open }) => {
      await click(item, "Move back to the backlog");
      await isIn(open, "Backlog");
    },
  },
  connection_broken: {
    says: "an owner accepts the App's new permissions",
    decide: async ({ board, page }) => {
      const banner = page.locator(".banner-danger");
      expect(await banner.textContent()).toContain("contents: write");
      const permissions = app.world.forge.context.state.apps.all()[0]?.permissions ?? {};
      app.world.forge.webUi.acceptPermissions(board.owner, permissions);
      await clearedWhen(board.api, "connection_broken");
      await board.api.move(1, board.stages["In progress"]);
      await banner.waitFor({ state: "detached" });
    },
  },
  backmerge_open: {
    says: "Merge the pull request on GitHub.",
    decide: async ({ board, item }) => {
      await item.getByRole("link", { name: "Open #2 on GitHub" }).waitFor();
      await board.person("ada", "PUT", `${pullPath(board, 2)}/merge`, {});
    },
  },
  proposal_waiting: {
    says: "An approval merges it into the card's branch, as you.",
    decide: async ({ board, item }) => {
      await click(item, "Approve and merge");
      await clearedWhen(board.api, "proposal_waiting");
      const reviews = await board.person("grace", "GET", `${pullPath(board, 2)}/reviews`);
      expect(reviews.body).toMatchObject([
        { state: "APPROVED", user: { login: expect.stringMatching(/^ada-/) } },
      ]);
    },
  },
  agent_gave_up: {
    says: "the tests need a <b>database</b>",
    decide: async ({ board, number, item }) => {
      await click(item, "Assign it to me");
      await board.api.cardWhen(number, (card) => "assignee" in card && card.assignee !== null);
    },
  },
  agent_stopped_reacting: {
    says: "Remind the agent on the pull request",
    decide: async ({ item, ...open }) => {
      await click(item, "Move back to the backlog");
      await isIn(open, "Backlog");
    },
  },
  webhook_paused: {
    says: "A resumed webhook sends what it has missed.",
    decide: ({ item }) => click(item, "Resume the webhook"),
  },
};

describe("an item of the inbox", () => {
  it("has a story here for each kind", () => {
    expect(Object.keys(STORIES).toSorted()).toEqual([...STORED_KINDS, ...DERIVED_KINDS].toSorted());
  });

  it.each(Object.keys(STORIES) as ItemKind[])("%s says what to do and is decided", async (kind) => {
    const open = await openItem(kind, kind === "webhook_paused" ? "maintainer" : "member");
    const { board, page, item } = open;
    const { says, decide } = STORIES[kind];
    const [stored] = await itemsOf(board.api, kind);
    const text = await item.textContent();
    expect(text).toContain(stored?.detail);
    expect(text).toContain(says);
    expect(await findInaccessible(page)).toEqual([]);
    if (SCREENSHOTS) await takeScreenshots(page, SCREENSHOTS, `inbox-${kind}`);
    await decide(open);
    await item.waitFor({ state: "detached" });
    await page.getByText("Nothing needs a decision").waitFor();
    expect(open.problems()).toEqual([]);
    await open.close();
  });
});

describe("a refused move that the inbox repeats", () => {
  it("merges only after a confirmation, and not if its plan cannot be read", async () => {
    const { board, page, item, number, ...ada } = await openItem("promotion_blocked");
    const question = mergeQuestion({ page, number });
    await requireReviews(board, false);
    await click(item, "Move to Done again");
    await question.getByText("A merge changes a shared branch and cannot be undone.").waitFor();
    await click(question, "Cancel");
    await question.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Move to Done again" }).and(page.locator(":focus")).waitFor();
    const plans = "**/console/v1/cards/*/move-plan?*";
    await page.route(plans, (route) => route.abort());
    await click(item, "Move to Done again");
    await item.getByText("Not moved again just now:").waitFor();
    expect(await question.count()).toBe(0);
    expect(await board.api.readCard(number)).toMatchObject({ statusId: board.stages["In review"] });
    await page.unroute(plans);
    await repeatMerge({ page, item, number });
    await isIn({ board, number }, "Done");
    await item.waitFor({ state: "detached" });
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });
});

describe("the inbox", () => {
  it("is shown for all projects of the board, with their names", async () => {
    const { board, number } = await boardWithItem(app.world, "promotion_blocked");
    await makeProject(board, "Second");
    const { page, ...ada } = await app.signIn(board);
    await page.getByRole("navigation").getByRole("link", { name: "Inbox 1 item", exact: true }).click();
    const item = itemOn(page, "promotion_blocked");
    await page.getByText("All projects of the board").waitFor();
    await item.getByRole("link", { name: new RegExp(`#${number}`) }).waitFor();
    await page.goto(`${new URL(page.url()).pathname}?card=${number}`);
    await page.locator('[data-kind="promotion_blocked"]:focus').waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it("passes the focus on after a decision", async () => {
    const { board, page, item, ...ada } = await openItem("branch_deleted");
    await requireReviews(board, true);
    const { number } = await board.api.card({ title: "Nothing to merge" });
    await board.api.move(number, board.stages["In review"]);
    await itemOn(page, "promotion_blocked").waitFor();
    // What to do is said once, and with the branch.
    const text = (await itemOn(page, "promotion_blocked").textContent()) ?? "";
    expect(text).toContain(
      `Push to its new branch card/${number}-nothing-to-merge, then move the card again.`,
    );
    expect(text.match(/push/gi)).toHaveLength(1);
    await item.getByRole("button", { name: "Dismiss" }).focus();
    await page.keyboard.press("Enter");
    await page.locator('[data-kind="promotion_blocked"]:focus').waitFor();
    expect(ada.problems()).toEqual([]);
    await ada.close();
  });

  it.each([
    ["viewer", "promotion_blocked", "Viewers cannot decide this."],
    ["member", "webhook_paused", "Only a maintainer can decide this."],
  ] as const)("tells a %s who may decide %s", async (role, kind, sentence) => {
    const { item, ...ada } = await openItem(kind, role);
    await item.getByText(sentence).waitFor();
    expect(await item.getByRole("button").count()).toBe(0);
    await ada.close();
  });
});
