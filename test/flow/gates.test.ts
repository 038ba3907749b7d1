import { describe, expect, it } from "@jest/globals";
import {
  entryRefusals,
  gateStillRefuses,
  secondPersonRefusal,
  type BranchWork,
  type Contributor,
} from "../../src/flow/gates.ts";
import type { Gates, Stage } from "../../src/flow/flow.ts";
import { blockedReason } from "../../src/flow/refusal.ts";

const stage = (gates?: Partial<Gates>): Stage => ({
  id: "s",
  name: "Done",
  kind: "done",
  minRole: "member",
  rule: { type: "none", into: null },
  gates: gates && { wipLimit: null, humanOnly: false, secondPerson: false, ...gates },
});
const one = (personId: string | null, login: string | null = personId): Contributor => ({
  sha: "1".repeat(40),
  login,
  personId,
});

describe("entryRefusals", () => {
  const facts = { isHuman: false, personId: null, otherCards: 2 };
  it.each<[Partial<Gates> | undefined, object, string[]]>([
    [undefined, {}, []],
    [{}, {}, []],
    [{ wipLimit: 3 }, {}, []],
    [{ wipLimit: 2 }, {}, ["wip_limit"]],
    [{ wipLimit: 1 }, {}, ["wip_limit"]],
    [{ humanOnly: true }, {}, ["human_only"]],
    [{ humanOnly: true }, { isHuman: true }, []],
    [{ secondPerson: true }, {}, ["needs_second_person"]],
    [{ secondPerson: true }, { personId: "ann" }, []],
    [
      { wipLimit: 2, humanOnly: true, secondPerson: true },
      {},
      ["human_only", "wip_limit", "needs_second_person"],
    ],
  ])("with the gates %j and %j are %j", (gates, changes, reasons) => {
    const refusals = entryRefusals(stage(gates), { ...facts, ...changes });
    expect(refusals.map(({ reason }) => reason)).toEqual(reasons);
  });
});

describe("secondPersonRefusal", () => {
  const work = { fullName: "acme/web", branchName: "card/1", headSha: "2".repeat(40) };
  it.each<[string | null, string, Pick<BranchWork, "authors" | "pushers">]>([
    [null, "others wrote and pushed", { authors: [one("bob")], pushers: [one("cleo")] }],
    [null, "nobody wrote or pushed", { authors: [], pushers: [] }],
    ["same_person", "the mover wrote", { authors: [one("bob"), one("ann")], pushers: [one("bob")] }],
    ["same_person", "the mover pushed", { authors: [one("bob")], pushers: [one("ann")] }],
    ["same_person", "an agent of the mover pushed", { authors: null, pushers: [one("ann", "coder[bot]")] }],
    ["too_many_commits", "not all authors are known", { authors: null, pushers: [one("bob")] }],
    ["author_unknown", "an author is unknown", { authors: [one("bob"), one(null)], pushers: [one("bob")] }],
    ["author_unknown", "an agent has no owner", { authors: [one(null, "coder[bot]")], pushers: [] }],
    ["pusher_unknown", "a push is unknown", { authors: [one("bob")], pushers: null }],
    ["pusher_unknown", "a pusher is unknown", { authors: [one("bob")], pushers: [one(null)] }],
  ])("is %s if %s", (cause, _, contributors) => {
    const refusal = secondPersonRefusal(stage(), "ann", { ...work, ...contributors });
    expect(refusal?.details?.["cause"] ?? null).toBe(cause);
  });
});

describe("gateStillRefuses", () => {
  const branches = new Map([["acme/web", { headSha: "h", hasKnownPushers: true }]]);
  const second = (cause: string, headSha = "h") =>
    blockedReason("acme/web", { reason: "needs_second_person", message: "", details: { cause, headSha } });
  const limit = blockedReason("", { reason: "wip_limit", message: "" });
  const human = blockedReason("", { reason: "human_only", message: "" });
  it.each([
    [true, "a full stage", limit, { wipLimit: 1 }, 1],
    [false, "a stage with room", limit, { wipLimit: 2 }, 1],
    [false, "a stage whose limit is gone", limit, {}, 9],
    [true, "an API key", human, { humanOnly: true }, 0],
    [false, "a stage for all again", human, {}, 0],
    [true, "the same head", second("same_person"), { secondPerson: true }, 0],
    [false, "another head", second("same_person", "old"), { secondPerson: true }, 0],
    [false, "a pusher who became known", second("pusher_unknown"), { secondPerson: true }, 0],
    [true, "an unknown author", second("author_unknown"), { secondPerson: true }, 0],
    [false, "a gate that is gone", second("no_owner"), {}, 0],
    [true, "a key without an owner", second("no_owner", "old"), { secondPerson: true }, 0],
  ])("is %s for %s", (expected, _, reason, gates, otherCards) => {
    expect(gateStillRefuses(reason, { stage: stage(gates), otherCards, branches })).toBe(expected);
  });
});
