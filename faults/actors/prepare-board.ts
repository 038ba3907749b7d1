import type { TestBoard } from "../../test/support/world.ts";
import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";
import type { Caller } from "./caller.ts";

const CARDS = 3;

/** Prepares a board: a label and cards with pull requests, one of them merged by a person. */
export async function prepareBoard(caller: Caller, own: BoardKnowledge): Promise<void> {
  const label = await caller.write("POST", "/v1/labels", {
    name: `first only-${own.board.owner}`.slice(0, 50),
  });
  if (label.status === 201) own.labels.push((label.body as { id: string }).id);
  await Promise.all(Array.from({ length: CARDS }, () => cardInReview(caller, own)));
  const { status, body } = await own.board.person("ada", "GET", `/repos/${own.board.owner}/web/pulls`);
  const [pull] = status === 200 ? (body as unknown as readonly { number: number }[]) : [];
  if (pull)
    await own.board.person("ada", "PUT", `/repos/${own.board.owner}/web/pulls/${pull.number}/merge`, {});
}

async function cardInReview(caller: Caller, own: BoardKnowledge): Promise<void> {
  const { board } = own;
  const sent = {
    title: uniqueText(own, "card"),
    description: uniqueText(own, "created as"),
    statusId: board.stages["In progress"],
  };
  const created = await caller.write("POST", "/v1/cards", sent);
  if (created.status !== 201) return;
  const { number, repositories } = created.body as {
    number: number;
    repositories: readonly { branchName: string | null }[];
  };
  own.cards.push(number);
  const branch = repositories[0]?.branchName;
  if (branch) await commit(board, branch, number);
  const statusId = board.stages["In review"];
  await caller.write("POST", `/v1/cards/${number}/move`, { statusId, index: 0 });
}

const commit = (board: TestBoard, branch: string, number: number): Promise<unknown> =>
  board.person("ada", "PUT", `/repos/${board.owner}/web/contents/first-${number}.txt`, {
    message: "Start",
    branch,
    content: "",
  });
