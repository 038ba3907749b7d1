import { describe, expect, it } from "@jest/globals";
import { adviceOn } from "../../console/card/moves/advice.ts";
import { entryRefusals, secondPersonRefusal } from "../../src/flow/gates.ts";
import {
  branchMissing,
  conflicting,
  headMoved,
  noCommits,
  noOwnCommits,
  pullRequestClosed,
  targetMissing,
} from "../../src/flow/branch-refusals.ts";
import type { Stage } from "../../src/flow/flow.ts";

const branch = {
  repositoryId: "r",
  fullName: "acme/web",
  branchName: "card/1",
  targetBranch: "main",
  headSha: "a".repeat(40),
};
const stage = {
  name: "Done",
  gates: { wipLimit: 1, humanOnly: true, secondPerson: true },
} as Stage;

describe("the advice for a refusal", () => {
  it("is left out if the message of Trunkline says what to do", () => {
    const gates = entryRefusals(stage, { isHuman: false, personId: null, otherCards: 1 });
    const authors = secondPersonRefusal(stage, "1", { ...branch, authors: null, pushers: [] });
    const facts = { target: { name: "main", sha: null } } as Parameters<typeof targetMissing>[1];
    const refusals = [
      ...gates,
      authors,
      targetMissing("acme/web", facts),
      branchMissing(branch),
      noOwnCommits(branch),
      pullRequestClosed(1),
      conflicting(branch, { number: 1 } as Parameters<typeof conflicting>[1]),
      headMoved("card/1", "a", "b"),
    ];
    expect(refusals.length).toBe(10);
    for (const refusal of refusals) {
      expect(refusal).not.toBeNull();
      expect([refusal, ...adviceOn(refusal ? [refusal] : [])]).toEqual([refusal]);
    }
  });

  it("is given once for the messages of GitHub, also for a reason that a newer service has", () => {
    expect(adviceOn([noCommits(branch), noCommits(branch)])).toEqual([
      "Push commits to the card's branch, then move the card again.",
    ]);
    const newer = { reason: "new_reason", message: "?" } as unknown as ReturnType<typeof noCommits>;
    expect(adviceOn([newer])).toEqual(["Read the message. If it says too little, look at the pull request."]);
  });
});
