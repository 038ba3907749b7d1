import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";
import type { Caller } from "./caller.ts";

/** A card in progress whose branch has a commit. */
export interface CardWithCommit {
  readonly number: number;
  readonly branch: string;
  /** The commit. */
  readonly sha: string;
}

/** Creates a card with a branch and a commit of the author. Undefined if something fails. */
export async function createCardWithCommit(
  caller: Caller,
  own: BoardKnowledge,
  author: "ada" | "grace",
): Promise<CardWithCommit | undefined> {
  const created = await caller.write("POST", "/v1/cards", {
    title: uniqueText(own, "card"),
    description: uniqueText(own, "created as"),
    statusId: own.board.stages["In progress"],
  });
  if (created.status !== 201) return undefined;
  const { number, repositories } = created.body as {
    number: number;
    repositories: readonly { branchName: string | null }[];
  };
  own.cards.push(number);
  const branch = repositories[0]?.branchName;
  if (!branch) return undefined;
  const sha = await commitTo(own, branch, author);
  return sha === null ? undefined : { number, branch, sha };
}

/** Adds a commit of the author to a branch. Returns its SHA, or null if the forge refuses it. */
export async function commitTo(
  own: BoardKnowledge,
  branch: string,
  author: "ada" | "grace",
): Promise<string | null> {
  const { board } = own;
  own.count += 1;
  const path = `/repos/${board.owner}/web/contents/work-${own.count}.txt`;
  const sent = { message: "Work", content: "", branch };
  const { status, body } = await board.person(author, "PUT", path, sent);
  return status < 300 ? (body as { commit: { sha: string } }).commit.sha : null;
}
