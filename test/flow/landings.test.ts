import { describe, expect, it } from "@jest/globals";
import { landingsOf, revertsAmong, type TrunkCommit } from "../../src/flow/landings.ts";

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
const reverting = (name: string): string => `Revert "${name}"\n\nThis reverts commit ${sha(name)}.`;
/** The reverts among commits given oldest first. */
const revertsOf = (commits: readonly TrunkCommit[], earlier: readonly string[] = []): string[] => {
  const landings = landingsOf(commits.toReversed());
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

describe("a revert", () => {
  const work = commit("work");
  const undone = commit("undone", { message: reverting("work") });

  it("is recognised only by the sentence that git writes", () => {
    expect(revertsOf([work, undone])).toEqual(['Revert "work"']);
    expect(revertsOf([work, commit("x", { message: 'Revert "work"' })])).toEqual([]);
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
    expect(revertsOf([work, part("x", reverting("work")), part("y", reverting("other"))])).toEqual([
      'Revert "other"',
    ]);
  });
});
