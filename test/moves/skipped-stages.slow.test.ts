import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { putFlow, readFlow, without } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { branchesOf, twoTargets } from "../support/stories/two-targets.ts";
import { pushTo } from "../support/stories/work-on-card.ts";
import { startWorld, type TestBoard, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterEach(() => leaveConsistent(world));
afterAll(() => world.stop());

const CUT = { method: "POST", path: "/repositories/*/git/refs" } as const;

const linkOf = async (board: TestBoard, number: number, name = "web") =>
  (await board.api.readCard(number)).repositories.find(
    ({ fullName }) => fullName === `${board.owner}/${name}`,
  );

const commitTo = (board: TestBoard, branchName: string, name = "web") =>
  pushTo(board, branchName, "hello.txt", "ada", name);

const tipOf = async (board: TestBoard, branch: string): Promise<string> => {
  const clone = await board.clone();
  const sha = await clone.git("rev-parse", `origin/${branch}`);
  await clone.remove();
  return sha;
};

describe("a card that goes straight from the backlog to a later stage", () => {
  // Fault: C20 A move skips stages and is refused midway => a retry continues
  it.each(["In review", "Done"] as const)(
    "has its branch cut on the way to %s, is refused for want of commits, and free once there are some",
    async (stage) => {
      const board = await world.board();
      const { number } = await board.api.card({ title: "Say hello" });
      const refused = await board.api.move(number, board.stages[stage]);
      const headSha = await tipOf(board, "main");
      expect(refused).toMatchObject({
        status: 409,
        body: {
          promoted: [],
          blocked: { reason: "nothing_to_merge", statusId: board.stages[stage], headSha },
        },
      });
      expect(await board.api.readCard(number)).toMatchObject({
        statusId: board.stages.Backlog,
        repositories: [{ branchName: `card/${number}-say-hello`, prNumber: null }],
      });
      expect(await kindsOf(board, number)).toEqual(["created", "branch_created", "promotion_refused"]);
      await commitTo(board, `card/${number}-say-hello`);
      await board.api.cardWhen(number, ({ blocked }) => blocked === null);
      const moved = await board.api.move(number, board.stages[stage]);
      expect(moved).toMatchObject({ status: 200, body: { task: { statusId: board.stages[stage] } } });
      const prState = stage === "Done" ? "merged" : "open";
      expect(await linkOf(board, number)).toMatchObject({ prNumber: 1, prState });
    },
  );

  it("and is new: it is created in the backlog, with its branch", async () => {
    const board = await world.board();
    const created = await board.api.post<{ number: number }>("/v1/cards", {
      title: "Say hello",
      statusId: board.stages["In review"],
    });
    expect(created).toMatchObject({ status: 201, body: { statusId: board.stages.Backlog } });
    const { number } = created.body;
    expect(await linkOf(board, number)).toMatchObject({ branchName: `card/${number}-say-hello` });
  });

  it("in a flow where no stage but the last touches Git", async () => {
    const board = await world.board();
    const flow = without(without(await readFlow(board), "In progress"), "In review");
    expect((await putFlow(board, flow)).status).toBe(200);
    const { number } = await board.api.card({ title: "Say hello" });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    await commitTo(board, `card/${number}-say-hello`);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toHaveLength(1);
  });

  it("is told so by the move's plan", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    const plan = await board.api.get(`/v1/cards/${number}/move-plan?statusId=${board.stages.Done}`);
    expect(plan.body).toMatchObject({
      wouldMove: false,
      certainty: "certain",
      steps: [{ action: "create_branch", branchName: `card/${number}-say-hello`, targetBranch: "main" }],
      reasons: [{ reason: "nothing_to_merge" }],
    });
    expect(await branchesOf(board)).toEqual(["main"]);
  });

  it("past an earlier target has its branch cut from that one, and brings nothing of it further", async () => {
    const { board } = await twoTargets(world);
    const { number } = await board.api.card({ title: "Say hello" });
    for (let tries = 1; tries <= 2; tries++) {
      const refused = await board.api.move(number, board.stages.Done);
      expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "nothing_to_merge" } } });
    }
    expect(await tipOf(board, `card/${number}-say-hello`)).toBe(await tipOf(board, "develop"));
    await world.forge.settle();
    expect(await linkOf(board, number)).toMatchObject({ prNumber: null });
    expect((await board.api.readCard(number)).blocked).not.toBeNull();
  });

  it("is refused in the forge's words where it forbids the branch", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const message =
      "Repository rule violations found\n\nCannot create ref due to creations being restricted.";
    world.forge.control.script(CUT, [{ status: 422, body: { message } }]);
    const refused = await board.api.move(number, board.stages["In review"]);
    expect(refused).toMatchObject({
      status: 409,
      body: { message, blocked: { reason: "protected", reasons: [{ reason: "protected" }] } },
    });
    expect(refused.body.blocked?.reasons).toHaveLength(1);
  });

  it("goes on with a branch whose cutting was never answered, and what was pushed there since", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    for (const match of [CUT, { method: "GET", path: "/repositories/*/git/ref/**" }]) {
      world.forge.control.faults.add({ match, fault: { kind: "answer", status: 502, effect: "after" } });
    }
    expect((await board.api.move(number, board.stages["In review"])).status).toBe(503);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    world.forge.control.reset();
    await commitTo(board, `card/${number}-say-hello`);
    // It may be gone on with by itself at this moment.
    await eventually(
      () => board.api.move(number, board.stages["In review"]),
      ({ status }) => status === 200,
    );
    expect(await linkOf(board, number)).toMatchObject({ prNumber: 1, prState: "open" });
  }, 60_000);
});

describe("a card in several repositories, of which one has nothing to show", () => {
  /** Commits in web and no pull request there; no branch in api. */
  async function halfShown(board: TestBoard): Promise<number> {
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["In progress"]);
    await board.api.move(number, board.stages["To do"]);
    await commitTo(board, `card/${number}-say-hello`);
    await board.api.eventWhen(number, ({ kind }) => kind === "pushed");
    const repositoryIds = Object.values(board.repositories);
    await board.api.patch(`/v1/cards/${number}`, { repositoryIds });
    return number;
  }

  it("is refused with a branch in that one and a draft in the other", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const number = await halfShown(board);
    const refused = await board.api.move(number, board.stages["In review"]);
    expect(refused).toMatchObject({
      status: 409,
      body: { blocked: { reason: "nothing_to_merge", repository: `${board.owner}/api` } },
    });
    expect(await linkOf(board, number, "web")).toMatchObject({ prNumber: 1, prState: "draft" });
    expect(await linkOf(board, number, "api")).toMatchObject({ branchName: `card/${number}-say-hello` });
    await commitTo(board, `card/${number}-say-hello`, "api");
    await board.api.cardWhen(number, ({ blocked }) => blocked === null);
    expect((await board.api.move(number, board.stages["In review"])).status).toBe(200);
    for (const name of ["web", "api"])
      expect(await linkOf(board, number, name)).toMatchObject({ prState: "open" });
  });

  it("is refused with nothing done where the other could not be worked in at all", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const number = await halfShown(board);
    await board.person("ada", "PATCH", `/repos/${board.owner}/web`, { archived: true });
    await world.forge.settle();
    const refused = await board.api.move(number, board.stages["In review"]);
    expect(refused.body.blocked?.reasons.map(({ reason }) => reason).toSorted()).toEqual([
      "not_permitted",
      "nothing_to_merge",
    ]);
    expect(await branchesOf(board, "api")).toEqual(["main"]);
  });
});
