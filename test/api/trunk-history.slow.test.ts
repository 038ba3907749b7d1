/** The landings of a history made by people with git, against what git alone says of it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { followTrunk, followTrunks } from "../../src/actions/follow-trunk.ts";
import type { Deps } from "../../src/actions/deps.ts";
import { eventually } from "../support/api.ts";
import type { Clone } from "../support/git.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { readTrunk, trunkWhenLanded } from "../support/trunk.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
let board: TestBoard;
let clone: Clone;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  board = await world.board();
  clone = await board.clone();
  await clone.git("checkout", "-q", "main");
});
afterEach(() => clone.remove());

const DAY_MS = 24 * 3_600_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();
const dayOf = (days: number): string => daysAgo(days).slice(0, 10);

/** Runs git in the clone as if it were some days ago. */
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

const fullName = () => `${board.owner}/web`;

/** A pull request with two commits of its own, merged on the forge. */
async function mergedPull(name: string, method: string): Promise<void> {
  await clone.checkout("main");
  await clone.git("checkout", "-q", "-b", name);
  await clone.commit(`First of ${name}\n\nPart-of: ${name}`, { [`${name}-1.txt`]: "1\n" });
  await clone.commit(`Second of ${name}\n\nPart-of: ${name}`, { [`${name}-2.txt`]: "2\n" });
  await clone.push("origin", name);
  await mergePull(name, method);
}

async function mergePull(name: string, method: string): Promise<void> {
  const pulls = `/repos/${fullName()}/pulls`;
  const opened = await board.person("ada", "POST", pulls, { title: name, head: name, base: "main" });
  const merged = await board.person("ada", "PUT", `${pulls}/${String(opened.body["number"])}/merge`, {
    merge_method: method,
  });
  expect(merged.status).toBe(200);
}

interface Told {
  readonly sha: string;
  readonly at: string;
  readonly title: string;
  readonly reverts: string | null;
}

/** What landed on main by git's word alone, newest first. A rebased pull request's commits are told by their last lines. */
async function landingsByGit(): Promise<Told[]> {
  await clone.checkout("main");
  const format = "--format=%H%x00%cI%x00%s%x00%B%x00%P%x01";
  const read = async (...range: string[]) =>
    (await clone.git("log", format, ...range))
      .split("\u0001")
      .map((record) => record.trim())
      .filter((record) => record !== "")
      .map((record) => {
        const [sha = "", at = "", title = "", message = "", parents = ""] = record.split("\u0000");
        return { sha, at: new Date(at).toISOString(), title, message, parents: parents.split(" ") };
      });
  const undone = (message: string) => /^This reverts commit (\w{40})/m.exec(message)?.[1] ?? null;
  const line = await read("--first-parent", "main");
  const part = (message: string) => /^Part-of: (.*)$/m.exec(message)?.[1] ?? null;
  const landed = line.filter(
    ({ message, parents }, index) =>
      parents.length > 1 || part(message) === null || part(message) !== part(line[index - 1]?.message ?? ""),
  );
  const told: Told[] = [];
  const reverting = new Set<string>();
  for (const { sha, at, title, message, parents } of landed.toReversed()) {
    const [first = "", second] = parents;
    const brought = second === undefined ? [] : await read(`${first}..${second}`);
    const all = brought.map((commit) => ({ by: commit.sha, of: undone(commit.message) }));
    const of =
      undone(message) ?? (all.length > 0 && all.every((each) => each.of) ? (all[0]?.of ?? null) : null);
    const counts = of !== null && !reverting.has(of);
    if (counts) for (const by of [sha, ...all.map((each) => each.by)]) reverting.add(by);
    told.unshift({ sha, at, title, reverts: counts ? of : null });
  }
  return told;
}

describe("what landed on a trunk", () => {
  it("is what git says: merges, squashes, rebases, pushes, hotfixes, picks and reverts of any day", async () => {
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
    commitAt(33, "Late");
    commitAt(35, "Made before the one it follows");
    await clone.push("origin", "main");
    await mergedPull("by-merge", "merge");
    await mergedPull("by-squash", "squash");
    await mergedPull("by-rebase", "rebase");
    await clone.checkout("main");
    await clone.git("checkout", "-q", "-b", "undo");
    await clone.git("revert", "--no-edit", "HEAD~2");
    await clone.push("origin", "undo");
    await mergePull("undo", "merge");

    const expected = await landingsByGit();
    expect(expected.filter(({ reverts }) => reverts !== null)).toHaveLength(3);
    const windows = [
      [62, 0],
      [60, 60],
      [52, 45],
      [40, 34],
      [35, 35],
      [1, 0],
    ] as const;
    const whole = `?from=${dayOf(62)}&to=${dayOf(0)}`;
    const count = expected.filter(({ at }) => at >= `${dayOf(62)}T`).length;
    await trunkWhenLanded(board.api, count, whole);
    for (const [from, to] of windows) {
      const { landings, numbers } = await readTrunk(board.api, `?from=${dayOf(from)}&to=${dayOf(to)}`);
      const within = expected.filter(
        ({ at }) => at.slice(0, 10) >= dayOf(from) && at.slice(0, 10) <= dayOf(to),
      );
      const told = landings.map(({ sha, at, title, reverts }) => ({ sha, at, title, reverts }));
      expect(told).toEqual(within.toSorted((a, b) => b.at.localeCompare(a.at)));
      expect(numbers).toMatchObject({
        landed: within.length,
        reverts: within.filter(({ reverts }) => reverts !== null).length,
      });
    }
    const { landings } = await readTrunk(board.api, whole);
    const numbers = Object.fromEntries(landings.map(({ title, prNumber }) => [title, prNumber]));
    expect(numbers).toMatchObject({
      "Second of by-rebase": 3,
      "by-squash (#2)": 2,
      "Merge hotfix": null,
    });
    expect(numbers).not.toHaveProperty("Hot fix");
  });

  it("is found again when the forge's word of it is lost", async () => {
    world.forge.control.webhooks.add({ fault: { kind: "drop" } });
    const sha = await clone.commit("Unheard", { "unheard.txt": "x\n" });
    await clone.push("origin", "main");
    await world.forge.settle();
    world.forge.control.webhooks.clear();
    expect((await readTrunk(board.api)).landings).toEqual([]);
    await followTrunks(world.service.deps);
    expect((await readTrunk(board.api)).landings[0]).toMatchObject({ sha, title: "Unheard" });
  });

  it("is what is there after a push by force", async () => {
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

  it("belongs to its pull request once the forge knows that, too", async () => {
    const { deps } = world.service;
    const forgetful: Deps = {
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
    await mergedPull("by-rebase", "rebase");
    await world.forge.settle();
    world.forge.control.webhooks.clear();
    await followTrunk(forgetful, board.repositories["web"] ?? "", "main");
    expect((await readTrunk(board.api)).landings.map(({ prNumber }) => prNumber)).toEqual([null, null, null]);
    await followTrunks(deps);
    expect((await readTrunk(board.api)).landings.map(({ prNumber }) => prNumber)).toEqual([1, null]);
  });

  it("is told of every branch that the flow merges into, once it does", async () => {
    await clone.git("checkout", "-q", "-b", "next");
    await clone.commit("On next", { "next.txt": "x\n" });
    await clone.push("origin", "next");
    await world.forge.settle();
    const flow = await readFlow(board);
    const stages = flow.stages.map((stage) =>
      stage.name === "Done" ? { ...stage, rule: { type: "merge", into: "next" } } : stage,
    );
    expect((await putFlow(board, { ...flow, stages })).status).toBe(200);
    const { landings } = await trunkWhenLanded(board.api, 2);
    expect(landings.map(({ branchName }) => branchName)).toEqual(["next", "next"]);
  });
});
