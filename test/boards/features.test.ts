import { beforeAll, describe, expect, it } from "@jest/globals";
import type { Api } from "../support/api.ts";
import { create, expectUnknownHere, UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

interface Feature {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly taskCount: number;
  readonly doneCount: number;
}

const makeFeature = (name: string, api: Api = board.api) => create<Feature>(api, "/v1/features", { name });

const list = async (api: Api = board.api, query = ""): Promise<Feature[]> =>
  (await api.get<Feature[]>(`/v1/features${query}`)).body;
const featureOf = async (number: number): Promise<unknown> =>
  (await board.api.get(`/v1/cards/${number}`)).body["featureId"];

/** A new board with these features; `order` returns their order. */
async function ordered(names: readonly string[]) {
  const own = await world.board();
  const ids: Record<string, string> = {};
  for (const name of names) ids[name] = (await makeFeature(name, own.api)).id;
  return {
    own,
    patch: (name: string, body: unknown) => own.api.patch(`/v1/features/${ids[name]}`, body),
    drop: (name: string) => own.api.delete(`/v1/features/${ids[name]}`),
    order: async (query = "?archived=1"): Promise<string> => {
      const found = await list(own.api, query);
      expect(found.map(({ position }) => position)).toEqual(found.map((_, at) => at));
      return found.map(({ name }) => name).join("");
    },
  };
}

describe("a feature", () => {
  it("is created by a member, gray and without a description by default", async () => {
    const api = await (await world.board()).as({ role: "member" });
    const created = await api.post("/v1/features", { name: " Search " });
    expect(created).toMatchObject({ status: 201, body: { name: "Search", description: "", color: "gray" } });
    const body = { name: "Search", description: "*Find* it", color: "teal" };
    expect((await api.post("/v1/features", body)).body).toEqual({
      id: expect.any(String),
      ...body,
      taskCount: 0,
      doneCount: 0,
      archived: false,
      position: 1,
    });
  });

  // Contract: Labels and features: A feature's name has up to 60 characters
  it.each([
    ["name", 60, (text: string) => ({ name: text })],
    ["description", 20_000, (text: string) => ({ name: "Long", description: text })],
  ])("has a %s of at most %i characters", async (field, max, bodyOf) => {
    expect((await board.api.post("/v1/features", bodyOf("x".repeat(max)))).status).toBe(201);
    const refused = await board.api.post("/v1/features", bodyOf("x".repeat(max + 1)));
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: `body.${field}` }] } });
  });

  it.each([
    [{}, "body.name"],
    [{ name: " " }, "body.name"],
    [{ name: "x", color: "beige" }, "body.color"],
    [{ name: "x", description: null }, "body.description"],
    [{ name: "x", archived: true }, "body.archived"],
    [{ name: "x", position: 0 }, "body.position"],
  ])("is not created from %j", async (body, path) => {
    const refused = await board.api.post("/v1/features", body);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path }] } });
  });

  it("changes the given fields only", async () => {
    const { id } = await makeFeature("Import");
    const patch = async (body: unknown) => (await board.api.patch(`/v1/features/${id}`, body)).body;
    expect(await patch({ description: "From CSV" })).toMatchObject({ id, name: "Import", color: "gray" });
    expect(await patch({ name: "Imports", color: "red" })).toMatchObject({
      name: "Imports",
      description: "From CSV",
      color: "red",
      archived: false,
    });
    expect(await patch({})).toMatchObject({ name: "Imports", color: "red" });
  });

  it.each([{ position: -1 }, { position: 1.5 }, { archived: "1" }, { name: "x".repeat(61) }, { done: true }])(
    "is not changed by %j",
    async (body) => {
      const { id } = await makeFeature("Steady");
      const refused = await board.api.patch(`/v1/features/${id}`, body);
      expect(refused).toMatchObject({
        status: 400,
        body: { issues: [{ path: `body.${Object.keys(body)[0]}` }] },
      });
    },
  );
});

describe("archived features", () => {
  // Contract: Labels and features: Archived features are listed only with `archived=1`
  it("are listed only if requested, after the others", async () => {
    const { own, patch, order } = await ordered(["A", "B", "C"]);
    expect((await patch("A", { archived: true })).body).toMatchObject({ archived: true, position: 2 });
    expect(await order("")).toBe("BC");
    expect(await order("?archived=0")).toBe("BC");
    expect(await order("?archived=1")).toBe("BCA");
    expect((await own.api.get("/v1/features?archived=yes")).status).toBe(400);
  });

  it("return to their position when they are no longer archived", async () => {
    const { patch, order } = await ordered(["A", "B", "C"]);
    await patch("A", { archived: true });
    await patch("A", { archived: false });
    expect(await order("")).toBe("ABC");
  });
});

describe("the order of features", () => {
  it.each([
    ["A", 0, "ABCD"],
    ["A", 2, "BCAD"],
    ["D", 0, "DABC"],
    ["B", 3, "ACDB"],
    ["B", 99, "ACDB"],
    ["C", 1, "ACBD"],
    ["A", 2_147_483_648, "BCDA"],
  ])("with %s moved to %i is %s", async (name, position, expected) => {
    const { patch, order } = await ordered(["A", "B", "C", "D"]);
    const moved = await patch(name, { position });
    expect(moved.body["position"]).toBe(expected.indexOf(name));
    expect(await order()).toBe(expected);
  });

  it("has no gap after a deletion, and new ones come last", async () => {
    const { own, drop, order } = await ordered(["A", "B", "C"]);
    await drop("B");
    expect(await order()).toBe("AC");
    await makeFeature("D", own.api);
    expect(await order()).toBe("ACD");
  });

  it("ignores archived features", async () => {
    const { patch, order } = await ordered(["A", "B", "C", "D", "E"]);
    await patch("B", { archived: true });
    await patch("D", { archived: true });
    await patch("E", { position: 1 });
    expect(await order()).toBe("AECBD");
    await patch("D", { position: 3 });
    expect(await order()).toBe("AECDB");
    await patch("A", { archived: true, position: 99 });
    expect(await order()).toBe("ECDBA");
  });

  it("is complete after concurrent moves", async () => {
    const { patch, order } = await ordered(["A", "B", "C", "D"]);
    await Promise.all(["A", "B", "C", "D"].map((name, at) => patch(name, { position: 3 - at })));
    expect(
      Array.from(await order())
        .toSorted()
        .join(""),
    ).toBe("ABCD");
  });
});

describe("the cards of a feature", () => {
  // Contract: Cards: `PATCH` leaves omitted fields unchanged; `null` clears a field
  it("are set at creation or by a change, cleared by null, and kept if omitted", async () => {
    const { id } = await makeFeature("Login");
    const { number } = await board.api.card({ featureId: id });
    expect(await featureOf(number)).toBe(id);
    const patch = async (body: unknown) =>
      (await board.api.patch(`/v1/cards/${number}`, body)).body["featureId"];
    expect(await patch({ title: "Other" })).toBe(id);
    expect(await patch({ featureId: null })).toBeNull();
    expect(await patch({ featureId: id })).toBe(id);
    expect((await board.api.timeline(number)).at(-1)).toMatchObject({
      kind: "updated",
      data: { fields: ["featureId"] },
    });
  });

  it("may have an archived feature", async () => {
    const { id } = await makeFeature("Finished");
    await board.api.patch(`/v1/features/${id}`, { archived: true });
    expect(await featureOf((await board.api.card({ featureId: id })).number)).toBe(id);
  });

  it("cannot have a feature of another board or one that does not exist", async () => {
    const other = await world.board();
    const foreign = await makeFeature("Theirs", other.api);
    const { number } = await board.api.card();
    for (const featureId of [foreign.id, UNKNOWN_ID]) {
      for (const refused of [
        await board.api.patch(`/v1/cards/${number}`, { featureId }),
        await board.api.post("/v1/cards", { title: "No", featureId }),
      ]) {
        expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.featureId" }] } });
        expect(refused.body["message"]).toContain(featureId);
      }
    }
    expect(await featureOf(number)).toBeNull();
  });

  // Contract: Labels and features: `doneCount` of a feature counts finished cards, `taskCount` all
  it("are counted without deleted ones, those at the end of the flow also separately", async () => {
    const { id } = await makeFeature("Counted");
    const counts = async () => {
      const found = (await list()).find((feature) => feature.id === id);
      return [found?.taskCount, found?.doneCount];
    };
    const make = () => board.api.card({ featureId: id, repositoryIds: [] });
    const [done, gone, started] = [await make(), await make(), await make()];
    await make();
    await board.api.move(done.number, board.stages.Done);
    await board.api.move(gone.number, board.stages.Done);
    await board.api.move(started.number, board.stages["In review"]);
    expect(await counts()).toEqual([4, 2]);
    await board.api.delete(`/v1/cards/${gone.number}`);
    expect(await counts()).toEqual([3, 1]);
    await board.api.move(done.number, board.stages["To do"]);
    expect(await counts()).toEqual([3, 0]);
  });

  it("stay without it when it is deleted", async () => {
    const { id } = await makeFeature("Dropped");
    const { number } = await board.api.card({ featureId: id });
    const deleted = await board.api.delete(`/v1/features/${id}`);
    expect(deleted).toMatchObject({ status: 204, text: "" });
    expect(await featureOf(number)).toBeNull();
    expect((await board.api.delete(`/v1/features/${id}`)).status).toBe(404);
  });

  it("never keep a feature that is deleted concurrently", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await makeFeature(`Fleeting ${round}`);
      const { number } = await board.api.card({ featureId: round % 2 === 0 ? id : null });
      const [patched, deleted] = await Promise.all([
        board.api.patch(`/v1/cards/${number}`, { featureId: id }),
        board.api.delete(`/v1/features/${id}`),
      ]);
      expect([200, 400]).toContain(patched.status);
      expect(deleted.status).toBe(204);
      expect(await featureOf(number)).toBeNull();
    }
  });
});

describe("the role for features", () => {
  it("is maintainer for deletion and member for changes", async () => {
    const { id } = await makeFeature("Guarded");
    const member = await board.as({ role: "member" });
    expect((await member.patch(`/v1/features/${id}`, { color: "red" })).status).toBe(200);
    const refused = await member.delete(`/v1/features/${id}`);
    expect(refused.status).toBe(403);
    expect(refused.body["message"]).toContain("maintainer");
    const viewer = await board.as({ role: "viewer", scopes: ["read"] });
    expect((await list(viewer)).map((feature) => feature.id)).toContain(id);
    const writer = await board.as({ role: "viewer" });
    expect((await writer.post("/v1/features", { name: "No" })).status).toBe(403);
    expect((await writer.patch(`/v1/features/${id}`, { color: "red" })).status).toBe(403);
  });

  it("does not reach features of another board, which are unknown", async () => {
    const other = await world.board();
    const foreign = await makeFeature("Theirs", other.api);
    await expectUnknownHere(
      [board, other],
      [foreign.id, (id) => `/v1/features/${id}`],
      [["PATCH", { name: "Mine" }], ["PATCH", { nonsense: true }], ["DELETE"]],
    );
    expect(await list(other.api)).toEqual([foreign]);
  });
});
