import type { Clone } from "../git.ts";
import type { TestBoard } from "../world.ts";

/** A board and a clone of its repository `web`. */
export interface Workplace {
  readonly board: TestBoard;
  readonly clone: Clone;
}

const ORDINALS = ["First", "Second", "Third"];

export interface Merging {
  /** The number of its commits. */
  readonly commits?: 2 | 3;
  /** A commit that main gets while it is open, merged into its branch or not. */
  readonly meanwhile?: "updated" | "behind";
  /** The edited message of its merge. */
  readonly edited?: { readonly commit_title: string; readonly commit_message: string };
}

/** A pull request with commits, merged on the forge. */
export async function mergedPull(
  { board, clone }: Workplace,
  name: string,
  method: string,
  merging: Merging = {},
): Promise<void> {
  const { commits = 2, meanwhile, edited } = merging;
  await clone.checkout("main");
  await clone.git("checkout", "-q", "-b", name);
  for (const ordinal of ORDINALS.slice(0, commits)) {
    await clone.commit(`${ordinal} of ${name}\n\nPart-of: ${name}`, { [`${name}-${ordinal}.txt`]: "x\n" });
  }
  if (meanwhile !== undefined) {
    await clone.git("checkout", "-q", "main");
    await clone.commit(`Before ${name}`, { [`before-${name}.txt`]: "x\n" });
    await clone.push("origin", "main");
    await clone.git("checkout", "-q", name);
  }
  if (meanwhile === "updated") await clone.git("merge", "-q", "-m", `Update ${name}`, "main");
  await clone.push("origin", name);
  await mergePull({ board, clone }, name, method, edited);
}

async function mergePull(
  { board }: Workplace,
  name: string,
  method: string,
  edited: Merging["edited"],
): Promise<void> {
  const pulls = `/repos/${board.owner}/web/pulls`;
  const opened = await board.person("ada", "POST", pulls, { title: name, head: name, base: "main" });
  const merged = await board.person("ada", "PUT", `${pulls}/${String(opened.body["number"])}/merge`, {
    merge_method: method,
    ...edited,
  });
  if (merged.status !== 200) throw new Error(`${name} was not merged: ${JSON.stringify(merged.body)}`);
}

/** A pull request that reverts a commit of main, merged on the forge. */
export async function mergedRevert(
  { board, clone }: Workplace,
  name: string,
  sha: string,
  method: string,
  edited?: Merging["edited"],
): Promise<void> {
  await clone.checkout("main");
  await clone.git("checkout", "-q", "-b", name);
  await clone.git("revert", "--no-edit", sha);
  await clone.push("origin", name);
  await mergePull({ board, clone }, name, method, edited);
}
