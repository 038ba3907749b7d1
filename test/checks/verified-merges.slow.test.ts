/** A merge needs what its target requires, whether or not the App may bypass it. */
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import type { CheckConclusion } from "../../sandbox/forge/rows.ts";
import { eventually } from "../support/api.ts";
import { settled } from "../support/database/database-content.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { cardOf, newContributor, pushWork, type Contributor } from "../support/gates/contributors.ts";
import { reportStatus } from "../support/stories/repairing.ts";
import { untilRechecked } from "../support/stories/rechecked.ts";
import { branchOf, openPull, pushTo, writeFile } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let pusher: Contributor;
beforeEach(async () => {
  board = await world.board();
  pusher = newContributor(world, board, "linus");
});
afterEach(() => world.forge.control.faults.clear());

const web = () => `${board.owner}/web`;
const setRuleset = (rules: Parameters<typeof world.forge.webUi.setRuleset>[3], name = "main") =>
  world.forge.webUi.setRuleset(web(), "main", name, rules);
const ONE_REVIEW = { count: 1, requiresLastPushApproval: false, requiresResolvedThreads: false };
const requireChecks = (...contexts: string[]) => contexts.map((context) => ({ context, appId: null }));
const run = (sha: string, jobs: Record<string, CheckConclusion | null>, event = "push") =>
  world.forge.webUi.runWorkflow(web(), { sha, workflow: "CI", event, jobs });
const merge = (number: number) => board.api.move(number, board.stages.Done);
const arm = (number: number, whenReady: object = {}) =>
  board.api.post<Record<string, never>>(`/v1/cards/${number}/move`, {
    statusId: board.stages.Done,
    index: 0,
    whenReady,
  });
const blockedOf = async (number: number) => (await board.api.readCard(number)).blocked;
const setVerification = async (verification: object) => {
  const { status } = await putFlow(board, { ...(await readFlow(board)), verification });
  expect(status).toBe(200);
};
const review = (by: "ada" | "grace", event: string, number = 1) =>
  board.person(by, "POST", `/repos/${web()}/pulls/${number}/reviews`, { event, body: "I have read it" });
const reviewAs = async ({ token }: Contributor, event: string, number = 1) => {
  const { status } = await fetch(`${world.forge.apiUrl}/repos/${web()}/pulls/${number}/reviews`, {
    method: "POST",
    headers: { authorization: `token ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ event, body: "I have read it" }),
  });
  expect(status).toBe(200);
};
/** An event about the card that changes no cause. */
const someEvent = async () => {
  expect((await review("ada", "COMMENT")).status).toBe(200);
  await settled(world);
};
const landed = async (number: number) => (await board.api.readCard(number)).statusId === board.stages.Done;
const ageHead = async (number: number, seconds: number) => {
  const { id } = await board.api.readCard(number);
  const at = board.db.raw("at - ? * interval '1 second'", [seconds]);
  await board
    .db("timeline_items")
    .where({ card_id: id })
    .whereIn("kind", ["pushed", "pull_request_ready"])
    .update({ at });
};

describe("a head that was just pushed, without checks", () => {
  const withEarlierChecks = async () => {
    const { number, branch, head } = await cardOf(world, board, { pusher });
    await run(head, { build: "success" });
    await settled(world);
    const sha = await pushWork(world, board, branch, { pusher });
    await settled(world);
    return { number, sha };
  };

  it("is not merged until a check has started and passed, if earlier heads had checks", async () => {
    const { number, sha } = await withEarlierChecks();
    const refused = await merge(number);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "checks_pending" } } });
    expect(refused.body.blocked?.message).toContain("whenReady");
    const plan = await board.api.get(`/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`);
    expect(plan.body).toMatchObject({ wouldMove: false, reasons: [{ reason: "checks_pending" }] });
    await someEvent();
    await untilRechecked(world);
    expect((await blockedOf(number))?.reason).toBe("checks_pending");
    expect((await arm(number)).status).toBe(202);
    await run(sha, { build: "success" });
    await settled(world);
    expect((await merge(number)).status).toBe(200);
  });

  it("is merged when checks had time to start, and the card is free then without an event", async () => {
    await setVerification({ checksStartSeconds: 4 });
    const { number } = await withEarlierChecks();
    expect((await merge(number)).body.blocked?.reason).toBe("checks_pending");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await merge(number)).status).toBe(200);
  });

  it("is not merged if the newest commits of the target have checks", async () => {
    const tip = await world.forge.commit(web(), "main", { "other.txt": "other\n" });
    await run(tip, { build: "success" });
    const { number } = await cardOf(world, board, { pusher });
    expect((await merge(number)).body.blocked?.reason).toBe("checks_pending");
    await ageHead(number, 61);
    expect((await merge(number)).status).toBe(200);
  });

  it("is merged if nothing has ever had checks, or the flow ignores them", async () => {
    const { number } = await cardOf(world, board, { pusher });
    expect((await merge(number)).status).toBe(200);
    const other = await withEarlierChecks();
    await putFlow(board, { ...(await readFlow(board)), checks: "ignored" });
    expect((await merge(other.number)).status).toBe(200);
  });
});

describe("a required check that has not reported", () => {
  it.each(["ruleset", "protection"] as const)(
    "of a %s refuses the merge, although the App may bypass it, until it has passed",
    async (kind) => {
      const { number, head } = await cardOf(world, board, { pusher });
      if (kind === "ruleset") setRuleset({ requiredChecks: requireChecks("ci"), appBypass: "always" });
      else {
        const checks = { required_status_checks: { strict: false, contexts: ["ci"] } };
        const rules = {
          ...checks,
          enforce_admins: null,
          required_pull_request_reviews: null,
          restrictions: null,
        };
        await board.person("ada", "PUT", `/repos/${web()}/branches/main/protection`, rules);
        world.forge.webUi.setProtectionBypass(web(), "main", true);
      }
      await run(head, { lint: "success" });
      await settled(world);
      const refused = await merge(number);
      expect(refused).toMatchObject({
        status: 409,
        body: { blocked: { reason: "checks_pending", reasons: [{ details: { pending: ["ci"] } }] } },
      });
      await someEvent();
      await untilRechecked(world);
      expect((await blockedOf(number))?.reason).toBe("checks_pending");
      await run(head, { ci: "success" });
      await board.api.cardWhen(number, ({ blocked }) => blocked === null);
      expect((await merge(number)).status).toBe(200);
    },
  );

  it("is bypassed if the flow says so, and the timeline says it", async () => {
    const { number } = await cardOf(world, board, { pusher });
    setRuleset({ requiredChecks: requireChecks("ci"), requiredReviews: ONE_REVIEW, appBypass: "always" });
    await setVerification({ bypassRules: true });
    expect((await merge(number)).status).toBe(200);
    await settled(world);
    const events = (await board.api.timeline(number)).filter(({ kind }) => kind === "rules_bypassed");
    expect(events.map(({ data }) => data)).toEqual([{ prNumber: 1, targetBranch: "main", rules: ["main"] }]);
  });

  it("is left to GitHub if the flow says so and the App may not bypass it", async () => {
    const { number } = await cardOf(world, board, { pusher });
    setRuleset({ requiredChecks: requireChecks("ci"), appBypass: "never" });
    await setVerification({ bypassRules: true });
    const refused = await merge(number);
    expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "checks_pending" } } });
    expect(refused.body.blocked?.message).toContain("Required status check");
    const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(kinds).not.toContain("rules_bypassed");
  });
});

describe("a required review", () => {
  beforeEach(() => setRuleset({ requiredReviews: ONE_REVIEW, appBypass: "always" }));

  it("that is missing refuses the merge, although the App may bypass it", async () => {
    const { number } = await cardOf(world, board, { pusher });
    expect((await merge(number)).body.blocked).toMatchObject({
      reason: "review_required",
      reasons: [{ details: { requiredReviews: 1 } }],
    });
    await review("grace", "APPROVE");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await merge(number)).status).toBe(200);
  });

  it.each(["the pusher", "an author", "a co-author"])("does not count if it is by %s", async (who) => {
    const other = newContributor(world, board, "margaret");
    const work = {
      "the pusher": { pusher, author: other.email },
      "an author": { pusher: other, author: pusher.email },
      "a co-author": { pusher: other, coAuthor: pusher.email },
    }[who]!;
    const { number } = await cardOf(world, board, work);
    await reviewAs(pusher, "APPROVE");
    await settled(world);
    const refused = await merge(number);
    expect(refused.body.blocked).toMatchObject({
      reason: "review_required",
      message: expect.stringContaining(pusher.login),
      reasons: [{ details: { ownApprovals: [pusher.login] } }],
    });
    const plan = await board.api.get(`/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`);
    expect(plan.body).toMatchObject({
      reasons: [{ details: { ownApprovals: [pusher.login] } }],
      whenReady: {
        wouldArm: true,
        waitingFor: expect.arrayContaining([expect.objectContaining({ reason: "review_required" })]),
      },
    });
    expect((await arm(number)).status).toBe(202);
    await ageHead(number, 61);
    await review("grace", "APPROVE");
    expect(
      await eventually(
        () => landed(number),
        (isLanded) => isLanded,
      ),
    ).toBe(true);
  });

  it("counts whoever wrote it if the flow says so", async () => {
    const { number } = await cardOf(world, board, { pusher });
    await setVerification({ independentApproval: false });
    await reviewAs(pusher, "APPROVE");
    expect((await merge(number)).status).toBe(200);
  });

  it("does not count if it is by the pusher, although the flow lets GitHub decide about bypassed rules", async () => {
    const { number } = await cardOf(world, board, { pusher });
    await setVerification({ bypassRules: true });
    await reviewAs(pusher, "APPROVE");
    await settled(world);
    expect((await merge(number)).body.blocked).toMatchObject({
      reasons: [{ reason: "review_required", details: { ownApprovals: [pusher.login] } }],
    });
    await review("grace", "APPROVE");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await merge(number)).status).toBe(200);
    const kinds = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(kinds).not.toContain("rules_bypassed");
  });

  it("does not count on a branch that was pushed before the card had it", async () => {
    const prNumber = await openPull(board, "french");
    await settled(world);
    await review("grace", "APPROVE", prNumber);
    const pullRequest = { repositoryId: board.repositories["web"], number: prNumber };
    const { number } = (await board.api.post<{ number: number }>("/v1/cards", { pullRequest })).body;
    expect((await merge(number)).body.blocked).toMatchObject({
      reasons: [{ reason: "review_required", details: { cause: "pusher_unknown" } }],
    });
    await pushTo(board, "french", "more.txt");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await merge(number)).status).toBe(200);
  });

  it("does not count while it is not known who pushed the head", async () => {
    const { number, branch } = await cardOf(world, board, { pusher });
    await review("grace", "APPROVE");
    await settled(world);
    const { webhooks } = world.forge.control;
    webhooks.add({
      match: { event: "push" },
      fault: { kind: "hold", percent: 100 },
    });
    await pushWork(world, board, branch, { pusher });
    await ageHead(number, 61);
    expect((await merge(number)).body.blocked).toMatchObject({
      reason: "review_required",
      reasons: [{ details: { cause: "pusher_unknown" } }],
    });
    webhooks.clear();
    await webhooks.release();
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await merge(number)).status).toBe(200);
  });

  it("of somebody other than the last pusher names that person, and clears with that approval", async () => {
    setRuleset({ requiredReviews: { ...ONE_REVIEW, requiresLastPushApproval: true } });
    await setVerification({ independentApproval: false });
    const { number } = await cardOf(world, board, { pusher });
    await reviewAs(pusher, "APPROVE");
    expect((await merge(number)).body.blocked).toMatchObject({
      reason: "review_required",
      message: expect.stringContaining(pusher.login),
      reasons: [{ details: { rule: "last_push_approval", lastPusher: pusher.login } }],
    });
    await review("grace", "APPROVE");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await merge(number)).status).toBe(200);
  });
});

describe("conversations that have to be resolved", () => {
  it("refuse the merge until they are, although the App may bypass the rule", async () => {
    setRuleset({
      requiredReviews: { ...ONE_REVIEW, count: 0, requiresResolvedThreads: true },
      appBypass: "always",
    });
    const { number } = await cardOf(world, board, { pusher });
    const thread = world.forge.webUi.startReviewThread(web(), 1, "app.txt");
    expect((await merge(number)).body.blocked).toMatchObject({
      reason: "review_required",
      reasons: [{ details: { rule: "conversations", unresolved: 1 } }],
    });
    await someEvent();
    await untilRechecked(world);
    expect((await blockedOf(number))?.reason).toBe("review_required");
    await world.forge.webUi.setThreadResolved(thread, true);
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await merge(number)).status).toBe(200);
  });
});

describe("what only the merge shows", () => {
  const MERGE = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
  const refuseMerge = (message: string) =>
    world.forge.control.faults.add({
      match: MERGE,
      fault: { kind: "response", status: 405, body: { message } },
      times: 1,
    });

  it("blocks the card for a code scan while GitHub shows the pull request as blocked", async () => {
    const { number } = await cardOf(world, board, { pusher });
    refuseMerge("Waiting for Code Scanning results.");
    expect((await merge(number)).body.blocked?.reason).toBe("checks_pending");
    world.forge.control.faults.add({
      match: { operation: "Inspect" },
      fault: { kind: "garble", as: "without", fields: ["mergeStateStatus"] },
    });
    await someEvent();
    await untilRechecked(world);
    expect((await blockedOf(number))?.reason).toBe("checks_pending");
    world.forge.control.faults.clear();
    await someEvent();
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
  });

  it("blocks the card for commits that cannot be rebased until the head changes", async () => {
    await putFlow(board, { ...(await readFlow(board)), mergeMethod: "rebase" });
    const { number, branch } = await cardOf(world, board, { pusher });
    // Each commit alone conflicts with the target, both together do not.
    await writeFile(board, "web", branch, "app.txt", "two\n");
    await writeFile(board, "web", branch, "app.txt", "one\n");
    await world.forge.commit(web(), "main", { "app.txt": "three\n" });
    await settled(world);
    const refused = await merge(number);
    expect(refused.body.blocked).toMatchObject({
      reason: "conflicts",
      message: expect.stringContaining("rebase"),
      reasons: [{ details: { mergeMethod: "rebase" } }],
    });
    await someEvent();
    await untilRechecked(world);
    expect((await blockedOf(number))?.reason).toBe("conflicts");
    await writeFile(board, "web", branch, "more.txt", "more\n");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
  });
});

describe("a rule that Trunkline cannot evaluate", () => {
  it("gives a warning that names the ruleset, unless it is known that the App may not bypass it", async () => {
    const { number } = await cardOf(world, board, { pusher });
    const warnings = async () => {
      const path = `/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`;
      return (await board.api.get<{ warnings: unknown[] }>(path)).body.warnings;
    };
    setRuleset({ requiredReviews: ONE_REVIEW });
    expect(await warnings()).toEqual([]);
    world.forge.webUi.setMergeQueue(web(), "main", true);
    await someEvent();
    const message = expect.stringContaining("the ruleset rules of main (merge_queue)");
    expect(await eventually(warnings, ({ length }) => length > 0)).toEqual([{ repository: web(), message }]);
  });
});

describe("a draft", () => {
  const draftOf = async () => {
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["In progress"]);
    const head = await pushWork(world, board, await branchOf(board, number), { pusher });
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
    return { number, head };
  };

  it("is marked ready and read again: checks that start then have to pass", async () => {
    const { number, head } = await draftOf();
    await run(head, { build: "skipped" }, "pull_request");
    await settled(world);
    const moving = merge(number);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "open");
    await run(head, { build: null }, "pull_request");
    await run(head, { build: "success" }, "pull_request");
    expect((await moving).status).toBe(200);
    const merges = (await board.api.timeline(number)).map(({ kind }) => kind);
    expect(merges.filter((kind) => kind === "pull_request_ready")).toHaveLength(1);
  });

  it("is refused if a check fails that starts when it is marked ready", async () => {
    const { number, head } = await draftOf();
    await run(head, { build: "skipped" }, "pull_request");
    await settled(world);
    const moving = merge(number);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "open");
    await run(head, { build: "failure" }, "pull_request");
    expect((await moving).body.blocked?.reason).toBe("checks_failing");
  });

  it("is refused if a check fails that was skipped beside one that passed", async () => {
    const { number, head } = await draftOf();
    await run(head, { lint: "success", test: "skipped" }, "pull_request");
    await settled(world);
    const moving = merge(number);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "open");
    await run(head, { lint: "success", test: "failure" }, "pull_request");
    expect((await moving).body.blocked?.reason).toBe("checks_failing");
  });

  it("is refused as pending if no check finishes during the call", async () => {
    const { number, head } = await draftOf();
    await run(head, { build: "skipped" }, "pull_request");
    await settled(world);
    const refused = await merge(number);
    expect(refused.body.blocked).toMatchObject({
      reason: "checks_pending",
      message: expect.stringContaining("whenReady"),
    });
    await run(head, { build: "success" }, "pull_request");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await merge(number)).status).toBe(200);
  });

  it("is marked ready when its move is armed, and lands when the checks have passed", async () => {
    setRuleset({ requiredChecks: requireChecks("build") });
    const { number, head } = await draftOf();
    await run(head, { build: "skipped" }, "pull_request");
    await settled(world);
    const plan = await board.api.get(`/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`);
    expect(plan.body).toMatchObject({
      certainty: "unknown",
      steps: [{ action: "mark_ready" }, { action: "merge" }],
    });
    expect((await arm(number)).status).toBe(202);
    expect((await board.api.readCard(number)).repositories[0]?.prState).toBe("open");
    await run(head, { build: "success" }, "pull_request");
    expect(
      await eventually(
        () => landed(number),
        (isLanded) => isLanded,
      ),
    ).toBe(true);
  });
});

describe("an armed move whose check fails", () => {
  it("is disarmed, with an event and an inbox item", async () => {
    setRuleset({ requiredChecks: requireChecks("build") });
    const { number, head } = await cardOf(world, board, { pusher });
    expect((await arm(number)).status).toBe(202);
    await run(head, { build: "failure" });
    const { data } = await board.api.eventWhen(number, ({ kind }) => kind === "disarmed");
    expect(data).toMatchObject({ reason: "checks_failing" });
    const inbox = await board.api.get<{ kind: string }[]>("/v1/inbox");
    expect(inbox.body.map(({ kind }) => kind)).toContain("move_disarmed");
    expect(await arm(number)).toMatchObject({ status: 409, body: { blocked: { reason: "checks_failing" } } });
  });

  it("waits on if it was asked to, and the feed reports each change of what it waits for", async () => {
    setRuleset({ requiredChecks: requireChecks("ci") });
    const { number, head } = await cardOf(world, board, { pusher });
    expect((await arm(number, { onFailingChecks: "wait" })).status).toBe(202);
    const changes = async () => {
      const path = `/v1/events?after=0&card=${number}&kinds=armed_changed,disarmed`;
      const { body } = await board.api.get<{
        events: { kind: string; data: { waitingFor: { reason: string }[] } }[];
      }>(path);
      return body.events.map(({ data }) => data.waitingFor.map(({ reason }) => reason).join());
    };
    await reportStatus(board, head, "failure");
    await eventually(changes, (found) => found.at(-1) === "checks_failing");
    await reportStatus(board, head, "pending");
    await eventually(changes, (found) => found.at(-1) === "checks_pending");
    await reportStatus(board, head, "success");
    expect(
      await eventually(
        () => landed(number),
        (isLanded) => isLanded,
      ),
    ).toBe(true);
  });
});
