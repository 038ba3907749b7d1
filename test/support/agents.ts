import { makeForgeAccount, type ForgeAccount } from "./forge/forge-account.ts";
import { openCard, type OpenCard } from "./stories/open-card.ts";
import type { TestBoard, TestWorld } from "./world.ts";

/** A board with a card in review, and an agent with write access to its repositories. */
export async function cardWithAgent(world: TestWorld) {
  const board = await world.board();
  const card = await openCard(world, board);
  return { board, card, copilot: makeForgeAccount(world, "copilot-swe-agent[bot]", [board]) };
}

export interface Offer {
  readonly number: number;
  readonly branch: string;
}

let last = 0;

/** An agent pushes a branch and opens a pull request from it into a card's branch, or into `base`. */
export async function openAgentPull(
  world: TestWorld,
  board: TestBoard,
  agent: ForgeAccount,
  card: OpenCard,
  { draft = false, base = card.branchName }: { readonly draft?: boolean; readonly base?: string } = {},
): Promise<Offer> {
  const branch = `agent/change-${++last}`;
  const files = { [`change-${last}.txt`]: "a change\n" };
  await world.forge.commit(`${board.owner}/web`, branch, files, { from: card.branchName });
  const title = `Change ${last}`;
  const opened = await agent.call(board, "POST", "/pulls", { title, head: branch, base, draft });
  if (opened.status !== 201) throw new Error(JSON.stringify(opened.body));
  return { number: Number(opened.body["number"]), branch };
}

/** Comments on a pull request. */
export async function commentAs(
  board: TestBoard,
  account: ForgeAccount,
  number: number,
  body: string,
): Promise<void> {
  const said = await account.call(board, "POST", `/issues/${number}/comments`, { body });
  if (said.status !== 201) throw new Error(JSON.stringify(said.body));
}
