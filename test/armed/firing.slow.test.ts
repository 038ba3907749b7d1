import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { inspectAllArmed, inspectArmed } from "../../src/actions/moves/inspect-armed.ts";
import type { RunningService } from "../../src/service.ts";
import { eventually } from "../support/api.ts";
import { allProcessed } from "../support/forge/deliveries.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { setGates } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { startSecondService } from "../support/processes/second-service.ts";
import { loseWebhooks, protect, push, reportStatus } from "../support/stories/repairing.ts";
import { cardWithCommit, pushTo, writeFile } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";
import { readAudit } from "../audit/support/read-audit.ts";
import {
  ageBy,
  armed,
  armedCard,
  armedOf,
  expectDisarmed,
  expectLanded,
  mergedHeads,
  passCi,
  requireCi,
  waitsFor,
} from "./support/armed-cards.ts";
import { JOBS, TIMETABLE } from "../../src/store/jobs.ts";

// Each test clones, pushes and merges.

let world: TestWorld;
let other: RunningService;
let board: TestBoard;
beforeAll(async () => {
  world = await startWorld();
  other = await startSecondService(world);
});
afterEach(() => world.forge.control.reset());
afterEach(() => leaveConsistent(world, board));
afterAll(async () => {
  await other.stop();
  await world.stop();
});

const MERGES = { method: "PUT", path: "/repositories/*/pulls/*/merge-async" };
const idOf = async (number: number): Promise<string> => (await board.api.readCard(number)).id;
const inspect = async (number: number, service: RunningService = world.service) =>
  inspectArmed(service.deps, await idOf(number));
/** As if the periodic job had not run for two minutes. */
async function inspectLate(): Promise<void> {
  await board.db("armed_moves").update({ inspected_at: board.db.raw("now() - interval '2 minutes'") });
  await inspectAllArmed(world.service.deps);
}

describe("an armed move lands exactly the armed head", () => {
  it("after a failing check has been repeated", async () => {
    board = await world.board();
    const { number, sha } = await armedCard(board, { whenReady: { onFailingChecks: "wait" } });
    await reportStatus(board, sha, "failure");
    await waitsFor(board.api, number, "checks_failing");
    await reportStatus(board, sha, "pending");
    await passCi(board, sha);
    await expectLanded(board, number, sha);
  });

  it("after a check that starts late, although the others have passed", async () => {
    board = await world.board();
    await protect(board, { required_status_checks: { strict: false, contexts: ["ci", "deploy"] } });
    const { number, sha } = await cardWithCommit(board);
    await armed(board, number);
    await passCi(board, sha);
    await allProcessed(world);
    await inspect(number);
    expect((await armedOf(board.api, number))?.waitingFor).toMatchObject([
      { reason: "checks_pending", details: { pending: ["deploy"] } },
    ]);
    const path = `/repos/${board.owner}/web/statuses/${sha}`;
    await board.person("ada", "POST", path, { state: "success", context: "deploy" });
    await expectLanded(board, number, sha);
  });

  it("after a review", async () => {
    board = await world.board();
    await protect(board, { required_pull_request_reviews: { required_approving_review_count: 1 } });
    const { number, sha } = await cardWithCommit(board);
    const move = await armed(board, number);
    expect(move.waitingFor.map(({ reason }) => reason)).toContain("review_required");
    await ageBy(board, number, 61);
    const path = `/repos/${board.owner}/web/pulls/1/reviews`;
    await board.person("grace", "POST", path, { event: "APPROVE", body: "Good" });
    await expectLanded(board, number, sha);
  });

  it("a minute after the push if no check is required, and not before", async () => {
    board = await world.board();
    const { number, sha } = await cardWithCommit(board);
    expect((await armed(board, number)).waitingFor).toMatchObject([
      { reason: "checks_pending", message: expect.stringContaining("requires no checks") },
    ]);
    await passCi(board, sha);
    await allProcessed(world);
    await inspect(number);
    expect(await mergedHeads(board)).toEqual([]);
    const jobs = await board
      .db("graphile_worker.jobs")
      .where("key", `inspect-armed:later:${await idOf(number)}`)
      .select("run_at");
    const inMs = Number(new Date(jobs[0]?.run_at)) - Date.now();
    expect([inMs > 30_000, inMs < 61_000]).toEqual([true, true]);
    await ageBy(board, number, 61);
    await inspect(number);
    await expectLanded(board, number, sha);
  });

  it("after the target has moved without a conflict", async () => {
    board = await world.board();
    const { number, sha } = await armedCard(board);
    await board.person("ada", "DELETE", `/repos/${board.owner}/web/branches/main/protection`);
    await writeFile(board, "web", "main", "other.txt", "other\n");
    await requireCi(board);
    await passCi(board, sha);
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    expect(await mergedHeads(board)).toEqual([sha]);
  });

  it("without webhooks, in the next run of the periodic job, by one call to GitHub for all cards", async () => {
    board = await world.board();
    await requireCi(board);
    const cards = [await cardWithCommit(board), await cardWithCommit(board), await cardWithCommit(board)];
    for (const { number } of cards) await armed(board, number);
    await allProcessed(world);
    loseWebhooks(world);
    const calls = async (seconds: number) => {
      const inspected_at = board.db.raw("now() - ? * interval '1 second'", [seconds]);
      await board.db("armed_moves").update({ inspected_at });
      world.forge.requests.reset();
      await inspectAllArmed(world.service.deps);
      return world.forge.requests.count(({ by, counted }) => counted && by !== null);
    };
    expect([await calls(80), await calls(86)]).toEqual([0, 1]);
    for (const { sha } of cards) await passCi(board, sha);
    await inspectLate();
    for (const { number } of cards)
      await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    expect((await mergedHeads(board)).toSorted()).toEqual(cards.map(({ sha }) => sha).toSorted());
    // Every minute, and each card every second time: at most 145 s between two inspections of a card.
    expect(TIMETABLE).toContain(`* * * * * ${JOBS.inspectAllArmed.name} `);
  });

  it("once, if two processes fire it together", async () => {
    board = await world.board();
    const { number, sha } = await armedCard(board);
    loseWebhooks(world);
    await passCi(board, sha);
    const inspections = holdCalls(world, { operation: "Inspect" }, "after", 2);
    const both = [inspect(number), inspect(number, other)];
    await inspections.arrived();
    inspections.resume();
    await Promise.all(both);
    await expectLanded(board, number, sha);
    const operations = await board.db("operations").where({ state: "done", stage_id: board.stages.Done });
    expect(operations).toHaveLength(1);
  });

  it("and its events and effects belong to the attempt that armed it", async () => {
    board = await world.board();
    const { number, sha } = await armedCard(board);
    await passCi(board, sha);
    await expectLanded(board, number, sha);
    await allProcessed(world);
    type Events = { events: { seq: number; kind: string }[] };
    const read = async () =>
      (
        await board.api.get<Events>(
          `/v1/events?after=0&card=${number}&kinds=armed,pull_request_merged,status_changed`,
        )
      ).body.events;
    // An event is in the feed after every older transaction on the server, also those of other tests.
    const events = await eventually(
      read,
      (found) =>
        found.at(-1)?.kind === "status_changed" && found.some(({ kind }) => kind === "pull_request_merged"),
    );
    const caused = events.filter(({ kind }, at) => kind !== "status_changed" || at === events.length - 1);
    const attempts = await readAudit(board.api);
    const arming = attempts.filter(({ events: own }) => own.includes(caused[0]!.seq));
    expect(arming).toHaveLength(1);
    expect(arming[0]!.events).toEqual(expect.arrayContaining(caused.map(({ seq }) => seq)));
    expect(caused.map(({ kind }) => kind)).toEqual(["armed", "pull_request_merged", "status_changed"]);
  });
});

describe("a push while an armed move is fired", () => {
  const ready = async () => {
    board = await world.board();
    const card = await armedCard(board);
    return { ...card, pass: () => passCi(board, card.sha) };
  };

  it.each([
    ["before its first inspection", { operation: "Inspect" }, "before", 0],
    ["after its first inspection", { operation: "Inspect" }, "after", 0],
    ["after its second inspection", { operation: "Inspect" }, "after", 1],
    ["before the merge", MERGES, "before", 0],
  ] as const)("%s disarms it", async (_, match, effect, skip) => {
    const { number, branchName, pass } = await ready();
    const { faults } = world.forge.control;
    const held = faults.add({ match, fault: { kind: "hold", effect }, skip, times: 1 });
    await pass();
    await eventually(
      () => Promise.resolve(faults.list().find(({ id }) => id === held)?.hits),
      (hits) => hits === 1,
    );
    await push(board, branchName);
    faults.remove(held);
    await expectDisarmed(board, number, "head_moved");
  });

  it("after the merge is not merged", async () => {
    const { number, branchName, sha, pass } = await ready();
    const held = holdCalls(world, MERGES, "after");
    await pass();
    await held.arrived();
    await push(board, branchName);
    held.resume();
    await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
    expect(await mergedHeads(board)).toEqual([sha]);
    expect(await armedOf(board.api, number)).toBeUndefined();
  });
});

describe("the limit of a stage", () => {
  const limited = async () => {
    board = await world.board();
    const card = await armedCard(board);
    const { number: inside } = await board.api.card({ statusId: board.stages.Done, repositoryIds: [] });
    await setGates(board, "Done", { wipLimit: 1 });
    return { ...card, inside };
  };

  it("keeps an armed move waiting until there is room", async () => {
    const { number, sha, inside } = await limited();
    // Something else is missing, so the limit does not matter yet.
    await inspect(number);
    expect((await armedOf(board.api, number))?.waitingFor).toMatchObject([{ reason: "checks_pending" }]);
    await passCi(board, sha);
    await waitsFor(board.api, number, "wip_limit");
    expect((await board.api.readCard(number)).blocked).toBeNull();
    await board.api.move(inside, board.stages["To do"]);
    await expectLanded(board, number, sha);
  });

  it("is not used by a move that waits", async () => {
    board = await world.board();
    await requireCi(board);
    const { number } = await cardWithCommit(board);
    await setGates(board, "Done", { wipLimit: 1 });
    await armed(board, number);
    const { number: draft } = await board.api.card({ repositoryIds: [] });
    expect((await board.api.move(draft, board.stages.Done)).status).toBe(200);
  });

  it("lets a card in again that was refused while a move was being armed", async () => {
    board = await world.board();
    await requireCi(board);
    const { number } = await cardWithCommit(board);
    await setGates(board, "Done", { wipLimit: 1 });
    const { number: draft } = await board.api.card({ repositoryIds: [] });
    const held = holdCalls(world, { operation: "Inspect" });
    const arming = armed(board, number);
    await held.arrived();
    const refused = await board.api.move(draft, board.stages.Done);
    expect(refused.body.blocked?.reason).toBe("wip_limit");
    held.resume();
    await arming;
    await board.api.cardWhen(draft, ({ blocked }) => blocked === null);
  });
});

describe("a refusal by GitHub when the move is fired", () => {
  it("disarms it with GitHub's words, and blocks the card", async () => {
    board = await world.board();
    const { number, sha } = await armedCard(board);
    world.forge.control.faults.add({
      match: MERGES,
      fault: {
        kind: "response",
        status: 405,
        body: { message: "Changes must be made through the merge queue" },
      },
    });
    await passCi(board, sha);
    const { data } = await expectDisarmed(board, number, "protected");
    expect(data["message"]).toBe("Changes must be made through the merge queue");
    expect((await board.api.readCard(number)).blocked?.reason).toBe("protected");
    world.forge.control.reset();
    await inspectLate();
    expect(await mergedHeads(board)).toEqual([]);
  });
});

it("a check that starts again between inspection and firing keeps the move waiting, and frees its place", async () => {
  board = await world.board();
  const { number, sha } = await armedCard(board);
  await setGates(board, "Done", { wipLimit: 1 });
  const { faults } = world.forge.control;
  // The second inspection belongs to the move that has begun.
  const held = faults.add({
    match: { operation: "Inspect" },
    fault: { kind: "hold", effect: "before" },
    skip: 1,
    times: 1,
  });
  await passCi(board, sha);
  await eventually(
    () => Promise.resolve(faults.list().find(({ id }) => id === held)?.hits),
    (hits) => hits === 1,
  );
  const { number: draft } = await board.api.card({ repositoryIds: [] });
  expect((await board.api.move(draft, board.stages.Done)).body.blocked?.reason).toBe("wip_limit");
  await reportStatus(board, sha, "pending");
  faults.remove(held);
  await waitsFor(board.api, number, "checks_pending");
  await board.api.cardWhen(draft, ({ blocked }) => blocked === null);
  expect(await mergedHeads(board)).toEqual([]);
  await passCi(board, sha);
  await expectLanded(board, number, sha);
});

it("several repositories land together", async () => {
  board = await world.board({ repositories: ["web", "api"] });
  await requireCi(board);
  const repositoryIds = Object.values(board.repositories);
  const { number } = await board.api.card({ repositoryIds });
  await board.api.move(number, board.stages["In progress"]);
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  const heads = [
    await pushTo(board, branch, "web.txt"),
    await pushTo(board, branch, "api.txt", "ada", "api"),
  ];
  await board.api.cardWhen(number, ({ repositories }) =>
    repositories.every(({ prState }) => prState === "draft"),
  );
  await armed(board, number);
  await passCi(board, heads[0]!);
  await ageBy(board, number, 61);
  await inspect(number);
  await board.api.cardWhen(number, ({ statusId }) => statusId === board.stages.Done);
  expect([await mergedHeads(board), await mergedHeads(board, "api")]).toEqual([[heads[0]], [heads[1]]]);
});
