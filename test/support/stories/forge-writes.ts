import type { CallMatch } from "../../../sandbox/forge/control/match.ts";
import { writeFile } from "./work-on-card.ts";
import type { TestBoard } from "../world.ts";

type StageName = keyof TestBoard["stages"];

/**
 * A write to GitHub during a card's life: the stage whose move causes it, and the kinds of timeline
 * events after it.
 */
export interface ForgeWrite {
  readonly doing: string;
  readonly match: CallMatch;
  readonly to: StageName;
  readonly timelineKinds: readonly string[];
}

/** All of them, in the order of a card's life. */
export const FORGE_WRITES: readonly ForgeWrite[] = [
  {
    doing: "creating the branch",
    match: { method: "POST", path: "/repositories/*/git/refs" },
    to: "In progress",
    timelineKinds: ["branch_created"],
  },
  {
    doing: "opening the pull request",
    match: { method: "POST", path: "/repositories/*/pulls" },
    to: "In review",
    timelineKinds: ["branch_created", "pull_request_opened"],
  },
  {
    doing: "marking it ready",
    match: { operation: "markPullRequestReadyForReview" },
    to: "In review",
    timelineKinds: ["branch_created", "pull_request_opened", "pull_request_ready"],
  },
  {
    doing: "merging it",
    match: { method: "PUT", path: "/repositories/*/pulls/*/merge-async" },
    to: "Done",
    timelineKinds: ["branch_created", "pull_request_opened", "pull_request_ready", "pull_request_merged"],
  },
];

/** A card in all repositories of the board whose next move makes the write in each of them. */
export async function cardReadyFor(board: TestBoard, { doing }: ForgeWrite): Promise<number> {
  const { api, stages } = board;
  const repositoryIds = Object.values(board.repositories);
  const { number } = await api.card({ title: "Say hello", repositoryIds });
  if (doing === "creating the branch") return number;
  await api.move(number, stages["In progress"]);
  // Out of In progress, where a push would already open the pull request.
  if (doing === "opening the pull request") await api.move(number, stages["To do"]);
  for (const { fullName, branchName } of (await api.readCard(number)).repositories) {
    await writeFile(board, fullName.split("/")[1] ?? "", branchName ?? "", `hello-${number}.txt`, "hello\n");
    await api.eventWhen(
      number,
      ({ kind, repositoryFullName }) => kind === "pushed" && repositoryFullName === fullName,
    );
  }
  if (doing === "opening the pull request") return number;
  await api.cardWhen(number, ({ repositories }) => repositories.every(({ prState }) => prState === "draft"));
  if (doing === "merging it") await api.move(number, stages["In review"]);
  return number;
}
