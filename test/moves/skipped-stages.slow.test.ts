import { afterEach, describe, expect, it } from "@jest/globals";
import { allProcessed } from "../support/forge/deliveries.ts";
import { eventually } from "../support/api.ts";
import { putFlow, readFlow, without } from "../support/flows.ts";
import { leaveConsistent } from "../support/invariants.ts";
import { kindsOf } from "../support/forge/repositories.ts";
import { branchesOf, twoTargets } from "../support/stories/two-targets.ts";
import { pushTo } from "../support/stories/work-on-card.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
afterEach(() => leaveConsistent(world));

const CREATE_BRANCH = { method: "POST", path: "/repositories/*/git/refs" } as const;

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

describe("a move from the backlog past other stages", () => {
  // Fault: C20 A move skips stages and is refused midway => a retry continues
  it.each(["In review", "Done"] as const)(
    "to %s creates the branch and is refused until there are commits",
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

  it("at the card's creation leaves it in the backlog with its branch", async () => {
    const board = await world.board();
    const created = await board.api.post<{ number: number }>("/v1/cards", {
      title: "Say hello",
      statusId: board.stages["In review"],
    });
    expect(created).toMatchObject({ status: 201, body: { statusId: board.stages.Backlog } });
    const { number } = created.body;
    expect(await linkOf(board, number)).toMatchObject({ branchName: `card/${number}-say-hello` });
  });

  it("creates the branch in a flow whose last stage is the only one with Git", async () => {
    const board = await world.board();
    const flow = without(without(await readFlow(board), "In progress"), "In review");
    expect((await putFlow(board, flow)).status).toBe(200);
    const { number } = await board.api.card({ title: "Say hello" });
    expect((await board.api.move(number, board.stages.Done)).status).toBe(409);
    await commitTo(board, `card/${number}-say-hello`);
    expect((await board.api.move(number, board.stages.Done)).body.promoted).toHaveLength(1);
  });

  it("has its branch and its refusal in the move plan", async () => {
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

  it("past an earlier target starts the branch there and merges none of its commits further", async () => {
    const { board } = await twoTargets(world);
    const { number } = await board.api.card({ title: "Say hello" });
    for (let tries = 1; tries <= 2; tries++) {
      const refused = await board.api.move(number, board.stages.Done);
      expect(refused).toMatchObject({ status: 409, body: { blocked: { reason: "nothing_to_merge" } } });
      const words =
        tries === 1
          ? `Push to its new branch card/${number}-say-hello, then move the card again.`
          : "adds no commits to the branch that it started from";
      expect(refused.text).toContain(words);
    }
    expect(await tipOf(board, `card/${number}-say-hello`)).toBe(await tipOf(board, "develop"));
    await allProcessed(world);
    expect(await linkOf(board, number)).toMatchObject({ prNumber: null });
    expect((await board.api.readCard(number)).blocked).not.toBeNull();
  });

  it("is refused with GitHub's message if a rule forbids the branch", async () => {
    const board = await world.board();
    const { number } = await board.api.card();
    const message =
      "Repository rule violations found\n\nCannot create ref due to creations being restricted.";
    world.forge.control.script(CREATE_BRANCH, [{ status: 422, body: { message } }]);
    const refused = await board.api.move(number, board.stages["In review"]);
    expect(refused).toMatchObject({
      status: 409,
      body: { message, blocked: { reason: "protected", reasons: [{ reason: "protected" }] } },
    });
    expect(refused.body.blocked?.reasons).toHaveLength(1);
  });

  it("continues with a branch whose creation had no response, and with commits pushed to it", async () => {
    const board = await world.board();
    const { number } = await board.api.card({ title: "Say hello" });
    for (const match of [CREATE_BRANCH, { method: "GET", path: "/repositories/*/git/ref/**" }]) {
      world.forge.control.faults.add({ match, fault: { kind: "response", status: 502, effect: "after" } });
    }
    expect((await board.api.move(number, board.stages["In review"])).status).toBe(503);
    expect((await board.api.readCard(number)).blocked).toBeNull();
    world.forge.control.reset();
    await commitTo(board, `card/${number}-say-hello`);
    // The resuming job may be running the move at this moment.
    await eventually(
      () => board.api.move(number, board.stages["In review"]),
      ({ status }) => status === 200,
    );
    expect(await linkOf(board, number)).toMatchObject({ prNumber: 1, prState: "open" });
  });
});

describe("a move into review of a card with commits in one of two repositories", () => {
  /** A card with commits and no pull request in web, and no branch in api. */
  async function cardWithCommitsInWeb(board: TestBoard): Promise<number> {
    const { number } = await board.api.card({ title: "Say hello" });
    await board.api.move(number, board.stages["In progress"]);
    await board.api.move(number, board.stages["To do"]);
    await commitTo(board, `card/${number}-say-hello`);
    await board.api.eventWhen(number, ({ kind }) => kind === "pushed");
    const repositoryIds = Object.values(board.repositories);
    await board.api.patch(`/v1/cards/${number}`, { repositoryIds });
    return number;
  }

  it("is refused, with a branch in the empty repository and a draft in the other", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const number = await cardWithCommitsInWeb(board);
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

  it("is refused and changes nothing if the other repository is archived", async () => {
    const board = await world.board({ repositories: ["web", "api"] });
    const number = await cardWithCommitsInWeb(board);
    await board.person("ada", "PATCH", `/repos/${board.owner}/web`, { archived: true });
    await allProcessed(world);
    const refused = await board.api.move(number, board.stages["In review"]);
    expect(refused.body.blocked?.reasons.map(({ reason }) => reason).toSorted()).toEqual([
      "not_permitted",
      "nothing_to_merge",
    ]);
    expect(await branchesOf(board, "api")).toEqual(["main"]);
  });
});
