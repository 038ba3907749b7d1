import { randomUUID } from "node:crypto";
import * as fc from "fast-check";
import { type ApiResponse, type MoveResponse, eventually } from "../api.ts";
import { putFlow, readFlow } from "../flows.ts";
import { expectConsistent } from "../invariants.ts";
import { writeFile } from "./work-on-card.ts";
import type { TestBoard, TestWorld } from "../world.ts";

/** Random actions of users, machines and failures; `card` and `repository` are indexes. */
type Act =
  | { readonly type: "move"; readonly card: number; readonly stage: number }
  | { readonly type: "push"; readonly card: number; readonly repository: number; readonly file: string }
  | { readonly type: "push_trunk"; readonly repository: number; readonly file: string }
  | { readonly type: "report"; readonly card: number; readonly repository: number; readonly state: string }
  | {
      readonly type: "edit_pull";
      readonly card: number;
      readonly repository: number;
      readonly change: object;
    }
  | { readonly type: "merge_pull"; readonly card: number; readonly repository: number }
  | { readonly type: "delete_branch"; readonly card: number; readonly repository: number }
  | { readonly type: "lose_response"; readonly effect: "before" | "after" }
  | { readonly type: "settle" };

export interface Story {
  readonly hasDevelop: boolean;
  readonly checks: "required" | "ignored";
  readonly deletesMerged: boolean;
  readonly hotfix: boolean;
  readonly acts: readonly Act[];
}

const card = fc.nat(1);
const repository = fc.nat(1);
const file = fc.constantFrom("app.txt", "new.txt", "other.txt");

/** A story with this number of actions. */
export const stories = (length: number): fc.Arbitrary<Story> =>
  fc.record({
    hasDevelop: fc.boolean(),
    checks: fc.constantFrom("required" as const, "ignored" as const),
    deletesMerged: fc.boolean(),
    hotfix: fc.boolean(),
    acts: fc.array(
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            type: fc.constant("move" as const),
            card,
            stage: fc.constantFrom(0, 2, 3, 3, 4, 4, 5, 5),
          }),
        },
        { weight: 4, arbitrary: fc.record({ type: fc.constant("push" as const), card, repository, file }) },
        fc.record({ type: fc.constant("push_trunk" as const), repository, file }),
        fc.record({
          type: fc.constant("report" as const),
          card,
          repository,
          state: fc.constantFrom("success", "failure", "pending"),
        }),
        fc.record({
          type: fc.constant("edit_pull" as const),
          card,
          repository,
          change: fc.constantFrom(
            { state: "closed" },
            { state: "open" },
            { base: "develop" },
            { base: "main" },
          ),
        }),
        fc.record({ type: fc.constant("merge_pull" as const), card, repository }),
        fc.record({ type: fc.constant("delete_branch" as const), card, repository }),
        fc.record({
          type: fc.constant("lose_response" as const),
          effect: fc.constantFrom("before", "after"),
        }),
        fc.record({ type: fc.constant("settle" as const) }),
      ),
      { minLength: length, maxLength: length },
    ) as fc.Arbitrary<Act[]>,
  });

interface Scenario {
  readonly world: TestWorld;
  readonly board: TestBoard;
  readonly stageIds: readonly string[];
  readonly numbers: readonly number[];
  /** Moves that were 503, repeated at the end. */
  readonly unfinished: Map<number, () => Promise<ApiResponse<MoveResponse>>>;
}

const NAMES = ["web", "api"];

/** Runs a story on a new board and compares the board with Git. */
export async function runStory(world: TestWorld, story: Story): Promise<void> {
  const stage = await startScenario(world, story);
  for (const act of story.acts) await runAction(stage, act);
  world.forge.control.reset();
  for (const again of stage.unfinished.values()) {
    await eventually(again, ({ status }) => status !== 503);
  }
  await world.forge.waitUntilIdle();
  // Cards at the end of the flow claim the most about Git.
  for (const number of stage.numbers) await move(stage, number, stage.stageIds.length - 1);
  await expectConsistent({ forge: world.forge, db: world.service.deps.db }, stage.board);
}

async function startScenario(world: TestWorld, story: Story): Promise<Scenario> {
  const board = await world.board({ repositories: NAMES });
  for (const name of NAMES) {
    await world.forge.commit(`${board.owner}/${name}`, "develop", { "develop.txt": "develop\n" });
    await board.person("ada", "PATCH", `/repos/${board.owner}/${name}`, {
      delete_branch_on_merge: story.deletesMerged,
    });
  }
  const flow = await readFlow(board);
  const staging = {
    name: "Staging",
    kind: "stage",
    minRole: "member",
    rule: { type: "merge", into: "develop" },
  };
  const stages = story.hasDevelop ? flow.stages.toSpliced(-1, 0, staging) : flow.stages;
  const { body } = await putFlow(board, { ...flow, checks: story.checks, stages });
  const repositoryIds = NAMES.map((name) => board.repositories[name]);
  const cards = [
    await board.api.card({ title: "First", hotfix: story.hotfix, repositoryIds }),
    await board.api.card({ title: "Second" }),
  ];
  const started = body.stages.find(({ name }) => name === "In progress")?.id ?? "";
  for (const { number } of cards) {
    await board.api.move(number, started);
    for (const { fullName, branchName } of (await board.api.readCard(number)).repositories) {
      await commit(board, fullName.split("/")[1] ?? "", branchName ?? "", `${number}.txt`);
    }
    await board.api.cardWhen(number, ({ repositories }) =>
      repositories.every(({ prNumber }) => prNumber !== null),
    );
  }
  return {
    world,
    board,
    stageIds: body.stages.map(({ id }) => id ?? ""),
    numbers: cards.map(({ number }) => number),
    unfinished: new Map(),
  };
}

async function runAction(stage: Scenario, act: Act): Promise<void> {
  const { world, board, numbers } = stage;
  if (act.type === "settle") return world.forge.waitUntilIdle();
  if (act.type === "lose_response") return loseResponse(world, act.effect);
  if (act.type === "move") return move(stage, numbers[act.card] ?? 0, act.stage);
  if (act.type === "push_trunk") {
    return commit(board, NAMES[act.repository] ?? "", "main", act.file);
  }
  const link = await linkOf(stage, act);
  if (!link?.branchName) return;
  const { name, branchName, prNumber } = link;
  const repository = `/repos/${board.owner}/${name}`;
  if (act.type === "push") return commit(board, name, branchName, act.file);
  if (act.type === "delete_branch") {
    await board.person("grace", "DELETE", `${repository}/git/refs/heads/${branchName}`);
  } else if (act.type === "report") {
    const head = await board.person("ada", "GET", `${repository}/commits/${encodeURIComponent(branchName)}`);
    await board.person("ada", "POST", `${repository}/statuses/${String(head.body["sha"])}`, {
      state: act.state,
      context: "ci",
    });
  } else if (prNumber !== null && act.type === "merge_pull") {
    await board.person("ada", "PUT", `${repository}/pulls/${prNumber}/merge`, {});
  } else if (prNumber !== null && act.type === "edit_pull") {
    await board.person("ada", "PATCH", `${repository}/pulls/${prNumber}`, act.change);
  }
}

async function linkOf(stage: Scenario, act: { readonly card: number; readonly repository: number }) {
  const { repositories } = await stage.board.api.readCard(stage.numbers[act.card] ?? 0);
  const link = repositories[act.repository % Math.max(1, repositories.length)];
  return link && { ...link, name: link.fullName.split("/")[1] ?? "" };
}

let written = 0;

const commit = (board: TestBoard, name: string, branch: string, path: string): Promise<void> =>
  writeFile(board, name, branch, path, `version ${(written += 1)}\n`);

function loseResponse(world: TestWorld, effect: "before" | "after"): void {
  const fault = { kind: "response", status: 502, effect } as const;
  world.forge.control.faults.add({ match: { path: "/repositories/**" }, fault, times: 1 });
}

async function move({ board, stageIds, unfinished }: Scenario, number: number, to: number): Promise<void> {
  const stageId = stageIds[to % stageIds.length] ?? "";
  const key = `story-${randomUUID()}`;
  const ask = () => board.api.move(number, stageId, 0, { key });
  const { status, body, text } = await ask();
  if (![200, 202, 409, 503].includes(status)) throw new Error(`a move returned ${status}: ${text}`);
  if (status === 503) unfinished.set(number, ask);
  else if (status !== 409 || body.blocked) unfinished.delete(number);
  if (status === 409 && body.blocked?.reason === "unknown")
    throw new Error(`the refusal has no known reason: ${text}`);
}
