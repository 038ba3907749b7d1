import { branchOf, writeFile } from "./work-on-card.ts";
import type { TestBoard, TestWorld } from "../world.ts";

/** Creates a card with these files in each of its repositories and merges it. Returns its number. */
export async function mergedCard(
  { forge }: Pick<TestWorld, "forge">,
  board: TestBoard,
  files: Readonly<Record<string, Readonly<Record<string, string>>>>,
  title = "Say hello",
): Promise<number> {
  const number = await cardInReview({ forge }, board, files, title);
  const merged = await board.api.move(number, board.stages.Done);
  if (merged.status !== 200) throw new Error(`the card is not merged: ${merged.text}`);
  return number;
}

/** The same up to the stage before the merge. */
export async function cardInReview(
  { forge }: Pick<TestWorld, "forge">,
  board: TestBoard,
  files: Readonly<Record<string, Readonly<Record<string, string>>>>,
  title = "Say hello",
): Promise<number> {
  const repositoryIds = Object.keys(files).map((name) => board.repositories[name] ?? "");
  const { number } = await board.api.card({ title, repositoryIds });
  await board.api.move(number, board.stages["In progress"]);
  const branch = await branchOf(board, number);
  for (const [name, content] of Object.entries(files)) {
    for (const [path, text] of Object.entries(content)) await writeFile(board, name, branch, path, text);
  }
  const moved = await board.api.move(number, board.stages["In review"]);
  if (moved.status !== 200) throw new Error(`the card is not in review: ${moved.text}`);
  await forge.waitUntilIdle();
  return number;
}

/** The head of a branch on the forge, or null. */
export async function headOf(board: TestBoard, repository: string, branch: string): Promise<string | null> {
  const path = `/repos/${board.owner}/${repository}/git/ref/heads/${branch}`;
  const { status, body } = await board.person("ada", "GET", path);
  return status === 404 ? null : (body as { object: { sha: string } }).object.sha;
}

/** The heads of a branch in `web` and in `api`. */
export const headsOf = async (board: TestBoard, branch: string): Promise<(string | null)[]> => [
  await headOf(board, "web", branch),
  await headOf(board, "api", branch),
];

/** A file's content on a branch of the forge, or null. */
export async function fileOn(
  board: TestBoard,
  repository: string,
  branch: string,
  file: string,
): Promise<string | null> {
  const path = `/repos/${board.owner}/${repository}/contents/${file}?ref=${encodeURIComponent(branch)}`;
  const { status, body } = await board.person("ada", "GET", path);
  return status === 404 ? null : Buffer.from(String(body["content"]), "base64").toString();
}

/** The messages of a branch's commits that main does not have, newest first. */
export async function aheadOfMain(board: TestBoard, repository: string, branch: string): Promise<string[]> {
  const path = `/repos/${board.owner}/${repository}/compare/main...${encodeURIComponent(branch)}`;
  const { body } = await board.person("ada", "GET", path);
  const { commits } = body as unknown as { commits: { commit: { message: string } }[] };
  return commits.map(({ commit }) => commit.message).toReversed();
}
