import { describe, expect, it } from "@jest/globals";
import type { Flow } from "../../console/api/schema.d.ts";
import { faultsOf } from "../../console/settings/flow/check-draft.ts";
import {
  describeChanges,
  describeMissing,
  NOBODY,
  NONE,
  type StageCounts,
} from "../../console/settings/flow/describe-changes.ts";
import {
  bodyOf,
  draftOf,
  withNewStage,
  withoutStage,
  withStage,
  withStageAt,
  withStageOf,
  type FlowDraft,
} from "../../console/settings/flow/draft.ts";
import { mergeDrafts } from "../../console/settings/flow/merge-drafts.ts";
import { skipsAt } from "../../console/settings/flow/skips.ts";
import { RULE_TYPES } from "../../src/flow/flow.ts";
import { validateFlow, type FlowDraft as ServiceDraft } from "../../src/flow/validate-flow.ts";

const stage = (name: string, type: Flow["stages"][number]["rule"]["type"]): Flow["stages"][number] => ({
  id: name.toLowerCase(),
  name,
  kind: "stage",
  minRole: "member",
  rule: { type, into: null },
});
const flow: Flow = {
  releases: true,
  branchPattern: "card/{number}-{slug}",
  mergeMethod: "merge",
  checks: "required",
  staleAfterDays: 14,
  agentSilenceHours: 24,
  verification: { independentApproval: true, bypassRules: false, checksStartSeconds: 60 },
  stages: [
    stage("Backlog", "none"),
    stage("Doing", "branch"),
    stage("Review", "pull_request"),
    stage("Done", "merge"),
  ],
};
const base = draftOf(flow);
const names = ({ stages }: FlowDraft): string[] => stages.map(({ name }) => name);
const gates = { wipLimit: null, humanOnly: false, secondPerson: false };

/** Cards 1 to 3 are in Review; a move of card 4 waits to enter it. */
const busy: StageCounts = {
  cardsIn: (id) => (id === "review" ? { count: 3, numbers: [1, 2, 3] } : NONE),
  armedInto: (id) => (id === "review" ? { count: 1, numbers: [4] } : NONE),
};
const told = (after: FlowDraft, standing = busy) =>
  describeChanges(base, after, standing).map(({ kind, text, cards }) => [kind, text, cards.numbers]);

describe("what a change of the flow does", () => {
  it("is nothing while nothing is edited", () => {
    expect(told(base)).toEqual([]);
  });

  it("is refused for a stage with cards, and cancels the moves that wait to enter it", () => {
    expect(told(withoutStage(base, "review"))).toEqual([
      [
        "blocks",
        "Review cannot be removed yet: it holds 3 cards. Move them to another stage first.",
        [1, 2, 3],
      ],
      ["warns", "A move into Review that waits for checks and reviews is cancelled.", [4]],
    ]);
    expect(told(withoutStage(base, "review"), NOBODY)).toEqual([
      ["tells", "Review is removed. It holds no cards.", []],
    ]);
  });

  it("counts more cards than it lists", () => {
    const many = { ...busy, cardsIn: () => ({ count: 5_000, numbers: [1, 2] }) };
    expect(told(withoutStage(base, "review"), many)[0]).toEqual([
      "blocks",
      "Review cannot be removed yet: it holds 5000 cards. Move them to another stage first.",
      [1, 2],
    ]);
  });

  it("leaves cards as they are when the rule changes", () => {
    const changed = withStage(base, "review", { rule: { type: "draft_pull_request", into: null } });
    expect(told(changed)).toEqual([
      [
        "tells",
        "Entering Review: creates the branch; the first push opens a draft pull request. Until now: opens the pull request, or marks the draft ready. The 3 cards in it stay as they are.",
        [1, 2, 3],
      ],
      ["warns", "A move into Review that waits for checks and reviews is cancelled.", [4]],
    ]);
  });

  it.each([
    [
      2,
      "warns",
      "Review has room for 2 cards and holds 3: no card may enter until 2 leave. The cards in it stay.",
    ],
    [
      3,
      "warns",
      "Review has room for 3 cards and holds 3: no card may enter until one leaves. The cards in it stay.",
    ],
    [4, "tells", "Review has room for 4 cards and holds 3."],
  ] as const)("says how many cards are above a limit of %d", (wipLimit, kind, text) => {
    expect(told(withStage(base, "review", { gates: { ...gates, wipLimit } }))).toEqual([
      [kind, text, [1, 2, 3]],
    ]);
  });

  it("names the repositories that lack a target, and ignores other branches", () => {
    const changed = withStage(base, "done", { rule: { type: "merge", into: "release" } });
    const lacking = (branchName: string, names: readonly string[]) =>
      names.map((name) => ({ branchName, repositoryId: name, fullName: `acme/${name}` }));
    const textsOf = (names: readonly string[]) =>
      describeMissing(changed, [...lacking("develop", ["web"]), ...lacking("release", names)]).map(
        ({ kind, text }) => [kind, text],
      );
    const refused = "Moves that need it are refused until it is created.";
    expect(textsOf([])).toEqual([]);
    expect(textsOf(["web"])).toEqual([
      ["warns", `The target branch release does not exist in acme/web. ${refused}`],
    ]);
    expect(textsOf(["a", "b", "c", "d", "e"])).toEqual([
      ["warns", `The target branch release does not exist in acme/a, acme/b, acme/c, and 2 more. ${refused}`],
    ]);
  });

  it("says who may enter", () => {
    const strict = {
      minRole: "maintainer",
      gates: { ...gates, humanOnly: true, secondPerson: true },
    } as const;
    expect(told(withStage(base, "done", strict))).toEqual([
      [
        "tells",
        "Only maintainers who are signed in may move cards into Done; API keys may not. Whoever wrote or pushed the card's commits may not.",
        [],
      ],
    ]);
  });

  it("names new, renamed and reordered stages, and the last one", () => {
    const added = withStage(withNewStage(base, "new"), "new", { name: "QA" });
    expect(told(added)).toEqual([
      [
        "tells",
        "QA is added after Review. Entering it: opens the pull request, or marks the draft ready.",
        [],
      ],
    ]);
    expect(told(withStage(base, "doing", { name: "Now" }))).toEqual([
      ["tells", "Doing is renamed to Now.", []],
    ]);
    expect(told(withStageAt(base, "review", 3))).toEqual([
      ["blocks", "Review comes after Done, so it must do at least what Done does. Choose “Merges”.", []],
      ["tells", "The new order is Backlog, Doing, Done, Review.", []],
      ["tells", "Review is the last stage now: the 3 cards in it count as done.", [1, 2, 3]],
    ]);
  });
});

describe("an invalid value", () => {
  const laxer = withStage(base, "review", { rule: { type: "none", into: null } });
  const tooFew = withStage(base, "review", { gates: { ...gates, wipLimit: 0 } });

  it("is named in the words of the form, and not described as a change", () => {
    const choices =
      "“Creates the branch”, “Creates the branch; the first push opens a draft pull request”, “Opens the pull request, or marks the draft ready”, or “Merges”";
    expect(told(laxer)).toEqual([
      ["blocks", `Review comes after Doing, so it must do at least what Doing does. Choose ${choices}.`, []],
    ]);
    expect(told(tooFew)).toEqual([
      ["blocks", "The card limit of Review must be 1 to 10,000. Leave it empty for no limit.", []],
    ]);
    const added = withStage(withNewStage(base, "new"), "new", {
      name: "QA",
      rule: { type: "none", into: null },
    });
    expect(told(added)).toEqual([
      [
        "blocks",
        expect.stringMatching(
          /^QA comes after Review, .* Choose “Opens the pull request, or marks the draft ready” or “Merges”\.$/,
        ),
        [],
      ],
      ["tells", "QA is added after Review.", []],
    ]);
  });

  it.each(RULE_TYPES.flatMap((one) => RULE_TYPES.map((other) => [one, other] as const)))(
    "is found exactly where the service refuses it: %s before %s",
    (one, other) => {
      const ruleOf = (type: (typeof RULE_TYPES)[number], target: string) => ({
        rule: { type, into: type === "merge" ? target : null },
      });
      const doing = withStage(base, "doing", ruleOf(one, "develop"));
      const review = withStage(doing, "review", ruleOf(other, "staging"));
      const changed = withStage(review, "done", ruleOf("merge", "release"));
      const refused = validateFlow(bodyOf(changed) as ServiceDraft);
      expect(faultsOf(changed.stages)).toHaveLength(refused.length);
    },
  );
});

describe("a condition that cards can skip", () => {
  const guarded = withStage(base, "doing", { gates: { ...gates, secondPerson: true } });

  it("is told with the later stages that lack it, until they have it", () => {
    const text = "Cards can skip Doing: Review and Done do not require a second person.";
    expect(told(guarded).at(-1)).toEqual(["warns", text, []]);
    const half = withStage(guarded, "review", { gates: { ...gates, secondPerson: true } });
    expect(told(half).at(-2)).toEqual([
      "warns",
      "Cards can skip Doing: Done does not require a second person.",
      [],
    ]);
    const [skip] = skipsAt(half.stages, 1);
    const closed = skip?.close(half) ?? half;
    expect(closed.stages.map((each) => each.gates.secondPerson)).toEqual([false, true, true, true]);
    expect(closed.stages.flatMap((_, at) => skipsAt(closed.stages, at))).toEqual([]);
  });

  it("is told only if the change adds it", () => {
    const renamed = withStage(guarded, "done", { name: "Shipped" });
    expect(describeChanges(guarded, renamed, NOBODY).map(({ text }) => text)).toEqual([
      "Done is renamed to Shipped.",
    ]);
  });

  it.each([
    ["a maintainer", { minRole: "maintainer" }],
    ["a person", { gates: { ...gates, humanOnly: true } }],
  ] as const)("names whom the stage requires: %s", (whom, changes) => {
    const { stages } = withStage(base, "review", changes);
    const [skip] = skipsAt(stages, 2);
    expect(skip?.text).toBe(`Cards can skip Review: Done does not require ${whom}.`);
    expect(skip?.close({ ...base, stages }).stages[3]).toMatchObject(changes);
  });
});

describe("an edited flow", () => {
  it("keeps the backlog first and has done last", () => {
    expect(withStageAt(base, "backlog", 2)).toBe(base);
    expect(names(withStageAt(base, "done", 0))).toEqual(["Backlog", "Done", "Doing", "Review"]);
    const { stages } = bodyOf(withStageAt(base, "review", 9));
    expect(stages.map(({ name, kind }) => [name, kind])).toEqual([
      ["Backlog", "backlog"],
      ["Doing", "stage"],
      ["Done", "stage"],
      ["Review", "done"],
    ]);
  });

  it("gets a removed stage back where it was", () => {
    expect(names(withStageOf(withoutStage(base, "doing"), base, "doing"))).toEqual(names(base));
  });

  it("is the same as text, in whatever order a response has its fields", () => {
    const { stages, ...settings } = flow;
    const turned = { stages: stages.map(({ rule, ...rest }) => ({ rule, ...rest })), ...settings };
    expect(JSON.stringify(draftOf(turned))).toBe(JSON.stringify(base));
  });
});

describe("two edits of one flow", () => {
  const mine = withStage(base, "doing", { name: "In progress" });

  it("are combined when they concern different stages and fields", () => {
    const theirs = withStage(withStage(base, "doing", { minRole: "maintainer" }), "review", {
      name: "Check",
    });
    const merged = mergeDrafts(base, mine, theirs);
    expect(merged.stages[1]).toMatchObject({ name: "In progress", minRole: "maintainer" });
    expect(names(merged)).toEqual(["Backlog", "In progress", "Check", "Done"]);
  });

  it("keep the user's value where both changed the same", () => {
    const theirs = {
      ...withStage(base, "doing", { name: "Work" }),
      settings: { ...base.settings, staleAfterDays: 3 },
    };
    const own = { ...mine, settings: { ...base.settings, staleAfterDays: 7 } };
    const merged = mergeDrafts(base, own, theirs);
    expect([names(merged)[1], merged.settings.staleAfterDays]).toEqual(["In progress", 7]);
  });

  it("have the stages that either added, each at its place", () => {
    const own = withStage(withNewStage(mine, "a"), "a", { name: "QA" });
    const theirs = withStageAt(withStage(withNewStage(base, "b"), "b", { name: "Ready" }), "b", 1);
    expect(names(mergeDrafts(base, own, theirs))).toEqual([
      "Backlog",
      "Ready",
      "In progress",
      "Review",
      "QA",
      "Done",
    ]);
  });

  it("keep a stage that one removed only if the other changed it, then as a new one", () => {
    const gone = withoutStage(base, "doing");
    expect(names(mergeDrafts(base, base, gone))).toEqual(["Backlog", "Review", "Done"]);
    const kept = mergeDrafts(base, mine, gone);
    expect(kept.stages[1]).toMatchObject({ name: "In progress", id: null });
    expect(names(mergeDrafts(base, gone, mine))).toEqual(["Backlog", "Review", "Done"]);
  });

  it("have the order that one of them changed", () => {
    const turned = withStageAt(base, "review", 1);
    const order = ["Backlog", "Review", "In progress", "Done"];
    expect(names(mergeDrafts(base, mine, turned))).toEqual(order);
    expect(names(mergeDrafts(base, turned, mine))).toEqual(order);
  });
});
