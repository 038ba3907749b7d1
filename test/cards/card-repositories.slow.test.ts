import { afterEach, describe, expect, it } from "@jest/globals";
import {
  granted,
  kindsOf,
  linksOf,
  makeProject,
  putRepositories,
  webAndApi,
  work,
} from "../support/forge/repositories.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { untilMoving } from "../support/stories/repairing.ts";
import { branchesOf } from "../support/stories/two-targets.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => world.forge.control.faults.clear());

describe("the repositories of a card", () => {
  it("are the set that was sent, and each change is in the timeline", async () => {
    const { board, web, api, relink } = await webAndApi(world);
    const { number } = await board.api.card();
    const patched = await relink(number, [api, api]);
    expect(patched).toMatchObject({
      status: 200,
      body: { repositories: [{ fullName: `${board.owner}/api`, branchName: null }] },
    });
    const events = (await board.api.timeline(number)).slice(1);
    expect(events).toMatchObject([
      {
        kind: "repository_unlinked",
        repositoryFullName: `${board.owner}/web`,
        data: { repositoryId: web, branchName: null },
      },
      { kind: "repository_linked", repositoryFullName: `${board.owner}/api`, data: { repositoryId: api } },
    ]);
    await relink(number, [api]);
    expect(await kindsOf(board, number)).toHaveLength(3);
    await board.api.patch(`/v1/cards/${number}`, { title: "Both", repositoryIds: [web, api] });
    expect((await board.api.timeline(number)).slice(3)).toMatchObject([
      { kind: "repository_linked", data: { repositoryId: web } },
      { kind: "updated", data: { fields: ["title"] } },
    ]);
    expect(await linksOf(board, number)).toEqual(["api", "web"]);
    await board.api.patch(`/v1/cards/${number}`, { title: "Other" });
    expect(await linksOf(board, number)).toEqual(["api", "web"]);
    await relink(number, []);
    expect(await linksOf(board, number)).toEqual([]);
  });

  it("must belong to its project: others are listed in a 400 and nothing changes", async () => {
    const { board, web, api, relink } = await webAndApi(world);
    const second = await makeProject(board, "Second");
    await putRepositories(board, [{ id: web }]);
    await putRepositories(board, [{ id: api }], second);
    const { number } = await board.api.card({ projectId: board.projectId });
    const other = await world.board();
    const [theirs] = await granted(other.api);
    for (const id of [api, theirs?.id ?? "", UNKNOWN_ID]) {
      for (const refused of [
        await relink(number, [id]),
        await board.api.post("/v1/cards", { title: "No", projectId: board.projectId, repositoryIds: [id] }),
      ]) {
        expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.repositoryIds" }] } });
        expect(refused.body["message"]).toContain(id);
      }
    }
    expect(await linksOf(board, number)).toEqual(["web"]);
  });

  it("get their branches when the card enters a stage with Git", async () => {
    const { board, web, api, relink } = await webAndApi(world);
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["To do"]);
    await relink(number, [web, api]);
    await board.api.move(number, board.stages["In progress"]);
    const card = await board.api.readCard(number);
    expect(card.repositories.map(({ branchName }) => branchName)).toEqual([
      `card/${number}-a-card`,
      `card/${number}-a-card`,
    ]);
  });

  it.each(["In progress", "In review", "Done"] as const)(
    "get the card's branch when they are linked in %s, attributed to the caller",
    async (name) => {
      const { board, web, api } = await webAndApi(world);
      const { number } = await board.api.card({ title: "Say hello" });
      await board.api.move(number, board.stages["In progress"]);
      await work(board, number);
      expect((await board.api.move(number, board.stages[name])).status).toBe(200);
      const member = await board.as({ role: "member" });
      const patched = await member.patch(`/v1/cards/${number}`, { repositoryIds: [web, api] });
      expect(patched.status).toBe(200);
      const branchName = `card/${number}-say-hello`;
      const card = await board.api.cardWhen(
        number,
        ({ repositories }) => repositories[0]?.branchName !== null,
      );
      expect(card).toMatchObject({
        statusId: board.stages[name],
        repositories: [
          { fullName: `${board.owner}/api`, branchName, prNumber: null },
          { fullName: `${board.owner}/web`, branchName, prNumber: 1 },
        ],
      });
      const clone = await board.clone("ada", "api");
      expect(await clone.git("rev-parse", `origin/${branchName}`)).toBe(
        await clone.git("rev-parse", "origin/main"),
      );
      await clone.remove();
      const created = await board.api.eventWhen(
        number,
        ({ kind, repositoryFullName }) =>
          kind === "branch_created" && repositoryFullName === `${board.owner}/api`,
      );
      expect(created.actor.user.name).toBe("member agent");
    },
  );

  it("get one branch if a job creates it while a move has planned it", async () => {
    const { board, web, api, relink } = await webAndApi(world);
    const { number } = await board.api.card({ title: "First" });
    await board.api.move(number, board.stages["In progress"]);
    await work(board, number);
    await board.api.move(number, board.stages["In review"]);
    const creation = holdCalls(world, { method: "POST", path: "/repositories/*/git/refs" }, "before");
    await relink(number, [web, api]);
    await creation.arrived();
    await board.api.patch(`/v1/cards/${number}`, { title: "Second" });
    // The inspection also shows what the stages before Done require.
    const inspection = holdCalls(world, { operation: "Inspect" });
    const moving = board.api.move(number, board.stages.Done);
    await inspection.arrived();
    creation.resume();
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.branchName !== null);
    inspection.resume();
    const refused = { status: 409, body: { blocked: { reason: "nothing_to_merge" } } };
    expect(await moving).toMatchObject(refused);
    expect(await branchesOf(board, "api")).toEqual([`card/${number}-first`, "main"]);
  });

  it("get a ready pull request after the first push if the card is in review", async () => {
    const { board, web, api, relink } = await webAndApi(world);
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    await work(board, number);
    await board.api.move(number, board.stages["In review"]);
    await relink(number, [web, api]);
    await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.branchName !== null);
    await work(board, number, "api");
    const card = await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState !== null);
    expect(card.repositories.map(({ prState }) => prState)).toEqual(["open", "open"]);
    const moved = await board.api.move(number, board.stages.Done);
    expect(moved.status).toBe(200);
    expect(moved.body.promoted).toHaveLength(2);
  });

  it("cannot be unlinked while their pull request is open", async () => {
    const { board, api, relink } = await webAndApi(world);
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    await work(board, number);
    const refused = await relink(number, [api]);
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect(refused.body["message"]).toContain(
      `Pull request #1 of card ${number} is open in ${board.owner}/web`,
    );
    expect(await linksOf(board, number)).toEqual(["web"]);
    expect(await kindsOf(board, number)).not.toContain("repository_linked");
    await board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/1`, { state: "closed" });
    await board.api.cardWhen(number, (card) => card.repositories[0]?.prState === "closed");
    expect((await relink(number, [api])).status).toBe(200);
  });

  it("cannot change during a move", async () => {
    const { board, api, web, relink } = await webAndApi(world);
    const { number } = await board.api.card();
    const call = holdCalls(world, {}, "before");
    const moving = board.api.move(number, board.stages["In progress"]);
    await untilMoving(board);
    const refused = await relink(number, [web, api]);
    expect(refused.status).toBe(409);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // The same set changes nothing and is accepted.
    expect((await relink(number, [web])).status).toBe(200);
    call.resume();
    expect((await moving).status).toBe(200);
    expect((await relink(number, [web, api])).status).toBe(200);
  });
});
