import { afterEach, describe, expect, it } from "@jest/globals";
import { syncInstallations } from "../../src/actions/installations/sync-installation.ts";
import { eventually } from "../support/api.ts";
import { holdCalls } from "../support/forge/held-calls.ts";
import { duringTransaction } from "../support/during.ts";
import {
  granted,
  kindsOf,
  linksOf,
  makeProject,
  ofProject,
  putRepositories,
  shortNames,
  webAndApi,
  work,
  type Repository,
} from "../support/forge/repositories.ts";
import { expectUnknownHere, UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();
afterEach(() => world.forge.control.faults.clear());

describe("the repositories of a board", () => {
  it("are those of the installation, by name, for a viewer", async () => {
    const { board, web, api } = await webAndApi(world);
    const reader = await board.as({ role: "viewer", scopes: ["read"] });
    const health = {
      broken: null,
      lastWebhookAt: null,
      lastReconciledAt: null,
      missingPermissions: [],
      unavailable: null,
    };
    const common = { defaultBranch: "main", connected: true, projectId: board.projectId, health };
    expect(await granted(reader)).toEqual([
      { id: api, fullName: `${board.owner}/api`, linkByDefault: false, ...common },
      { id: web, fullName: `${board.owner}/web`, linkByDefault: true, ...common },
    ]);
    expect(await ofProject(board)).toEqual(await granted(reader));
  });

  it("include those no longer granted while a project has them", async () => {
    const { board, web, api } = await webAndApi(world);
    const { db } = world.service.deps;
    await db("repositories").where({ id: api }).update({ connected: false });
    expect(await granted(board.api)).toMatchObject([
      { id: api, connected: false },
      { id: web, connected: true },
    ]);
    await putRepositories(board, [{ id: web }]);
    expect(shortNames(await granted(board.api))).toEqual(["web"]);
    expect((await putRepositories(board, [{ id: web }, { id: api }])).status).toBe(400);
  });

  it("exclude those of another account", async () => {
    const [board, other] = [await world.board(), await world.board()];
    const [ours, theirs] = [await granted(board.api), await granted(other.api)];
    expect(ours).toHaveLength(1);
    expect(theirs).toHaveLength(1);
    expect(ours[0]?.id).not.toBe(theirs[0]?.id);
  });
});

describe("the repositories of a project", () => {
  it("are replaced by the given ones, and new cards are linked to the defaults", async () => {
    const { board, web, api } = await webAndApi(world);
    const response = await putRepositories(board, [
      { id: api, linkByDefault: true },
      { id: web, linkByDefault: false },
    ]);
    expect(response).toMatchObject({
      status: 200,
      body: [
        { id: api, linkByDefault: true },
        { id: web, linkByDefault: false },
      ],
    });
    expect(await ofProject(board)).toEqual(response.body);
    expect(await linksOf(board, (await board.api.card()).number)).toEqual(["api"]);
    await putRepositories(board, [{ id: web }]);
    expect(await ofProject(board)).toMatchObject([{ id: web, linkByDefault: false }]);
    expect(await granted(board.api)).toMatchObject([
      { id: api, projectId: null, linkByDefault: false },
      { id: web, projectId: board.projectId },
    ]);
    expect((await board.api.get<Repository[]>("/v1/projects")).body).toMatchObject([{ repositoryCount: 1 }]);
    expect((await putRepositories(board, [])).body).toEqual([]);
  });

  it("keep their default if it is omitted; a single one is always a default", async () => {
    const { board, web, api } = await webAndApi(world);
    expect((await putRepositories(board, [{ id: web }, { id: api }])).body).toMatchObject([
      { id: api, linkByDefault: false },
      { id: web, linkByDefault: true },
    ]);
    await putRepositories(board, []);
    expect((await putRepositories(board, [{ id: api }])).body).toMatchObject([
      { id: api, linkByDefault: true },
    ]);
    expect((await putRepositories(board, [{ id: api }, { id: web }])).body).toMatchObject([
      { id: api, linkByDefault: true },
      { id: web, linkByDefault: false },
    ]);
    await putRepositories(board, []);
    expect((await putRepositories(board, [{ id: api, linkByDefault: false }])).body).toMatchObject([
      { linkByDefault: false },
    ]);
  });

  it("stay the same after the installations are reconciled", async () => {
    const { board, web } = await webAndApi(world);
    await putRepositories(board, [{ id: web, linkByDefault: false }]);
    const before = await granted(board.api);
    await syncInstallations(world.service.deps);
    expect(await granted(board.api)).toEqual(before);
  });

  it("belong to one project; a repository of another one is 409 with that project's name", async () => {
    const { board, web, api } = await webAndApi(world);
    const second = await makeProject(board, "Second");
    await putRepositories(board, [{ id: web }]);
    const refused = await putRepositories(board, [{ id: api }, { id: web }], second);
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect(refused.body.message).toContain(`${board.owner}/web belongs to the project ${board.owner}`);
    expect(await ofProject(board, second)).toEqual([]);
    expect((await putRepositories(board, [{ id: api }], second)).status).toBe(200);
    expect(shortNames(await ofProject(board, second))).toEqual(["api"]);
  });

  it("go to one of two projects that request the same one concurrently", async () => {
    const { board, api } = await webAndApi(world);
    const [second, third] = [await makeProject(board, "Second"), await makeProject(board, "Third")];
    await putRepositories(board, []);
    const responses = await Promise.all(
      [second, third].map((id) => putRepositories(board, [{ id: api }], id)),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  it("of another account or another board's project are unknown", async () => {
    const { board, web } = await webAndApi(world);
    const other = await world.board();
    const [theirs] = await granted(other.api);
    for (const id of [theirs?.id, UNKNOWN_ID]) {
      const refused = await putRepositories(board, [{ id: web }, { id }]);
      expect(refused).toMatchObject({
        status: 400,
        body: { issues: [{ path: "body.repositories.1.id" }] },
      });
      expect(refused.body.message).toContain(id);
      expect(refused.body.message).not.toContain(other.owner);
    }
    expect(await ofProject(board)).toHaveLength(2);
    expect(await granted(other.api)).toEqual([theirs]);
  });

  it.each([
    [{}, "body.repositories"],
    [{ repositories: [{}] }, "body.repositories.0.id"],
    [{ repositories: ["web"] }, "body.repositories.0"],
    [{ repositories: [{ id: "acme/web" }] }, "body.repositories.0.id"],
    [{ repositories: [{ id: UNKNOWN_ID, link: true }] }, "body.repositories.0.link"],
    [{ repositories: [{ id: UNKNOWN_ID }, { id: UNKNOWN_ID }] }, "body.repositories.1.id"],
    [{ repositories: [], repositoryIds: [] }, "body.repositoryIds"],
    [{ repositories: Array.from({ length: 1_001 }, () => ({ id: UNKNOWN_ID })) }, "body.repositories"],
  ])("are not changed by %j", async (body, path) => {
    const board = await world.board();
    const refused = await board.api.put(`/v1/projects/${board.projectId}/repositories`, body);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path }] } });
    expect(await ofProject(board)).toHaveLength(1);
  });

  it("are changed by a maintainer of their board only", async () => {
    const [board, other] = [await world.board(), await world.board()];
    const member = await board.as({ role: "member" });
    const path = `/v1/projects/${board.projectId}/repositories`;
    expect((await member.put(path, { repositories: [] })).status).toBe(403);
    await expectUnknownHere(
      [board, other],
      [other.projectId, (id) => `/v1/projects/${id}/repositories`],
      [["GET"], ["PUT", { nonsense: true }]],
    );
  });
});

describe("a repository that leaves a project", () => {
  it("is unlinked from its cards, which record it; their branches stay on GitHub", async () => {
    const { board, web, api } = await webAndApi(world);
    const draft = await board.api.card();
    const started = await board.api.card({ title: "Say hello" });
    const elsewhere = await board.api.card({ repositoryIds: [api] });
    await board.api.move(started.number, board.stages["In progress"]);
    expect((await putRepositories(board, [{ id: api }])).status).toBe(200);
    for (const { number } of [draft, started]) expect(await linksOf(board, number)).toEqual([]);
    expect(await linksOf(board, elsewhere.number)).toEqual(["api"]);
    expect((await board.api.timeline(started.number)).at(-1)).toMatchObject({
      kind: "repository_unlinked",
      repositoryFullName: `${board.owner}/web`,
      actor: { user: { kind: "machine" }, login: null },
      data: { repositoryId: web, branchName: `card/${started.number}-say-hello` },
    });
    expect(await kindsOf(board, elsewhere.number)).toEqual(["created"]);
    const branch = `/repos/${board.owner}/web/branches/card%2F${started.number}-say-hello`;
    expect((await board.person("ada", "GET", branch)).status).toBe(200);
  });

  it("cannot be removed while a card has an open pull request there, which the response names", async () => {
    const { board, api } = await webAndApi(world);
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    await work(board, number);
    const refused = await putRepositories(board, [{ id: api }]);
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect(refused.body.message).toContain(`#1 of card ${number} in ${board.owner}/web`);
    expect(await ofProject(board)).toHaveLength(2);
    expect(await linksOf(board, number)).toEqual(["web"]);
    await board.person("ada", "PATCH", `/repos/${board.owner}/web/pulls/1`, { state: "closed" });
    await board.api.cardWhen(number, (card) => card.repositories[0]?.prState === "closed");
    expect((await putRepositories(board, [{ id: api }])).status).toBe(200);
    expect(await linksOf(board, number)).toEqual([]);
  });

  it("stays linked to the cards whose work was merged there", async () => {
    const { board, api } = await webAndApi(world);
    const { number } = await board.api.card();
    await board.api.move(number, board.stages["In progress"]);
    await work(board, number);
    expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
    expect((await putRepositories(board, [{ id: api }])).status).toBe(200);
    expect((await board.api.readCard(number)).repositories).toMatchObject([
      { fullName: `${board.owner}/web`, prNumber: 1, prState: "merged" },
    ]);
    // Its cards keep the link, so it can be sent again although the project no longer has it.
    const links = (await granted(board.api)).map(({ id }) => id);
    expect((await board.api.patch(`/v1/cards/${number}`, { repositoryIds: links })).status).toBe(200);
  });

  it("cannot be removed while a card is moved there", async () => {
    const { board, api } = await webAndApi(world);
    const { number } = await board.api.card();
    const call = holdCalls(world, {}, "before");
    const moving = board.api.move(number, board.stages["In progress"]);
    await eventually(
      () => world.service.deps.db("operations").where({ state: "running", workspace_id: board.workspaceId }),
      ({ length }) => length > 0,
    );
    const refused = await putRepositories(board, [{ id: api }]);
    expect(refused.status).toBe(409);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    call.resume();
    expect((await moving).status).toBe(200);
    expect((await putRepositories(board, [{ id: api }])).status).toBe(200);
  });

  it("gets no new card during its removal", async () => {
    const { board, web } = await webAndApi(world);
    const created = await duringTransaction(
      world,
      async (trx) => {
        await trx("projects").where({ id: board.projectId }).forNoKeyUpdate().select("id");
        await trx("repositories").where({ id: web }).update({ project_id: null });
      },
      () => board.api.post("/v1/cards", { title: "Late", repositoryIds: [web] }),
    );
    expect(created).toMatchObject({ status: 400, body: { issues: [{ path: "body.repositoryIds" }] } });
  });
});
