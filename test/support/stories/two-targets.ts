import { putFlow, readFlow } from "../flows.ts";
import type { BoardOptions, TestBoard, TestWorld } from "../world.ts";

/** A board whose flow merges into `develop` at Staging and into the default branch at the end. */
export interface TwoTargets {
  readonly board: TestBoard;
  readonly staging: string;
}

export async function twoTargets(
  world: Pick<TestWorld, "forge" | "board">,
  options: BoardOptions = {},
): Promise<TwoTargets> {
  const board = await world.board(options);
  for (const name of options.repositories ?? ["web"]) {
    await world.forge.commit(`${board.owner}/${name}`, "develop", { "develop.txt": "develop\n" });
  }
  const flow = await readFlow(board);
  const staging = {
    name: "Staging",
    kind: "stage",
    minRole: "member",
    rule: { type: "merge", into: "develop" },
  };
  const put = await putFlow(board, { ...flow, stages: flow.stages.toSpliced(-1, 0, staging) });
  const id = put.body.stages.find(({ name }) => name === "Staging")?.id;
  if (id === undefined) throw new Error(`the flow was refused: ${put.text}`);
  return { board, staging: id };
}

/** Whether a branch has a file, according to Git. */
export async function branchHas(board: TestBoard, branch: string, file: string, repository = "web") {
  const clone = await board.clone("ada", repository);
  const found = await clone.git("ls-tree", "--name-only", `origin/${branch}`, "--", file);
  await clone.remove();
  return found === file;
}

/** The branches of a repository, according to Git. */
export async function branchesOf(board: TestBoard, repository = "web"): Promise<string[]> {
  const clone = await board.clone("ada", repository);
  const names = await clone.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes/origin");
  await clone.remove();
  return names.split("\n").filter((name) => name !== "" && name !== "HEAD");
}
