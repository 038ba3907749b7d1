import { beforeAll, describe, expect, it } from "@jest/globals";
import type { Api } from "../support/api.ts";
import { duringTransaction } from "../support/during.ts";
import { create, expectUnknownHere, UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

interface Project {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly taskCount: number;
  readonly repositoryCount: number;
  readonly createdAt: string;
}
interface Flow {
  readonly checks: string;
  readonly stages: readonly { readonly id: string; readonly name: string; readonly kind: string }[];
}

const list = async (api: Api = board.api): Promise<Project[]> =>
  (await api.get<Project[]>("/v1/projects")).body;
const makeProject = (fields: unknown, api: Api = board.api) => create<Project>(api, "/v1/projects", fields);
const flowOf = async (projectId: string, api: Api = board.api): Promise<Flow> =>
  (await api.get<Flow>(`/v1/projects/${projectId}/flow`)).body;

const anyId = ({ stages, ...flow }: Flow) => ({
  ...flow,
  stages: stages.map((stage) => ({ ...stage, id: "" })),
});

describe("the projects of a board", () => {
  // Contract: Board and projects: Projects are listed with `repositoryCount` and `taskCount`
  it("are listed oldest first with their counts, without deleted cards", async () => {
    const own = await world.board({ repositories: ["web", "api"] });
    const { id } = await makeProject({ name: "Second", description: "*Two*" }, own.api);
    await own.api.card({ projectId: own.projectId });
    const gone = await own.api.card({ projectId: own.projectId });
    await own.api.delete(`/v1/cards/${gone.number}`);
    const reader = await own.as({ role: "viewer", scopes: ["read"] });
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await list(reader)).toEqual([
      {
        id: own.projectId,
        name: own.owner,
        slug: own.owner,
        description: "",
        repositoryCount: 2,
        taskCount: 1,
        createdAt: timestamp,
      },
      {
        id,
        name: "Second",
        slug: "second",
        description: "*Two*",
        repositoryCount: 0,
        taskCount: 0,
        createdAt: timestamp,
      },
    ]);
  });

  // Contract: Board and projects: `projectId` is optional with one project and required (400) with several
  it("require projectId if there are several", async () => {
    const own = await world.board();
    const { id } = await makeProject({ name: "Second" }, own.api);
    expect((await own.api.get("/v1/board")).status).toBe(400);
    expect((await own.api.get(`/v1/board?projectId=${id}`)).status).toBe(200);
    expect((await own.api.post("/v1/cards", { title: "Where?" })).status).toBe(400);
    expect((await own.api.card({ projectId: id })).number).toBe(1);
  });
});

describe("a new project", () => {
  // Contract: Board and projects: An omitted slug of a project is derived from its name
  it.each([
    ["Mobile App", "mobile-app"],
    ["  Größe & Øre  ", "grosse-ore"],
    ["日本語", "project"],
    ["x".repeat(80), "x".repeat(50)],
  ])("named %s has the slug %s", async (name, slug) => {
    const own = await world.board();
    const created = await makeProject({ name }, own.api);
    expect(created).toMatchObject({ name: name.trim(), slug, taskCount: 0, repositoryCount: 0 });
  });

  it("gets the next free slug if its own is used, also under concurrent creation", async () => {
    const own = await world.board();
    await makeProject({ name: "Other", slug: "shop-3" }, own.api);
    const made = await Promise.all(["Shop", "SHOP", "shop!"].map((name) => makeProject({ name }, own.api)));
    expect(made.map(({ slug }) => slug).toSorted((a, b) => a.localeCompare(b))).toEqual([
      "shop",
      "shop-2",
      "shop-4",
    ]);
  });

  it("with a slug of another project is 409 with that project's name; other boards do not matter", async () => {
    const own = await world.board();
    await makeProject({ name: "Holder", slug: "mine" }, own.api);
    const refused = await own.api.post("/v1/projects", { name: "Late", slug: "mine" });
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect(refused.body["message"]).toContain("Holder");
    expect(await makeProject({ name: "Elsewhere", slug: "mine" })).toMatchObject({ slug: "mine" });
  });

  it.each([
    [{}, "body.name"],
    [{ name: " " }, "body.name"],
    [{ name: "x".repeat(81) }, "body.name"],
    [{ name: "x", description: "d".repeat(20_001) }, "body.description"],
    [{ name: "x", slug: "Not A Slug" }, "body.slug"],
    [{ name: "x", slug: "-x" }, "body.slug"],
    [{ name: "x", slug: "a--b" }, "body.slug"],
    [{ name: "x", slug: "" }, "body.slug"],
    [{ name: "x", slug: "s".repeat(51) }, "body.slug"],
    [{ name: "x", flowFrom: "shop" }, "body.flowFrom"],
    [{ name: "x", flow: {} }, "body.flow"],
  ])("is not created from %j", async (body, path) => {
    const before = await list();
    const refused = await board.api.post("/v1/projects", body);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path }] } });
    expect(await list()).toEqual(before);
  });

  it("accepts the minimum and maximum of its fields", async () => {
    const body = { name: "x".repeat(80), slug: "s".repeat(50), description: "d".repeat(20_000) };
    expect(await makeProject(body)).toMatchObject(body);
  });

  // Contract: Board and projects: A new project owns a copy of an existing flow
  it("copies the flow of the oldest project and owns the copy", async () => {
    const own = await world.board();
    const path = `/v1/projects/${own.projectId}/flow`;
    await own.api.put(path, { ...(await flowOf(own.projectId, own.api)), checks: "ignored" });
    const oldest = await flowOf(own.projectId, own.api);
    const { id } = await makeProject({ name: "Second" }, own.api);
    const copy = await flowOf(id, own.api);
    expect(anyId(copy)).toEqual(anyId(oldest));
    const known = new Set(oldest.stages.map((stage) => stage.id));
    expect(copy.stages.filter((stage) => known.has(stage.id))).toEqual([]);
    await own.api.put(`/v1/projects/${id}/flow`, { ...copy, checks: "required" });
    expect(await flowOf(own.projectId, own.api)).toEqual(oldest);
    // A card created in it is in its own backlog.
    expect((await own.api.card({ projectId: id })).statusId).toBe(copy.stages[0]?.id);
  });

  it("copies the flow of the project that it names", async () => {
    const own = await world.board();
    const { id } = await makeProject({ name: "Second" }, own.api);
    const flow = await flowOf(id, own.api);
    const stages = flow.stages.filter(({ name }) => name !== "In review");
    await own.api.put(`/v1/projects/${id}/flow`, { ...flow, stages });
    const third = await makeProject({ name: "Third", flowFrom: id }, own.api);
    expect((await flowOf(third.id, own.api)).stages.map(({ name }) => name)).toEqual([
      "Backlog",
      "To do",
      "In progress",
      "Done",
    ]);
  });

  it("cannot copy the flow of another board, which is unknown", async () => {
    const other = await world.board();
    const responses = [];
    for (const flowFrom of [other.projectId, UNKNOWN_ID]) {
      responses.push(await board.api.post("/v1/projects", { name: "Spy", flowFrom }));
    }
    expect(responses[0]?.status).toBe(404);
    expect(responses[0]?.text).toBe(responses[1]?.text);
  });
});

describe("changing a project", () => {
  it("sets the given fields, keeps the others, and returns the whole project", async () => {
    const { id } = await makeProject({ name: "Draft", description: "Old" });
    const patch = (body: unknown) => board.api.patch(`/v1/projects/${id}`, body);
    expect(await patch({ name: "Final" })).toMatchObject({
      status: 200,
      body: { id, name: "Final", slug: "draft", description: "Old", taskCount: 0 },
    });
    expect((await patch({ slug: "final", description: "" })).body).toMatchObject({
      name: "Final",
      slug: "final",
      description: "",
    });
    expect((await patch({})).body).toMatchObject({ name: "Final", slug: "final" });
    expect((await patch({ slug: "final" })).status).toBe(200);
  });

  it("to a used slug is 409, and invalid fields are 400", async () => {
    const { id } = await makeProject({ name: "One of two" });
    await makeProject({ name: "Two of two" });
    expect((await board.api.patch(`/v1/projects/${id}`, { slug: "two-of-two" })).status).toBe(409);
    for (const body of [
      { name: "" },
      { slug: "X" },
      { description: null },
      { flowFrom: id },
      { name: "x".repeat(81) },
    ]) {
      expect((await board.api.patch(`/v1/projects/${id}`, body)).status).toBe(400);
    }
    expect((await list()).find((project) => project.id === id)?.slug).toBe("one-of-two");
  });
});

describe("deleting a project", () => {
  it("is 409 while it has cards in any stage; deleted ones do not count", async () => {
    const own = await world.board();
    await makeProject({ name: "Other" }, own.api);
    const path = `/v1/projects/${own.projectId}`;
    const make = () => own.api.card({ projectId: own.projectId, repositoryIds: [] });
    const [draft, done] = [await make(), await make()];
    await own.api.move(done.number, own.stages.Done);
    const refused = await own.api.delete(path);
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect(refused.body["message"]).toContain("2 cards");
    await own.api.delete(`/v1/cards/${draft.number}`);
    expect((await own.api.delete(path)).body["message"]).toContain("1 card.");
    await own.api.delete(`/v1/cards/${done.number}`);
    expect(await own.api.delete(path)).toMatchObject({ status: 204, text: "" });
    expect((await list(own.api)).map(({ name }) => name)).toEqual(["Other"]);
    expect((await own.api.delete(path)).status).toBe(404);
    // Numbers of deleted cards are not used again, even after the project is deleted.
    expect((await own.api.card()).number).toBe(3);
  });

  it("is 409 for the last one of a board, also if the last two are deleted concurrently", async () => {
    const own = await world.board();
    const refused = await own.api.delete(`/v1/projects/${own.projectId}`);
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect(refused.body["message"]).toContain("only project");
    const { id } = await makeProject({ name: "Second" }, own.api);
    const responses = await Promise.all(
      [own.projectId, id].map((projectId) => own.api.delete(`/v1/projects/${projectId}`)),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 409]);
    expect(await list(own.api)).toHaveLength(1);
  });

  it("deletes its deleted cards with their history", async () => {
    const own = await world.board();
    await makeProject({ name: "Other" }, own.api);
    const { number } = await own.api.card({ projectId: own.projectId });
    await own.api.move(number, own.stages["In progress"]);
    await own.api.cardWhen(number, (card) => card.repositories[0]?.branchName !== null);
    await own.api.delete(`/v1/cards/${number}`);
    expect((await own.api.delete(`/v1/projects/${own.projectId}`)).status).toBe(204);
    expect((await own.api.get(`/v1/cards/${number}`)).status).toBe(404);
  });

  it("leaves no card without a project under concurrent creation of cards", async () => {
    const own = await world.board();
    for (let round = 0; round < 5; round += 1) {
      const { id } = await makeProject({ name: `Fleeting ${round}` }, own.api);
      const [created, deleted] = await Promise.all([
        own.api.post("/v1/cards", { title: "Just in time", projectId: id }),
        own.api.delete(`/v1/projects/${id}`),
      ]);
      expect(["201 409", "404 204", "409 204"]).toContain(`${created.status} ${deleted.status}`);
    }
  });

  it("refuses a card that is created during it, and waits for one whose creation has begun", async () => {
    const own = await world.board();
    const late = await makeProject({ name: "Late" }, own.api);
    const refused = await duringTransaction(
      world,
      (trx) => trx("projects").where({ id: late.id }).delete(),
      () => own.api.post("/v1/cards", { title: "Too late", projectId: late.id, labelIds: [] }),
    );
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    const busy = await makeProject({ name: "Busy" }, own.api);
    const { number } = await own.api.card({ projectId: own.projectId, repositoryIds: [] });
    const backlog = (await flowOf(busy.id, own.api)).stages[0]?.id;
    const kept = await duringTransaction(
      world,
      (trx) =>
        trx("cards")
          .where({ workspace_id: own.workspaceId, number })
          .update({ project_id: busy.id, stage_id: backlog }),
      () => own.api.delete(`/v1/projects/${busy.id}`),
    );
    expect(kept).toMatchObject({ status: 409 });
    expect(kept.body["message"]).toContain("1 card");
  });
});

describe("the role for projects", () => {
  // Contract: Board and projects: Only a maintainer creates, changes or deletes a project
  it("is maintainer for creation, changes and deletion", async () => {
    const member = await board.as({ role: "member" });
    for (const refused of [
      await member.post("/v1/projects", { name: "No" }),
      await member.patch(`/v1/projects/${board.projectId}`, { name: "No" }),
      await member.delete(`/v1/projects/${board.projectId}`),
    ]) {
      expect(refused.status).toBe(403);
      expect(refused.body["message"]).toContain("maintainer");
    }
    expect((await list(member)).length).toBeGreaterThan(0);
  });

  it("does not reach projects of another board, which are unknown", async () => {
    const other = await world.board();
    await expectUnknownHere(
      [board, other],
      [other.projectId, (id) => `/v1/projects/${id}`],
      [["PATCH", { name: "Mine" }], ["PATCH", { nonsense: true }], ["DELETE"]],
    );
    expect((await list(other.api)).map(({ name }) => name)).toEqual([other.owner]);
    expect((await board.api.delete("/v1/projects/second")).status).toBe(400);
  });
});
