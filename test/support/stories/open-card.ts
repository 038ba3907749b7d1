import { listProjectRepositories } from "../../../src/store/forge/repositories.ts";
import type { TestBoard, TestWorld } from "../world.ts";
import { branchOf } from "./work-on-card.ts";

/** A card in review with an open pull request in each of its repositories. */
export interface OpenCard {
  readonly number: number;
  readonly branchName: string;
  /** The heads of its branch, by the repositories' short names. */
  readonly heads: Readonly<Record<string, string>>;
}

/** Creates a card, commits to its branch in each repository, and moves it into review. */
export async function openCard(
  world: TestWorld,
  board: TestBoard,
  repositories: readonly string[] = ["web"],
): Promise<OpenCard> {
  const known = await listProjectRepositories(world.service.deps.db, board.projectId);
  const repositoryIds = repositories.map((name) => {
    const repository = known.find(({ fullName }) => fullName === `${board.owner}/${name}`);
    if (!repository) throw new Error(`there is no repository ${name}`);
    return repository.id;
  });
  const { id, number } = await board.api.card({ title: "Say hello", repositoryIds });
  await board.api.move(number, board.stages["In progress"]);
  const branchName = await branchOf(board, number);
  const heads: Record<string, string> = {};
  for (const name of repositories) {
    // Two cards' commits of one second would otherwise be the same commit, with the same checks.
    const message = `Say hello on ${branchName}`;
    const sha = await world.forge.commit(
      `${board.owner}/${name}`,
      branchName,
      { "hello.txt": "hello\n" },
      { message },
    );
    // Such a commit sends no webhook; this is its effect.
    await board
      .db("card_repositories")
      .where({ card_id: id, repository_id: board.repositories[name] ?? "" })
      .update({ head_sha: sha });
    heads[name] = sha;
  }
  const moved = await board.api.move(number, board.stages["In review"]);
  if (moved.status !== 200) throw new Error(`the card is not in review: ${moved.text}`);
  await world.forge.waitUntilIdle();
  return { number, branchName, heads };
}
