import { upsertInboxItem } from "../../../src/store/inbox/stored-items.ts";
import { armedCard } from "../../armed/support/armed-cards.ts";
import { allProcessed } from "../../support/forge/deliveries.ts";
import { accountByLogin } from "../../../sandbox/forge/world.ts";
import { cardWithAgent, commentAs, openAgentPull } from "../../support/agents.ts";
import { work } from "../../support/forge/repositories.ts";
import { itemWhen, reportedError } from "../../support/inbox.ts";
import { protect, reportStatus, setPullState } from "../../support/stories/repairing.ts";
import { twoTargets } from "../../support/stories/two-targets.ts";
import { cardWithCommit, deleteBranch, pullPath, pushTo } from "../../support/stories/work-on-card.ts";
import type { TestBoard, TestWorld } from "../../support/world.ts";

/** A board with one inbox item, and the number of the item's card (0 if it has none). */
export interface BoardWithItem {
  readonly board: TestBoard;
  readonly number: number;
}

export const requireReviews = (board: TestBoard, isRequired: boolean) =>
  protect(board, {
    enforce_admins: false,
    required_pull_request_reviews: isRequired ? { required_approving_review_count: 1 } : null,
  });

async function blocked(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  const { number } = await cardWithCommit(board);
  await requireReviews(board, true);
  await board.api.move(number, board.stages["Done"]);
  return { board, number };
}

async function suggestion(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  const { number } = await board.api.card({ title: "Say hello" });
  await pushTo(board, "card/1-hello", "a.txt");
  return { board, number };
}

async function branchDeleted(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  const { number, branchName } = await cardWithCommit(board, "In progress");
  await deleteBranch(board, branchName);
  return { board, number };
}

async function errorReported(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  const { workspaceId, projectId } = board;
  const item = { workspaceId, projectId, cardId: null, repositoryId: null, kind: "error_reported" } as const;
  const detail = "Checkout returns 500";
  await upsertInboxItem(board.db, { ...item, naturalKey: "1", detail, data: reportedError(detail) });
  return { board, number: 0 };
}

async function disarmed(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  const { number, branchName } = await armedCard(board);
  await pushTo(board, branchName, "later.txt");
  return { board, number };
}

const reviewed = async (world: TestWorld): Promise<BoardWithItem> => {
  const board = await world.board();
  return { board, number: (await cardWithCommit(board)).number };
};

async function mergedOutside(world: TestWorld): Promise<BoardWithItem> {
  const made = await reviewed(world);
  await made.board.person("grace", "PUT", `${pullPath(made.board, 1)}/merge`, {});
  return made;
}

async function closedOutside(world: TestWorld): Promise<BoardWithItem> {
  const made = await reviewed(world);
  await setPullState(made.board, 1, "closed");
  return made;
}

async function checksBroken(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  const { number, sha } = await cardWithCommit(board);
  await reportStatus(board, sha, "failure");
  return { board, number };
}

async function stale(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  const { number, id } = await board.api.card({ title: "Say hello", repositoryIds: [] });
  await board.api.move(number, board.stages["To do"]);
  await board.db.raw("update timeline_items set at = at - interval '15 days' where card_id = ?", [id]);
  return { board, number };
}

/** The account withdraws a permission, and GitHub refuses a move because of that. */
async function permissionMissing(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  const permissions = world.forge.context.state.apps.all()[0]?.permissions ?? {};
  world.forge.webUi.acceptPermissions(board.owner, { ...permissions, contents: "read" });
  const { number } = await board.api.card({ title: "Say hello" });
  await board.api.move(number, board.stages["In progress"]);
  return { board, number: 0 };
}

async function backMerge(world: TestWorld): Promise<BoardWithItem> {
  const { board } = await twoTargets(world);
  const { number } = await board.api.card({ title: "Stop the leak", hotfix: true });
  await board.api.move(number, board.stages["In progress"]);
  await work(board, number);
  await board.api.move(number, board.stages.Done);
  await board.api.eventWhen(number, ({ kind }) => kind === "backmerge_opened");
  return { board, number };
}

async function proposal(world: TestWorld): Promise<BoardWithItem> {
  const { board, card, copilot } = await cardWithAgent(world);
  await openAgentPull(world, board, copilot, card);
  return { board, number: card.number };
}

async function gaveUp(world: TestWorld): Promise<BoardWithItem> {
  const { board, card, copilot } = await cardWithAgent(world);
  await commentAs(board, copilot, 1, "/give-up the tests need a <b>database</b>");
  return { board, number: card.number };
}

/** An agent has worked on the card, and a question to it is a day old. */
async function silentAgent(world: TestWorld): Promise<BoardWithItem> {
  const { board, card, copilot } = await cardWithAgent(world);
  const { email } = accountByLogin(world.forge.context, copilot.login);
  const clone = await copilot.clone(board);
  await clone.checkout(card.branchName);
  await clone.commit("Work", { "work.txt": "work\n" });
  await clone.git("commit", "-q", "--amend", "--no-edit", "--author", `${copilot.login} <${email}>`);
  await clone.push();
  await clone.remove();
  await board.api.eventWhen(card.number, ({ kind }) => kind === "pushed");
  // A webhook of the push that is processed later would count as a new activity of the agent.
  await allProcessed(world);
  const asked = await board.db("last_reactions").update({
    acted_at: board.db.raw("acted_at - interval '30 hours'"),
  });
  if (asked === 0) throw new Error("the push was not recorded as activity");
  await board.person("ada", "POST", `/repos/${board.owner}/web/issues/1/comments`, { body: "Why is that?" });
  await board.api.eventWhen(card.number, ({ type }) => type === "comment");
  await allProcessed(world);
  await board.db("awaited_reactions").update({ asked_at: board.db.raw("asked_at - interval '25 hours'") });
  return { board, number: card.number };
}

async function webhookPaused(world: TestWorld): Promise<BoardWithItem> {
  const board = await world.board();
  await board.api.post("/v1/webhooks", { url: "https://hooks.example.com/" });
  await board
    .db("webhooks")
    .where({ workspace_id: board.workspaceId })
    .update({ paused_reason: "failing", paused_at: board.db.fn.now() });
  return { board, number: 0 };
}

const MAKERS = {
  promotion_blocked: blocked,
  branch_suggestion: suggestion,
  branch_deleted: branchDeleted,
  error_reported: errorReported,
  move_disarmed: disarmed,
  pr_merged_outside: mergedOutside,
  pr_closed_outside: closedOutside,
  checks_broken: checksBroken,
  waiting_stale: stale,
  connection_broken: permissionMissing,
  backmerge_open: backMerge,
  proposal_waiting: proposal,
  agent_gave_up: gaveUp,
  agent_stopped_reacting: silentAgent,
  webhook_paused: webhookPaused,
} as const;

export type ItemKind = keyof typeof MAKERS;

/** Makes a board whose inbox has an item of the kind. */
export async function boardWithItem(world: TestWorld, kind: ItemKind): Promise<BoardWithItem> {
  const made = await MAKERS[kind](world);
  await itemWhen(made.board.api, kind);
  return made;
}
