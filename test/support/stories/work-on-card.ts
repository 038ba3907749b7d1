import { eventually } from "../api.ts";
import type { TestBoard } from "../world.ts";

export interface WorkedCard {
  readonly number: number;
  readonly branchName: string;
  /** The head of the branch, pushed with git. */
  readonly sha: string;
}

/** A card in progress or later, with a commit by ada and an open pull request. */
export async function cardWithCommit(
  board: TestBoard,
  stage: "In progress" | "In review" = "In review",
): Promise<WorkedCard> {
  const { number } = await board.api.card({ title: "Say hello" });
  await board.api.move(number, board.stages["In progress"]);
  const branchName = await branchOf(board, number);
  const sha = await pushTo(board, branchName, `${number}.txt`);
  await eventually(
    () => board.api.readCard(number),
    ({ repositories }) => repositories[0]?.prState === "draft",
  );
  if (stage === "In review") {
    const moved = await board.api.move(number, board.stages["In review"]);
    if (moved.status !== 200) throw new Error(`the card is not in review: ${moved.text}`);
  }
  return { number, branchName, sha };
}

/** The name of a card's branch in its first repository; empty if there is none. */
export const branchOf = async ({ api }: Pick<TestBoard, "api">, number: number): Promise<string> =>
  (await api.readCard(number)).repositories[0]?.branchName ?? "";

/** Pushes a commit to a branch, created from main if it is missing; returns the commit. */
export async function pushTo(
  board: TestBoard,
  branch: string,
  file: string,
  login: "ada" | "grace" = "ada",
  repository = "web",
): Promise<string> {
  const clone = await board.clone(login, repository);
  try {
    const isThere = (await clone.git("branch", "-r", "--list", `origin/${branch}`)) !== "";
    await (isThere ? clone.checkoutKnown(branch) : clone.git("checkout", "-q", "-b", branch));
    const sha = await clone.commit(`Change ${file}`, { [file]: `${branch}\n` });
    await clone.push("origin", `HEAD:refs/heads/${branch}`);
    return sha;
  } finally {
    await clone.remove();
  }
}

/** A pull request of ada with one commit on a new branch; returns its number. */
export async function openPull(
  board: TestBoard,
  head: string,
  { repository = "web", title = "Work", draft = false, body = "" } = {},
): Promise<number> {
  await pushTo(board, head, `${head.replaceAll("/", "-")}.txt`, "ada", repository);
  const opened = await board.person("ada", "POST", `/repos/${board.owner}/${repository}/pulls`, {
    title,
    body,
    head,
    base: "main",
    draft,
  });
  if (opened.status !== 201) throw new Error(`no pull request was opened: ${JSON.stringify(opened.body)}`);
  return Number(opened.body["number"]);
}

/** A commit by ada with the forge's API, which sends a webhook. Does nothing if rules forbid it. */
export async function writeFile(
  board: TestBoard,
  repository: string,
  branch: string,
  path: string,
  text: string,
): Promise<void> {
  const at = `/repos/${board.owner}/${repository}/contents/${path}`;
  const there = await board.person("ada", "GET", `${at}?ref=${encodeURIComponent(branch)}`);
  const sha = there.status === 200 ? { sha: there.body["sha"] } : {};
  const content = Buffer.from(text).toString("base64");
  await board.person("ada", "PUT", at, { message: `Change ${path}`, content, branch, ...sha });
}

/** Deletes a branch with git. */
export async function deleteBranch(
  board: TestBoard,
  branch: string,
  login: "ada" | "grace" = "ada",
): Promise<void> {
  const clone = await board.clone(login);
  await clone.push("origin", "--delete", branch);
  await clone.remove();
}

/** The accounts of ada and grace on the forge. */
export const loginOf = (board: TestBoard, person: "ada" | "grace"): string =>
  `${person}-${board.owner.slice(4)}`;

/** A pull request of the board on the forge, in `web`. */
export const pullPath = (board: TestBoard, number: number): string =>
  `/repos/${board.owner}/web/pulls/${number}`;
