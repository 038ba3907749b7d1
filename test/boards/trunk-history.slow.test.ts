/** Compares the trunk report of a Git history with what git alone says about it. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { followTrunk, followAllTrunks } from "../../src/actions/trunks/follow-trunk.ts";
import type { Deps } from "../../src/actions/deps.ts";
import { eventually } from "../support/api.ts";
import type { Clone } from "../support/git.ts";
import { mergedPull, mergedRevert } from "../support/forge/merged-pull.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { readTrunk, trunkWhenLanded } from "../support/stories/trunk.ts";
import { landingsByGit, type LandedByGit } from "../support/stories/trunk-by-git.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let clone: Clone;
beforeEach(async () => {
  board = await world.board();
  clone = await board.clone();
  await clone.git("checkout", "-q", "main");
});
afterEach(() => clone.remove());

const DAY_MS = 24 * 3_600_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
const dayOf = (days: number): string => daysAgo(days).slice(0, 10);

/** Runs git in the clone with a date some days ago. */
function gitAt(days: number, ...args: string[]): string {
  const date = `${daysAgo(days).slice(0, 19)}Z`;
  const who = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" };
  const env = {
    ...process.env,
    ...who,
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.com",
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
  return execFileSync("git", args, { cwd: clone.dir, env, encoding: "utf8" }).trim();
}

function commitAt(days: number, message: string, file = `${message.replaceAll(/\W+/g, "-")}.txt`): string {
  execFileSync("sh", ["-c", `echo "${message}" > ${file} && git add -A`], { cwd: clone.dir });
  gitAt(days, "commit", "-q", "-m", message);
  return gitAt(days, "rev-parse", "HEAD");
}

const clonePath = () => ({ board, clone });

/** Compares the report with git, over all days and over some of them. */
async function expectAsGit(
  expected: readonly LandedByGit[],
  windows: readonly (readonly [number, number])[],
): Promise<void> {
  const whole = `?from=${dayOf(62)}&to=${dayOf(0)}`;
  await trunkWhenLanded(board.api, expected.length, whole);
  for (const [from, to] of [[62, 0] as const, ...windows]) {
    const { landings, numbers } = await readTrunk(board.api, `?from=${dayOf(from)}&to=${dayOf(to)}`);
    const within = expected.filter(
      ({ at }) => at.slice(0, 10) >= dayOf(from) && at.slice(0, 10) <= dayOf(to),
    );
    const reported = landings.map(({ sha, at, title, reverts }) => ({ sha, at, title, reverts }));
    expect(reported).toEqual(within);
    expect(numbers).toMatchObject({
      landed: within.length,
      reverts: within.filter(({ reverts }) => reverts !== null).length,
    });
  }
}

const revertsAmong = (landings: readonly LandedByGit[]): number =>
  landings.filter(({ reverts }) => reverts !== null).length;

describe("the trunk report", () => {
  // Contract: Trunk: `numbers` counts landings, promised cards (`owed`), refusals and reverts
  it("equals git's view of merges, pushes, hotfixes, picks and reverts on any day", async () => {
    const work = commitAt(60, "Push at once");
    gitAt(55, "checkout", "-q", "-b", "feature");
    const picked = commitAt(54, "Half a feature");
    commitAt(53, "Whole feature");
    gitAt(53, "checkout", "-q", "main");
    gitAt(52, "merge", "-q", "--no-ff", "-m", "Merge by hand", "feature");
    gitAt(50, "checkout", "-q", "-b", "hotfix", work);
    commitAt(49, "Hot fix");
    gitAt(49, "checkout", "-q", "main");
    gitAt(48, "merge", "-q", "--no-ff", "-m", "Merge hotfix", "hotfix");
    gitAt(45, "revert", "--no-edit", work);
    const undone = gitAt(45, "rev-parse", "HEAD");
    gitAt(40, "revert", "--no-edit", undone);
    gitAt(38, "revert", "--no-edit", "-m", "1", "HEAD~3");
    gitAt(36, "cherry-pick", "-x", picked);
    gitAt(34, "merge", "-q", "--squash", "feature");
    gitAt(34, "commit", "-q", "--allow-empty", "-m", "Feature in one");
    gitAt(34, "revert", "--no-edit", "HEAD~3");
    const gone = gitAt(34, "rev-parse", "HEAD");
    gitAt(34, "revert", "--no-edit", gone);
    const back = gitAt(34, "rev-parse", "HEAD");
    gitAt(34, "revert", "--no-edit", back);
    gitAt(34, "checkout", "-q", "-b", "elsewhere", "feature");
    gitAt(34, "revert", "--no-edit", picked);
    gitAt(34, "checkout", "-q", "main");
    gitAt(33, "cherry-pick", "-x", "elsewhere");
    commitAt(33, "Late");
    commitAt(35, "Made before the one it follows");
    await clone.push("origin", "main");
    const expected = await landingsByGit(clone);
    expect(revertsAmong(expected)).toBe(5);
    await expectAsGit(expected, [
      [60, 60],
      [52, 45],
      [40, 34],
      [35, 35],
      [1, 0],
    ]);
    const { landings } = await readTrunk(board.api, `?from=${dayOf(62)}&to=${dayOf(0)}`);
    expect(landings.map(({ title }) => title)).not.toContain("Hot fix");
  });

  it("equals git's view of pull requests with edited messages, and of what they revert", async () => {
    await mergedPull(clonePath(), "by-merge", "merge");
    await mergedPull(clonePath(), "by-squash", "squash");
    await mergedPull(clonePath(), "by-rebase", "rebase");
    await mergedPull(clonePath(), "of-three", "rebase", { commits: 3, meanwhile: "behind" });
    await mergedPull(clonePath(), "kept-up", "merge", { meanwhile: "updated" });
    const renamed = { commit_title: "Shipped under another name", commit_message: "Nothing of the commits." };
    await mergedPull(clonePath(), "edited", "squash", { edited: renamed });
    await clone.checkout("main");
    const line = await clone.git("log", "--first-parent", "--format=%H", "main");
    const [newest = "", , , third = "", second = ""] = line.split("\n");
    await mergedRevert(clonePath(), "undo", newest, "merge");
    const quoting = { commit_title: "Take it back", commit_message: `This reverts commit ${third}.` };
    await mergedRevert(clonePath(), "undo-squashed", third, "squash", quoting);
    const silent = { commit_title: "Tidy up", commit_message: "Said nothing." };
    await mergedRevert(clonePath(), "undo-silently", second, "squash", silent);

    const expected = await landingsByGit(clone);
    expect(revertsAmong(expected)).toBe(2);
    await expectAsGit(expected, [[1, 0]]);
    const { landings } = await readTrunk(board.api);
    const numbers = Object.fromEntries(landings.map(({ title, prNumber }) => [title, prNumber]));
    expect(numbers).toMatchObject({
      "Second of by-rebase": 3,
      "by-squash (#2)": 2,
      "Third of of-three": 4,
      "Before of-three": null,
      [`Merge pull request #5 from ${board.owner}/kept-up`]: 5,
      "Shipped under another name": 6,
      "Take it back": 8,
    });
  });

  it("is repaired after lost webhooks", async () => {
    world.forge.control.webhooks.add({ fault: { kind: "drop" } });
    const sha = await clone.commit("Unheard", { "unheard.txt": "x\n" });
    await clone.push("origin", "main");
    await world.forge.waitUntilIdle();
    world.forge.control.webhooks.clear();
    expect((await readTrunk(board.api)).landings).toEqual([]);
    await followAllTrunks(world.service.deps);
    expect((await readTrunk(board.api)).landings[0]).toMatchObject({ sha, title: "Unheard" });
  });

  it("has the current commits after a force push", async () => {
    await clone.commit("Given up", { "a.txt": "a\n" });
    await clone.push("origin", "main");
    await trunkWhenLanded(board.api, 2);
    await clone.git("reset", "-q", "--hard", "HEAD~1");
    const sha = await clone.commit("Instead", { "b.txt": "b\n" });
    await clone.push("--force", "origin", "main");
    const { landings } = await eventually(
      () => readTrunk(board.api),
      (report) => report.landings[0]?.sha === sha,
    );
    expect(landings.map(({ title }) => title)).toEqual(["Instead", "Initial commit"]);
  });

  it("equals git's view after a merge that changes the line of first parents", async () => {
    await clone.commit("Pushed", { "a.txt": "a\n" });
    await clone.push("origin", "main");
    await trunkWhenLanded(board.api, 2);
    await clone.git("checkout", "-q", "-b", "other", "HEAD~1");
    await clone.commit("Beside it", { "b.txt": "b\n" });
    await clone.git("merge", "-q", "-m", "Merge main into other", "main");
    const sha = await clone.git("rev-parse", "HEAD");
    await clone.push("origin", "HEAD:main");
    const { landings } = await eventually(
      () => readTrunk(board.api),
      (report) => report.landings[0]?.sha === sha,
    );
    const reported = landings.map(({ sha: landed, at, title, reverts }) => ({
      sha: landed,
      at,
      title,
      reverts,
    }));
    expect(reported).toEqual(await landingsByGit(clone));
    expect(reported.map(({ title }) => title)).toEqual([
      "Merge main into other",
      "Beside it",
      "Initial commit",
    ]);
  });

  it("assigns a landing to its pull request once GitHub does", async () => {
    const { deps } = world.service;
    const losingWebhooks: Deps = {
      ...deps,
      forge: {
        ...deps.forge,
        landedCommits: async (repository, question) => {
          const found = await deps.forge.landedCommits(repository, question);
          return (
            found && { ...found, commits: found.commits.map((commit) => ({ ...commit, prNumber: null })) }
          );
        },
      },
    };
    world.forge.control.webhooks.add({ fault: { kind: "drop" } });
    await mergedPull(clonePath(), "by-rebase", "rebase");
    await world.forge.waitUntilIdle();
    world.forge.control.webhooks.clear();
    await followTrunk(losingWebhooks, board.repositories["web"] ?? "", "main");
    expect((await readTrunk(board.api)).landings.map(({ prNumber }) => prNumber)).toEqual([null, null, null]);
    await followAllTrunks(deps);
    expect((await readTrunk(board.api)).landings.map(({ prNumber }) => prNumber)).toEqual([1, null]);
  });

  it("has all landings in the order of the branch, whatever the dates of some commits", async () => {
    commitAt(12, "Normal");
    await clone.push("origin", "main");
    await trunkWhenLanded(board.api, 2);
    commitAt(11, "Next");
    commitAt(20, "Dated before its parent");
    commitAt(9_000, "Dated 2001");
    commitAt(-20_000, "Dated 2082");
    commitAt(10, "Last");
    await clone.push("origin", "main");
    const expected = ["Last", "Dated 2082", "Dated 2001", "Dated before its parent", "Next", "Normal"];
    const { landings } = await trunkWhenLanded(board.api, 7);
    expect(landings.filter(({ title }) => expected.includes(title)).map(({ title }) => title)).toEqual(
      expected,
    );
    // A first read has no stored landing before them.
    await world.service.deps.db("trunks").delete();
    await followTrunk(world.service.deps, board.repositories["web"] ?? "", "main");
    const again = await trunkWhenLanded(board.api, 7);
    expect(again.landings.map(({ sha, at }) => [sha, at])).toEqual(landings.map(({ sha, at }) => [sha, at]));
  });

  it("attributes merges into a branch to their pull requests after it was renamed", async () => {
    await mergedPull(clonePath(), "by-merge", "merge");
    await mergedPull(clonePath(), "by-rebase", "rebase");
    await trunkWhenLanded(board.api, 3);
    const renamed = await board.person("ada", "POST", `/repos/${board.owner}/web/branches/main/rename`, {
      new_name: "trunk",
    });
    expect(renamed.status).toBe(201);
    const flow = await readFlow(board);
    const stages = flow.stages.map((stage) =>
      stage.name === "Done" ? { ...stage, rule: { type: "merge", into: "trunk" } } : stage,
    );
    expect((await putFlow(board, { ...flow, stages })).status).toBe(200);
    const { landings } = await trunkWhenLanded(board.api, 3);
    expect(landings.map(({ branchName, prNumber }) => [branchName, prNumber])).toEqual([
      ["trunk", 2],
      ["trunk", 1],
      ["trunk", null],
    ]);
  });

  it("includes every branch that the flow merges into", async () => {
    await clone.git("checkout", "-q", "-b", "next");
    await clone.commit("On next", { "next.txt": "x\n" });
    await clone.push("origin", "next");
    await world.forge.waitUntilIdle();
    const flow = await readFlow(board);
    const stages = flow.stages.map((stage) =>
      stage.name === "Done" ? { ...stage, rule: { type: "merge", into: "next" } } : stage,
    );
    expect((await putFlow(board, { ...flow, stages })).status).toBe(200);
    const { landings } = await trunkWhenLanded(board.api, 2);
    expect(landings.map(({ branchName }) => branchName)).toEqual(["next", "next"]);
  });
});
