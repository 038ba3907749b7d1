import { describe, expect, it } from "@jest/globals";
import { spawnSync } from "node:child_process";
import * as fc from "fast-check";
import { MAX_BRANCH_NAME_BYTES, branchNameFor, isBranchName } from "../../src/flow/names.ts";
import { DEFAULT_FLOW, RULE_TYPES, type RuleType } from "../../src/flow/flow.ts";
import { validateFlow, type FlowDraft, type StageDraft } from "../../src/flow/validate-flow.ts";

const stage = (name: string, type: RuleType = "none", into: string | null = null): StageDraft => ({
  name,
  kind: "stage",
  minRole: "member",
  rule: { type, into },
});
const backlog: StageDraft = { ...stage("Backlog"), kind: "backlog" };
const done = (type: RuleType = "none", into: string | null = null): StageDraft => ({
  ...stage("Done", type, into),
  kind: "done",
});
const flow = (...stages: StageDraft[]): FlowDraft => ({ ...DEFAULT_FLOW, stages });
const between = (...stages: StageDraft[]): FlowDraft => flow(backlog, ...stages, done("merge"));
const pathsOf = (draft: FlowDraft): string[] => validateFlow(draft).map(({ path }) => path);

/** The names that git accepts. A shell starts git: jest's large process takes ten times as long. */
function namesGitAccepts(names: readonly string[]): Set<string> {
  const script = `while IFS= read -r name; do git check-ref-format --branch "$name" >/dev/null 2>&1 && echo y || echo n; done`;
  const { stdout } = spawnSync("sh", ["-c", script], { input: names.map((name) => `${name}\n`).join("") });
  const responses = stdout.toString("utf8").trim().split("\n");
  if (responses.length !== names.length) throw new Error("git did not check each name");
  return new Set(names.filter((_, at) => responses[at] === "y"));
}
const gitAccepts = (name: string): boolean => namesGitAccepts([name]).has(name);

const faultOf = (branchPattern: string): string | undefined =>
  validateFlow({ ...DEFAULT_FLOW, branchPattern })[0]?.message;

describe("a valid flow", () => {
  it.each<[string, FlowDraft]>([
    ["the default one", DEFAULT_FLOW],
    ["a backlog and a done stage", flow(backlog, done())],
    ["every rule in order", between(...RULE_TYPES.slice(0, 4).map((type) => stage(type, type)))],
    ["a repeated rule", between(stage("A", "branch"), stage("B", "branch"), stage("C", "branch"))],
    [
      "merges into different branches",
      between(stage("A", "merge", "develop"), stage("B", "merge", "staging")),
    ],
    [
      "a done stage that only keeps what was merged",
      flow(backlog, stage("A", "merge", "next"), done("merge")),
    ],
    ["squashing into one branch", { ...between(stage("A", "branch")), mergeMethod: "squash" }],
    ["rebasing nothing", { ...flow(backlog, done()), mergeMethod: "rebase" }],
    ["30 stages", between(...Array.from({ length: 28 }, (_, at) => stage(`Stage ${at}`)))],
    ["a name of 60 characters", between(stage("n".repeat(60)))],
    ["a name of 60 characters that JavaScript counts as 120", between(stage("🧭".repeat(60)))],
    ["kept stages", flow({ ...backlog, id: "a" }, { ...done(), id: "b" })],
  ])("is %s", (_, draft) => {
    expect(validateFlow(draft)).toEqual([]);
  });
});

describe("an invalid flow", () => {
  it.each<[string, FlowDraft, string, RegExp]>([
    ["no stages", flow(), "stages", /2 to 30 stages.*this one has 0/],
    ["31 stages", between(...Array.from({ length: 29 }, (_, at) => stage(`S${at}`))), "stages", /has 31/],
    ["no backlog", flow(stage("Start"), done()), "stages.0.kind", /Stage 1 \(Start\).*must be backlog/],
    [
      "two backlogs",
      between({ ...backlog, name: "More" }),
      "stages.1.kind",
      /Stage 2 \(More\) is a backlog, but only the first/,
    ],
    ["no done stage", flow(backlog, stage("Last")), "stages.1.kind", /Stage 2 \(Last\).*must be done/],
    [
      "two done stages",
      flow(backlog, { ...done(), name: "Shipped" }, done()),
      "stages.1.kind",
      /Stage 2 \(Shipped\) is done, but only the last/,
    ],
    [
      "a backlog with Git",
      flow({ ...backlog, rule: { type: "branch", into: null } }, done("merge")),
      "stages.0.rule",
      /Stage 1 \(Backlog\) requires branch.*rule is none/,
    ],
    [
      "a rule that goes backwards",
      between(stage("Review", "pull_request"), stage("Test", "branch")),
      "stages.2.rule",
      /Stage 3 \(Test\) requires branch, less than pull_request of the stage before it \(Review\)/,
    ],
    [
      "a done stage with a lower rule",
      flow(backlog, stage("Ship", "merge"), done()),
      "stages.2.rule",
      /Stage 3 \(Done\) requires none, less than merge/,
    ],
    [
      "two merges into one branch",
      flow(backlog, stage("A", "merge", "main"), done("merge", "main")),
      "stages.2.rule.into",
      /Stage 3 \(Done\) merges into main, as stage 2 does/,
    ],
    [
      "two merges into the default branch",
      flow(backlog, stage("A", "merge"), done("merge")),
      "stages.2.rule.into",
      /the default branch, as stage 2/,
    ],
    [
      "a target in a stage without a merge",
      between(stage("A", "branch", "main")),
      "stages.1.rule.into",
      /Stage 2 \(A\) does not merge \(its rule is branch\)/,
    ],
    [
      "an invalid target name",
      flow(backlog, done("merge", "release..1")),
      "stages.1.rule.into",
      /Stage 2 \(Done\) merges into "release..1", which is not a valid branch name/,
    ],
    ["an empty target", flow(backlog, done("merge", "")), "stages.1.rule.into", /into ""/],
    [
      "two squash merges",
      { ...flow(backlog, stage("A", "merge", "next"), done("merge")), mergeMethod: "squash" },
      "mergeMethod",
      /Stage 3 \(Done\) merges a second time.*squash/,
    ],
    [
      "two rebase merges",
      { ...flow(backlog, stage("A", "merge", "next"), done("merge")), mergeMethod: "rebase" },
      "mergeMethod",
      /commits that rebase rewrote/,
    ],
    [
      "a duplicate name",
      between(stage("Doing"), stage("DOING")),
      "stages.2.name",
      /\(DOING\) has the name of stage 2/,
    ],
    ["a stage without a name", between(stage(" ")), "stages.1.name", /1 to 60 characters/],
    ["a name of 61 characters", between(stage("n".repeat(61))), "stages.1.name", /1 to 60 characters/],
    [
      "a duplicate stage id",
      between({ ...stage("A"), id: "same" }, { ...stage("B"), id: "same" }),
      "stages.2.id",
      /Stage 3 \(B\) has the id of stage 2/,
    ],
  ])("has %s", (_, draft, path, why) => {
    const faults = validateFlow(draft);
    expect(faults.map((fault) => fault.path)).toEqual([path]);
    expect(faults[0]?.message).toMatch(why);
  });

  it("has two errors if the backlog is not the first stage", () => {
    expect(pathsOf(flow(stage("A"), backlog, done()))).toEqual(["stages.0.kind", "stages.1.kind"]);
  });

  it("has all its errors listed in the order of its stages", () => {
    const draft = { ...between(stage("A", "pull_request"), stage("a", "branch", "x")), branchPattern: "x" };
    expect(pathsOf(draft)).toEqual(["branchPattern", "stages.2.name", "stages.2.rule", "stages.2.rule.into"]);
  });

  const rules = fc.array(fc.constantFrom(...RULE_TYPES), { minLength: 0, maxLength: 10 });
  const drafted = (types: readonly RuleType[]): FlowDraft =>
    flow(
      backlog,
      ...types.map((type, at) => stage(`S${at}`, type, type === "merge" ? `branch-${at}` : null)),
      done("merge"),
    );

  it("is, without other errors, one whose rules are not in ascending order", () => {
    fc.assert(
      fc.property(rules, (types) => {
        const asked = types.map((type) => RULE_TYPES.indexOf(type));
        const isAscending = asked.every((level, at) => at === 0 || level >= (asked[at - 1] ?? 0));
        expect(validateFlow(drafted(types)).length === 0).toBe(isAscending);
      }),
    );
  });

  it("has errors only for the stages whose rule is too low", () => {
    fc.assert(
      fc.property(rules, (types) => {
        const wrong = ["none" as const, ...types].flatMap((type, at, all) =>
          at > 0 && RULE_TYPES.indexOf(type) < RULE_TYPES.indexOf(all[at - 1] ?? "none") ? [at] : [],
        );
        expect(pathsOf(drafted(types))).toEqual(wrong.map((at) => `stages.${at}.rule`));
      }),
    );
  });
});

describe("a branch pattern", () => {
  it.each([
    "card/{number}-{slug}",
    "{number}",
    "feature/{number}",
    "{number}/{slug}",
    "t{number}_{slug}",
    "@{number}",
    "a//{number}",
    "karte/größe-{number}",
    "v1.{number}-{slug}",
    "x".repeat(192) + "{number}",
  ])("can be %s", (pattern) => {
    expect(faultOf(pattern)).toBeUndefined();
  });

  it.each<[string, RegExp]>([
    ["card/{slug}", /must contain \{number\}/],
    ["", /must contain \{number\}/],
    ["{number}-{title}", /no placeholders other/],
    ["{{number}}", /no placeholders other/],
    ["card {number}", /can give "card 1"/],
    ["/{number}", /can give "\/1"/],
    ["-{number}", /can give "-1"/],
    ["a..{number}", /not a valid branch name/],
    [".{number}", /not a valid branch name/],
    ["{number}.lock", /can give "1.lock"/],
    ["{number}.{slug}", /can give "1.lock"/],
    ["{number}.lo{slug}", /can give "1.lock"/],
    ["{number}.lock-{slug}", /can give "1.lock"/],
    // A title in another script has no slug at all.
    ["{slug}/{number}", /can give "\/1"/],
    ["x".repeat(193) + "{number}", /at most 200 characters/],
    // 150 characters of two bytes each are too long for a branch name.
    ["ü".repeat(150) + "{number}", /at most 239 bytes/],
  ])("cannot be %s", (pattern, why) => {
    expect(faultOf(pattern)).toMatch(why);
  });

  it("that is valid gives names that git accepts for any card", () => {
    const part = fc.constantFrom(
      "{number}",
      "{slug}",
      "card",
      "/",
      "-",
      ".",
      "_",
      ".lo",
      "ck",
      "@",
      "~",
      "é",
    );
    const patterns = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
    const valid = patterns.filter((pattern) => faultOf(pattern) === undefined);
    const title = fc.oneof(fc.constantFrom("lock", "ck", "日本語", "k.lock"), fc.string({ maxLength: 80 }));
    const cards = fc.sample(fc.tuple(valid, fc.integer({ min: 1, max: 99_999 }), title), 100);
    const names = cards.map(([pattern, number, text]) => branchNameFor(pattern, number, text));
    const accepted = namesGitAccepts(names);
    expect(names.filter((name) => !accepted.has(name))).toEqual([]);
  });
});

describe("a branch name in a flow", () => {
  it.each(["main", "release/1.0", "a-b", "HEADS", "a@b", "ü", "x".repeat(MAX_BRANCH_NAME_BYTES)])(
    "can be %s",
    (name) => {
      expect(isBranchName(name)).toBe(true);
      expect(gitAccepts(name)).toBe(true);
    },
  );

  // Fault: D8
  it.each([
    "",
    "HEAD",
    "-x",
    "a b",
    "a..b",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[",
    "a\\b",
    "a@{1}",
    "/a",
    "a/",
    "a//b",
    ".a",
    "a/.b",
    "a.",
    "a.lock",
    "a.lock/b",
    "a\u0007",
    "a\u007f",
  ])("cannot be %j, as git agrees", (name) => {
    expect(isBranchName(name)).toBe(false);
    expect(gitAccepts(name)).toBe(false);
  });

  it("cannot be longer than a file name may be", () => {
    expect(isBranchName("x".repeat(MAX_BRANCH_NAME_BYTES + 1))).toBe(false);
    expect(isBranchName("ü".repeat(120))).toBe(false);
  });

  it("is valid if git accepts it", () => {
    const special = fc.constantFrom(..."/.-@{~^:?*[\\ \u0001\u007f".split(""), "HEAD", ".lock", "..", "@{");
    const plain = fc.constantFrom("a", "b", "é", "k");
    const character = fc.oneof({ arbitrary: plain, weight: 2 }, { arbitrary: special, weight: 1 });
    const parts = fc.array(character, { minLength: 1, maxLength: 6 });
    const names = fc.sample(parts, 300).map((each) => each.join(""));
    const accepted = namesGitAccepts(names);
    expect(names.filter((name) => isBranchName(name) !== accepted.has(name))).toEqual([]);
  });
});
