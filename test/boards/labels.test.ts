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

interface Label {
  readonly id: string;
  readonly name: string;
  readonly color: string;
  readonly taskCount: number;
}

const makeLabel = (name: string, color?: string, api: Api = board.api) =>
  create<Label>(api, "/v1/labels", { name, ...(color && { color }) });

const list = async (api: Api = board.api): Promise<Label[]> => (await api.get<Label[]>("/v1/labels")).body;
const labelsOf = async (number: number, api: Api = board.api): Promise<unknown> =>
  (await api.get(`/v1/cards/${number}`)).body["labels"];
const shown = ({ id, name, color }: Label) => ({ id, name, color });

describe("a label", () => {
  it("is created by a member, gray by default", async () => {
    const api = await board.as({ role: "member" });
    expect(await api.post("/v1/labels", { name: "  Plain  " })).toMatchObject({
      status: 201,
      body: { name: "Plain", color: "gray", taskCount: 0 },
    });
    const { id } = await makeLabel("Loud", "pink", api);
    expect(await list()).toContainEqual({ id, name: "Loud", color: "pink", taskCount: 0 });
  });

  it("is listed by name, ignoring case, for a viewer", async () => {
    const own = await world.board();
    for (const name of ["beta", "Gamma", "Alpha"]) await makeLabel(name, undefined, own.api);
    const reader = await own.as({ role: "viewer", scopes: ["read"] });
    expect((await list(reader)).map(({ name }) => name)).toEqual(["Alpha", "beta", "Gamma"]);
  });

  it.each(["gray", "red", "orange", "yellow", "green", "teal", "blue", "indigo", "purple", "pink"])(
    "may be %s",
    async (color) => {
      expect((await makeLabel(`In ${color}`, color)).color).toBe(color);
    },
  );

  // Contract: Labels and features: A label's color is a name from the palette
  it.each(["#ff0000", "Red", "", "grey", null, 3])(
    "cannot have the color %j; the message lists the palette",
    async (color) => {
      const refused = await board.api.post("/v1/labels", { name: "Off the palette", color });
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.color" }] } });
      expect(refused.body["message"]).toContain(
        "gray, red, orange, yellow, green, teal, blue, indigo, purple, pink",
      );
      expect((await list()).map(({ name }) => name)).not.toContain("Off the palette");
    },
  );

  it("has a name of 1 to 50 characters", async () => {
    expect((await makeLabel("n".repeat(50))).name).toHaveLength(50);
    for (const body of [{ name: "n".repeat(51) }, { name: "" }, { name: " " }, {}, { name: null }]) {
      const refused = await board.api.post("/v1/labels", body);
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.name" }] } });
    }
  });

  it("is refused with an unknown field", async () => {
    const refused = await board.api.post("/v1/labels", { name: "Typo", colour: "red" });
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.colour" }] } });
  });

  it.each([
    ["bug", "BUG"],
    ["Straße", "STRAßE"],
    ["Äpfel", "äpfel"],
    ["caf\u00e9", "CAFE\u0301"],
  ])("named %s prevents %s on its board, but not on another", async (name, twin) => {
    const { id } = await makeLabel(name);
    const refused = await board.api.post("/v1/labels", { name: twin });
    expect(refused).toMatchObject({ status: 409, body: { error: "Conflict", statusCode: 409 } });
    expect(refused.body["message"]).toContain(`the label "${name}" (${id}) already`);
    const elsewhere = await world.board();
    expect((await makeLabel(twin, undefined, elsewhere.api)).name).toBe(twin);
  });

  it("is created once by concurrent calls with its name", async () => {
    const responses = await Promise.all(
      ["Race", "race", "RACE", "rACE"].map((name) => board.api.post("/v1/labels", { name })),
    );
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409]);
  });

  it("is created once by a request and its retry", async () => {
    const options = { key: "label-made-once-0001" };
    const first = await board.api.post("/v1/labels", { name: "Once" }, options);
    const second = await board.api.post("/v1/labels", { name: "Once" }, options);
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replay")).toBe("true");
  });
});

describe("changing a label", () => {
  it("sets the given fields, keeps the others, and returns the whole label", async () => {
    const { id } = await makeLabel("Chore", "teal");
    const api = await board.as({ role: "member" });
    expect(await api.patch(`/v1/labels/${id}`, { name: "Chores" })).toMatchObject({
      status: 200,
      body: { id, name: "Chores", color: "teal", taskCount: 0 },
    });
    expect((await api.patch(`/v1/labels/${id}`, { color: "red" })).body).toEqual({
      id,
      name: "Chores",
      color: "red",
      taskCount: 0,
    });
    expect((await api.patch(`/v1/labels/${id}`, {})).body).toMatchObject({ name: "Chores", color: "red" });
  });

  it("appears on the cards that have it", async () => {
    const label = await makeLabel("Before");
    const { number } = await board.api.card({ labelIds: [label.id] });
    await board.api.patch(`/v1/labels/${label.id}`, { name: "After", color: "green" });
    expect(await labelsOf(number)).toEqual([{ id: label.id, name: "After", color: "green" }]);
  });

  it("to its own name in another case succeeds, to the name of another label is 409", async () => {
    const { id } = await makeLabel("Spelling");
    const other = await makeLabel("Grammar");
    expect((await board.api.patch(`/v1/labels/${id}`, { name: "SPELLING" })).status).toBe(200);
    const refused = await board.api.patch(`/v1/labels/${id}`, { name: "gRAMMAR" });
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ message: expect.stringContaining(`"Grammar" (${other.id})`) });
    expect((await list()).find((label) => label.id === id)?.name).toBe("SPELLING");
  });

  it("validates its fields as creation does", async () => {
    const { id } = await makeLabel("Strict");
    for (const body of [{ name: "" }, { name: "n".repeat(51) }, { color: "mauve" }, { taskCount: 3 }]) {
      expect((await board.api.patch(`/v1/labels/${id}`, body)).status).toBe(400);
    }
  });
});

describe("deleting a label", () => {
  // Contract: Labels and features: Deleting a label removes it from every card; only a maintainer may
  it("removes it from every card immediately", async () => {
    const gone = await makeLabel("Gone");
    const stays = await makeLabel("Stays");
    const draft = await board.api.card({ labelIds: [gone.id, stays.id] });
    const started = await board.api.card({ labelIds: [gone.id], repositoryIds: [] });
    await board.api.move(started.number, board.stages["To do"]);
    const deleted = await board.api.delete(`/v1/labels/${gone.id}`);
    expect(deleted).toMatchObject({ status: 204, text: "" });
    expect(await labelsOf(draft.number)).toEqual([shown(stays)]);
    expect(await labelsOf(started.number)).toEqual([]);
    expect((await list()).map(({ id }) => id)).not.toContain(gone.id);
    expect((await board.api.delete(`/v1/labels/${gone.id}`)).status).toBe(404);
    expect((await makeLabel("gone")).taskCount).toBe(0);
  });

  // Contract: Labels and features: Deleting a label removes it from every card; only a maintainer may
  it("needs the role maintainer", async () => {
    const { id } = await makeLabel("Guarded");
    const member = await board.as({ role: "member" });
    const refused = await member.delete(`/v1/labels/${id}`);
    expect(refused.status).toBe(403);
    expect(refused.body["message"]).toContain("maintainer");
    expect(refused.body["message"]).toContain("member");
    const viewer = await board.as({ role: "viewer" });
    expect((await viewer.post("/v1/labels", { name: "Not theirs" })).status).toBe(403);
    expect((await viewer.patch(`/v1/labels/${id}`, { color: "red" })).status).toBe(403);
  });

  it("leaves no card with a label that is deleted concurrently", async () => {
    for (let round = 0; round < 5; round += 1) {
      const label = await makeLabel(`Fleeting ${round}`);
      const { number } = await board.api.card();
      const [patched, deleted] = await Promise.all([
        board.api.patch(`/v1/cards/${number}`, { labelIds: [label.id] }),
        board.api.delete(`/v1/labels/${label.id}`),
      ]);
      expect([200, 400]).toContain(patched.status);
      expect(deleted.status).toBe(204);
      expect(await labelsOf(number)).toEqual([]);
    }
  });
});

describe("a label of another board", () => {
  it("is unknown, even if the key reaches both boards", async () => {
    const other = await world.board();
    const foreign = await makeLabel("Theirs", "red", other.api);
    await expectUnknownHere(
      [board, other],
      [foreign.id, (id) => `/v1/labels/${id}`],
      [
        ["PATCH", { name: "Mine" }],
        // The label is looked up before the body is validated.
        ["PATCH", { nonsense: true }],
        ["DELETE"],
      ],
    );
    expect(await list(other.api)).toEqual([foreign]);
    expect((await board.api.delete("/v1/labels/bug")).status).toBe(400);
  });
});

describe("the labels of a card", () => {
  it("are returned with the card, in the backlog and on the board, by name", async () => {
    const own = await world.board();
    const beta = await makeLabel("beta", "blue", own.api);
    const alpha = await makeLabel("Alpha", "red", own.api);
    const labelIds = [beta.id, alpha.id];
    const created = await own.api.card({ labelIds });
    expect(created).toMatchObject({ labels: [shown(alpha), shown(beta)] });
    expect(await labelsOf(created.number, own.api)).toEqual([shown(alpha), shown(beta)]);
    const backlog = await own.api.get<{ labels: unknown }[]>("/v1/backlog");
    expect(backlog.body[0]?.labels).toEqual([shown(alpha), shown(beta)]);
    await own.api.move(created.number, own.stages["To do"]);
    const read = await own.api.get<{ columns: { tasks: { labels: unknown }[] }[] }>("/v1/board");
    expect(read.body.columns[0]?.tasks[0]?.labels).toEqual([shown(alpha), shown(beta)]);
  });

  // Contract: Cards: `labelIds` replaces all labels of the card
  it("are replaced by the given ones, and kept if omitted", async () => {
    const [one, two, three] = [await makeLabel("One"), await makeLabel("Two"), await makeLabel("Three")];
    const { number } = await board.api.card({ labelIds: [one.id, two.id] });
    const patch = (body: unknown) => board.api.patch(`/v1/cards/${number}`, body);
    expect((await patch({ labelIds: [two.id, three.id, two.id] })).body["labels"]).toEqual([
      shown(three),
      shown(two),
    ]);
    expect((await patch({ title: "Other" })).body["labels"]).toHaveLength(2);
    expect((await patch({ labelIds: [] })).body["labels"]).toEqual([]);
    expect((await patch({ labelIds: null })).status).toBe(400);
  });

  it("are in the timeline as a change of the card, which updates its time of change", async () => {
    const label = await makeLabel("Told");
    const { body: created } = await board.api.post<{ number: number; updatedAt: string }>("/v1/cards", {
      title: "A card",
    });
    const patched = await board.api.patch(`/v1/cards/${created.number}`, { labelIds: [label.id] });
    expect((await board.api.timeline(created.number)).at(-1)).toMatchObject({
      kind: "updated",
      data: { fields: ["labelIds"] },
      actor: { user: { kind: "machine" }, login: null },
    });
    expect(Date.parse(String(patched.body["updatedAt"]))).toBeGreaterThan(Date.parse(created.updatedAt));
  });

  it("must be labels of its board; others are named in the refusal, and nothing changes", async () => {
    const other = await world.board();
    const foreign = await makeLabel("Foreign", "red", other.api);
    const label = await makeLabel("Ours");
    const { number } = await board.api.card({ labelIds: [label.id] });
    for (const wrong of [foreign.id, UNKNOWN_ID]) {
      for (const refused of [
        await board.api.patch(`/v1/cards/${number}`, { title: "No", labelIds: [label.id, wrong] }),
        await board.api.post("/v1/cards", { title: "No", labelIds: [wrong] }),
      ]) {
        expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.labelIds" }] } });
        expect(refused.body["message"]).toContain(wrong);
        expect(refused.body["message"]).not.toContain(label.id);
      }
    }
    expect((await board.api.readCard(number)).title).toBe("A card");
    expect(await labelsOf(number)).toEqual([shown(label)]);
  });

  // Contract: Labels and features: A label's `taskCount` counts its cards, without deleted ones
  it("are counted without deleted cards", async () => {
    const { id } = await makeLabel("Counted");
    const count = async () => (await list()).find((label) => label.id === id)?.taskCount;
    const first = await board.api.card({ labelIds: [id] });
    await board.api.card({ labelIds: [id] });
    expect(await count()).toBe(2);
    await board.api.delete(`/v1/cards/${first.number}`);
    expect(await count()).toBe(1);
    expect((await board.api.patch(`/v1/labels/${id}`, { color: "red" })).body["taskCount"]).toBe(1);
  });
});
