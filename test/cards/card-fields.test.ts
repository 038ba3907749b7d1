import { beforeAll, describe, expect, it } from "@jest/globals";
import { withoutBranch, type Api, type ApiResponse } from "../support/api.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

const create = (fields: unknown) => board.api.post("/v1/cards", fields);

/** Sends the same fields in a creation and in an update. */
async function createAndPatch(
  fields: Readonly<Record<string, unknown>>,
): Promise<ApiResponse<Record<string, unknown>>[]> {
  const { number } = await board.api.card();
  return [await create({ title: "x", ...fields }), await board.api.patch(`/v1/cards/${number}`, fields)];
}

async function expectAccepted(
  fields: Readonly<Record<string, unknown>>,
  shown: object = fields,
): Promise<void> {
  const [created, patched] = await createAndPatch(fields);
  expect(created).toMatchObject({ status: 201, body: shown });
  expect(patched).toMatchObject({ status: 200, body: shown });
}

async function expectRefused(fields: Readonly<Record<string, unknown>>, path: string): Promise<void> {
  for (const { status, body } of await createAndPatch(fields)) {
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: "Bad Request", statusCode: 400 });
    expect(body["issues"]).toEqual([{ path, message: expect.any(String) }]);
  }
}

/** The user of a credential, read from a card that it creates. */
const userOf = async (api: Api) =>
  (await api.post<{ createdBy: { id: string } }>("/v1/cards", { title: "x" })).body.createdBy;

describe("the fields of a card", () => {
  it.each([
    ["/v1/docs", "title", {}],
    ["/v1/labels", "name", {}],
    ["/v1/features", "name", {}],
    ["/v1/projects", "name", {}],
    ["/v1/releases", "name", {}],
    ["/v1/cards/1/comments", "body", {}],
  ])("refuse an invisible text in %s", async (path, field, others) => {
    const { api } = await world.board();
    await api.card();
    const { status, text } = await api.post(path, { ...others, [field]: "\u200b \u3164" });
    expect([status, text]).toEqual([400, expect.stringContaining(`body.${field}`)]);
    expect((await api.post(path, { ...others, [field]: "a\u200b" })).status).toBe(201);
  });

  // Contract: Cards: A title has 1 to 500 characters, a description up to 20,000
  it.each<[string, Record<string, unknown>]>([
    ["a title of 1 character", { title: "x" }],
    ["a title of 500 characters", { title: "x".repeat(500) }],
    ["a title of 500 emoji", { title: "😀".repeat(500) }],
    ["a title in any script", { title: "Grüße, 世界 \u{1F469}‍\u{1F4BB} ‏مرحبا" }],
    ["an empty description", { description: "" }],
    ["a description of 20,000 characters", { description: "é".repeat(20_000) }],
    ["a description with spaces around it", { description: "\n  # Hello\n\n" }],
    ...["none", "low", "medium", "high", "urgent"].map((priority): [string, Record<string, unknown>] => [
      `the priority ${priority}`,
      { priority },
    ]),
    ["a due date", { dueDate: "2026-12-31" }],
    ["a leap day", { dueDate: "2028-02-29" }],
    ["no due date", { dueDate: null }],
    ["no assignee", { assigneeId: null }],
    ["no parent", { parentNumber: null }],
  ])("accept %s", async (_, fields) => {
    const { assigneeId, ...shown } = fields;
    await expectAccepted(fields, assigneeId === null ? { assignee: null } : shown);
  });

  it("drop the spaces around a title", async () => {
    await expectAccepted({ title: "  Say  hello \n" }, { title: "Say  hello" });
  });

  // Contract: Cards: A title has 1 to 500 characters, a description up to 20,000
  it.each<[string, Record<string, unknown>, string]>([
    ["an empty title", { title: "" }, "body.title"],
    ["a title of spaces", { title: " \t\n" }, "body.title"],
    ["a title of a zero-width space", { title: "\u200b" }, "body.title"],
    ["a title of other invisible characters", { title: "\u2800 \u3164\u00ad\u202e" }, "body.title"],
    ["a title of 501 characters", { title: "x".repeat(501) }, "body.title"],
    ["a title of 501 emoji", { title: "😀".repeat(501) }, "body.title"],
    ["a title with NUL in it", { title: "a\0b" }, "body.title"],
    ["a title with half a surrogate pair", { title: "a\ud83d" }, "body.title"],
    ["a title that is null", { title: null }, "body.title"],
    ["a title that is a number", { title: 7 }, "body.title"],
    ["a description of 20,001 characters", { description: "x".repeat(20_001) }, "body.description"],
    ["a description with NUL in it", { description: "\0" }, "body.description"],
    ["a description with half a surrogate pair", { description: "\udc00 end" }, "body.description"],
    ["a description that is a list", { description: ["x"] }, "body.description"],
    ["an unknown priority", { priority: "critical" }, "body.priority"],
    ["a priority in upper case", { priority: "High" }, "body.priority"],
    ["a date that does not exist", { dueDate: "2026-02-30" }, "body.dueDate"],
    ["a leap day of another year", { dueDate: "2027-02-29" }, "body.dueDate"],
    ["a time as a due date", { dueDate: "2026-12-31T00:00:00.000Z" }, "body.dueDate"],
    ["a date in another format", { dueDate: "31.12.2026" }, "body.dueDate"],
    ["a date in the year 0", { dueDate: "0000-01-01" }, "body.dueDate"],
    ["an assignee's name", { assigneeId: "ada" }, "body.assigneeId"],
    ["an unknown assignee", { assigneeId: UNKNOWN_ID }, "body.assigneeId"],
    ["a parent by name", { parentNumber: "1" }, "body.parentNumber"],
    ["a fractional parent", { parentNumber: 1.5 }, "body.parentNumber"],
    ["an unknown parent", { parentNumber: 4711 }, "body.parentNumber"],
    ["the parent 0", { parentNumber: 0 }, "body.parentNumber"],
    ["a negative parent", { parentNumber: -1 }, "body.parentNumber"],
    ["a parent beyond 32 bits", { parentNumber: 2 ** 31 }, "body.parentNumber"],
    ["a parent beyond 53 bits", { parentNumber: 1e300 }, "body.parentNumber"],
    ["a misspelled field", { assignedId: null }, "body.assignedId"],
    ["a read-only field", { number: 7 }, "body.number"],
    ["its creator", { createdBy: UNKNOWN_ID }, "body.createdBy"],
    ["its prototype", JSON.parse('{ "__proto__": {} }') as Record<string, unknown>, "body.__proto__"],
  ])("refuse %s and name the field", async (_, fields, path) => {
    await expectRefused(fields, path);
  });

  it.each(["id", "position", "blocked", "repositories", "labels", "createdAt", "workspaceId", "role"])(
    "do not include %s in a write",
    async (field) => {
      await expectRefused({ [field]: null }, `body.${field}`);
    },
  );

  it("are refused with a message that spaces around a title do not count", async () => {
    const refused = await create({ title: " \t" });
    expect(refused.body["issues"]).toEqual([
      { path: "body.title", message: "must have 1 to 500 characters, without leading and trailing spaces" },
    ]);
  });

  it("are all listed when several are wrong", async () => {
    const refused = await create({ title: "", priority: 1, nonsense: true });
    const issues = refused.body["issues"] as { path: string }[];
    expect(issues.map(({ path }) => path).toSorted()).toEqual([
      "body.nonsense",
      "body.priority",
      "body.title",
    ]);
  });

  it("are not all listed when thousands are wrong", async () => {
    const refused = await create(
      Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field${n}`, n])),
    );
    expect(refused.status).toBe(400);
    expect(refused.text.length).toBeLessThan(20_000);
  });

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", "null"],
    ["a list", []],
    ["text", '"title"'],
    ["a number", "7"],
  ])("cannot be sent as %s", async (_, body) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { statusCode: 400 } });
  });

  // Contract: Cards: `PATCH` leaves omitted fields unchanged; `null` clears a field
  it("stay unchanged when a PATCH omits them", async () => {
    const fields = { title: "All", description: "d", priority: "high", dueDate: "2026-12-31" };
    const { number } = await board.api.card(fields);
    const patched = await board.api.patch(`/v1/cards/${number}`, { priority: "low" });
    expect(patched.body).toMatchObject({ ...fields, priority: "low" });
    const before = (await board.api.get(`/v1/cards/${number}`)).body;
    expect((await board.api.patch(`/v1/cards/${number}`, {})).body).toEqual(before);
    expect((await board.api.timeline(number)).map(({ kind }) => kind)).toEqual(["created", "updated"]);
  });

  // Contract: Cards: `PATCH` leaves omitted fields unchanged; `null` clears a field
  it("are cleared by null on assignee, dueDate, parentNumber and featureId", async () => {
    const { body: members } = await board.api.get<{ id: string }[]>("/v1/members");
    const me = members[0]?.id;
    const parent = await board.api.card();
    const feature = await board.api.post("/v1/features", { name: "Clearing" });
    const set = {
      assignee: me,
      dueDate: "2026-12-31",
      parentNumber: parent.number,
      featureId: feature.body["id"],
    };
    const created = await create({ title: "Full", ...set });
    const { assignee, ...others } = set;
    expect(created).toMatchObject({ status: 201, body: { assignee: { id: assignee }, ...others } });
    const path = `/v1/cards/${created.body["number"] as number}`;
    const none = { assignee: null, dueDate: null, parentNumber: null, featureId: null };
    expect(await board.api.patch(path, none)).toMatchObject({ status: 200, body: none });
    expect(await board.api.patch(path, { assigneeId: me, assignee: null })).toMatchObject({
      status: 400,
      body: { issues: [{ path: "body.assignee" }] },
    });
    expect((await board.api.patch(path, { assigneeId: me })).body).toMatchObject({ assignee: { id: me } });
  });

  // Contract: Cards: A new card has priority `none`, no assignee and no labels
  // Contract: Cards: `createdBy.kind` is `machine` for a credential
  it("have default values in a new card", async () => {
    const created = await create({ title: "Plain" });
    const me = (await board.api.get("/v1/me")).body;
    expect(created.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      projectId: board.projectId,
      number: expect.any(Number),
      title: "Plain",
      description: "",
      statusId: board.stages.Backlog,
      position: expect.any(Number),
      priority: "none",
      assignee: null,
      labels: [],
      createdBy: { id: expect.any(String), name: me["name"], avatarUrl: null, kind: "machine" },
      blocked: null,
      repositories: [withoutBranch(`${board.owner}/web`, world.forge.cloneUrl)],
      featureId: null,
      parentNumber: null,
      children: { total: 0, done: 0 },
      commentCount: 0,
      dueDate: null,
      hotfix: false,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await board.api.get(`/v1/cards/${String(created.body["number"])}`)).body).toEqual(created.body);
  });

  // Contract: Cards: The assignee must be a member of the board
  it("accept only members of the board as the assignee", async () => {
    const other = await world.board();
    const [member, foreigner] = [await userOf(board.api), await userOf(other.api)];
    await expectAccepted({ assigneeId: member.id }, { assignee: member });
    await expectAccepted({ assigneeId: member.id.toUpperCase() }, { assignee: member });
    await expectRefused({ assigneeId: foreigner.id }, "body.assigneeId");
  });
});
