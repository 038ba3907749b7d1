import { describe, expect, it } from "@jest/globals";
import {
  landingsOf as landingsIn,
  revertsAmong,
  withReverts,
  type TrunkCommit,
} from "../../src/flow/trunk/landings.ts";

const sha = (name: string) => Buffer.from(name).toString("hex").padEnd(40, "0").slice(0, 40);
const commit = (name: string, over: Partial<TrunkCommit> = {}): TrunkCommit => ({
  sha: sha(name),
  message: name,
  committedAt: "2026-01-01T00:00:00.000Z",
  authorLogin: null,
  prNumber: null,
  mergedCommits: [],
  ...over,
});
const DAYS = { since: new Date("2025-06-01T00:00:00Z"), until: new Date("2026-06-01T00:00:00Z") };
const landingsOf = (line: readonly TrunkCommit[]) => landingsIn(line, DAYS);
const reverting = (name: string): string => `Revert "${name}"\n\nThis reverts commit ${sha(name)}.`;
/** The reverts among commits given oldest first. */
const revertsOf = (commits: readonly TrunkCommit[], earlier: readonly string[] = []): string[] => {
  const before = earlier.map((each) => ({ sha: each, title: "", prNumber: null }));
  const shas = new Set(commits.flatMap(({ mergedCommits }) => (mergedCommits ?? []).map((each) => each.sha)));
  const landings = withReverts(landingsOf(commits.toReversed()), {
    landings: before,
    shas,
    fullName: "acme/web",
  });
  const found = revertsAmong(landings, (name) => earlier.includes(name));
  return landings.filter((landing) => found.has(landing.sha)).map(({ title }) => title);
};

describe("landings", () => {
  it("are listed oldest first, with the first line of the commit message", () => {
    const line = [commit("b", { message: "Second\n\nmore" }), commit("a", { message: "First" })];
    expect(landingsOf(line).map(({ title }) => title)).toEqual(["First", "Second"]);
  });

  it("are one for each pull request, with its newest commit", () => {
    const line = [
      commit("d"),
      commit("c", { prNumber: 7, committedAt: "2026-01-02T00:00:00.000Z" }),
      commit("b", { prNumber: 7 }),
      commit("a"),
    ];
    const landings = landingsOf(line);
    expect(landings.map(({ key }) => key)).toEqual([sha("a"), "#7", sha("d")]);
    expect(landings[1]).toMatchObject({ sha: sha("c"), at: "2026-01-02T00:00:00.000Z", prNumber: 7 });
  });
});

describe("the time of a landing", () => {
  it("is that of the one before if its commit has a date of other years", () => {
    const dated = (name: string, year: number) =>
      commit(name, { committedAt: `${year}-01-0${name.length}T00:00:00.000Z` });
    const line = [dated("eeeee", 2026), dated("dddd", 2082), dated("ccc", 2001), dated("bb", 2026)];
    expect(landingsOf(line).map(({ title, at }) => [title, at.slice(0, 10)])).toEqual([
      ["bb", "2026-01-02"],
      ["ccc", "2026-01-02"],
      ["dddd", "2026-01-02"],
      ["eeeee", "2026-01-05"],
    ]);
    expect(landingsOf([dated("ccc", 2001), dated("bb", 2001)]).map(({ at }) => at)).toEqual([
      DAYS.until.toISOString(),
      DAYS.until.toISOString(),
    ]);
  });
});

describe("a revert", () => {
  it.each<[string, string, boolean]>([
    ["git's", reverting("work"), true],
    ["git's with another title", `Back out the work\n\nThis reverts commit ${sha("work")}.`, true],
    [
      "git's with a reference",
      `No good\n\nThis reverts commit ${sha("work").slice(0, 9)} (work, 2026-01-01).`,
      true,
    ],
    ["a reference alone", `This reverts commit ${sha("work").slice(0, 7)} (work, 2026-01-01).`, true],
    ["GitHub's, squashed without a text", 'Revert "work" (#9)', true],
    ["GitHub's, squashed with its description", 'Revert "Anything" (#9)\n\nReverts acme/web#7', true],
    ["of another repository's pull request", 'Revert "Anything" (#9)\n\nReverts acme/api#7', false],
    ["of a pull request that has not landed", 'Revert "Anything" (#9)\n\nReverts acme/web#8', false],
    ["of a title that has not landed", 'Revert "Anything"', false],
    ["of a commit that has not landed", `Undo\n\nThis reverts commit ${sha("draft")}.`, false],
    [
      "a squash that lists a revert of its own commit",
      `Feature (#9)\n\n* draft\n\n* Revert "draft"\n\nThis reverts commit ${sha("draft")}.`,
      false,
    ],
    [
      "a squash that lists a revert of a landed commit",
      `Feature (#9)\n\n* More\n\n* Revert "work"\n\nThis reverts commit ${sha("work")}.`,
      false,
    ],
    ["a quotation", `Explain reverts\n\nGit writes\n\nThis reverts commit ${sha("work")}.`, false],
    ["a link to what it follows up", "Follow up\n\nReverts acme/web#7", false],
  ])("%s", (_, message, isRevert) => {
    const landed = [commit("work", { message: "work (#7)", prNumber: 7 }), commit("x", { message })];
    expect(revertsOf(landed)).toHaveLength(isRevert ? 1 : 0);
  });

  it("restores the work if it reverts a revert, by title, too", () => {
    const first = commit("first", { message: 'Revert "work" (#8)', prNumber: 8 });
    const again = (message: string) => commit("again", { message, prNumber: 9 });
    const names = ['Reapply "work" (#9)', 'Revert "Revert "work"" (#9)'];
    for (const message of names)
      expect(revertsOf([commit("work"), first, again(message)])).toEqual(['Revert "work" (#8)']);
  });

  const work = commit("work");
  const undone = commit("undone", { message: reverting("work") });

  it("is recognised only by the sentence that git writes", () => {
    expect(revertsOf([work, undone])).toEqual(['Revert "work"']);
    expect(revertsOf([work, commit("x", { message: "Do not say This reverts commit abc" })])).toEqual([]);
  });

  it("a revert of a revert is not counted as a revert", () => {
    const redone = commit("redone", { message: reverting("undone") });
    const again = commit("again", { message: reverting("redone") });
    expect(revertsOf([work, undone, redone, again])).toEqual(['Revert "work"', 'Revert "redone"']);
    expect(revertsOf([redone], [sha("undone")])).toEqual([]);
  });

  it("by a merge counts if all commits of the merged branch are reverts", () => {
    const mergedCommits = (...messages: string[]) =>
      messages.map((message, index) => ({ sha: sha(`mergedCommits ${index}`), message }));
    const merge = (name: string, by: TrunkCommit["mergedCommits"]) =>
      commit(name, { prNumber: 8, mergedCommits: by });
    expect(revertsOf([work, merge("m", mergedCommits(reverting("work")))])).toEqual(["m"]);
    expect(revertsOf([work, merge("m", mergedCommits("More", reverting("work")))])).toEqual([]);
    expect(revertsOf([work, merge("m", null)])).toEqual([]);
    const redone = commit("redone", { message: reverting("mergedCommits 0") });
    expect(revertsOf([work, merge("m", mergedCommits(reverting("work"))), redone])).toEqual(["m"]);
  });

  it("by a rebased pull request counts if all of its commits are reverts", () => {
    const part = (name: string, message: string) => commit(name, { message, prNumber: 9 });
    expect(revertsOf([work, part("x", "More"), part("y", reverting("work"))])).toEqual([]);
    expect(
      revertsOf([work, commit("other"), part("x", reverting("work")), part("y", reverting("other"))]),
    ).toEqual(['Revert "other"']);
  });
});
