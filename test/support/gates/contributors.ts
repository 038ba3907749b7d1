import { cloneRepository } from "../git.ts";
import type { TestBoard, TestWorld } from "../world.ts";
import { eventually } from "../api.ts";
import { branchOf } from "../stories/work-on-card.ts";

/** An account on the forge that pushes with git. */
export interface Contributor {
  readonly login: string;
  readonly token: string;
  /** As GitHub's private address: it names the account. */
  readonly email: string;
}

/** A new account that may push to the repositories of a board. */
export function newContributor(
  { forge }: TestWorld,
  { owner }: TestBoard,
  name: string,
  type: "User" | "Bot" = "User",
): Contributor {
  const login = `${name}-${owner.slice(4)}${type === "Bot" ? "[bot]" : ""}`;
  const { id, token } = forge.createUser(login, { type, organizations: { [owner]: "member" } });
  return { login, token, email: `${id}+${login}@users.noreply.sandbox.invalid` };
}

interface Work {
  readonly pusher: Contributor;
  /** The e-mail address of the author, by default that of the pusher. */
  readonly author?: string;
  readonly coAuthor?: string;
  readonly commits?: number;
  readonly repository?: string;
}

/** Commits to a branch and pushes it. Returns its new head. */
export async function pushWork(
  { forge }: TestWorld,
  { owner }: TestBoard,
  branch: string,
  { pusher, author = pusher.email, coAuthor, commits = 1, repository = "web" }: Work,
): Promise<string> {
  const url = forge.cloneUrl.replace("://", `://${encodeURIComponent(pusher.login)}:${pusher.token}@`);
  const clone = await cloneRepository(`${url}/${owner}/${repository}.git`, "somebody");
  try {
    await clone.checkoutKnown(branch);
    let head = "";
    for (let count = 0; count < commits; count++) {
      const trailer = coAuthor === undefined ? "" : `\n\nCo-authored-by: Somebody <${coAuthor}>`;
      await clone.commit(`Change a file${trailer}`, { [`${crypto.randomUUID()}.txt`]: "text\n" });
      await clone.git("commit", "-q", "--amend", "--no-edit", `--author=Somebody <${author}>`);
      head = await clone.git("rev-parse", "HEAD");
    }
    await clone.push("origin", `HEAD:refs/heads/${branch}`);
    return head;
  } finally {
    await clone.remove();
  }
}

/** A card in review with commits of a contributor. */
export async function cardOf(
  world: TestWorld,
  board: TestBoard,
  work: Work,
): Promise<{ readonly number: number; readonly branch: string; readonly head: string }> {
  const { number } = await board.api.card({ title: "Say hello" });
  await board.api.move(number, board.stages["In progress"]);
  const branch = await branchOf(board, number);
  const head = await pushWork(world, board, branch, work);
  await eventually(
    () => board.api.readCard(number),
    ({ repositories }) => repositories[0]?.prState === "draft",
  );
  const moved = await board.api.move(number, board.stages["In review"]);
  if (moved.status !== 200) throw new Error(`the card is not in review: ${moved.text}`);
  return { number, branch, head };
}
