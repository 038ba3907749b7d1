import { beforeAll, describe, expect, it } from "@jest/globals";
import { setGates } from "../support/flows.ts";
import { connectMcp, type Mcp } from "../support/mcp/client.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let mcp: Mcp;
beforeAll(async () => {
  board = await world.board();
  mcp = await connectMcp(await board.as({ role: "member" }));
});

describe("the tools of an agent", () => {
  it("read the board with the ids that cards refer to", async () => {
    const { number } = await board.api.card({ title: "Say hello", statusId: board.stages["To do"] });
    const { isError, data } = await mcp.call("get_board", { include: ["members", "projects"] });
    expect(isError).toBe(false);
    const column = data.columns.find(({ name }: { name: string }) => name === "To do");
    expect(column).toMatchObject({ statusId: board.stages["To do"], cardCount: column.tasks.length });
    expect(column.tasks.map((task: { number: number }) => task.number)).toContain(number);
    expect(data.members).toEqual((await board.api.get("/v1/members")).body);
    expect(data.projects).toMatchObject([{ id: board.projectId }]);
  });

  it("carry a card from a draft to its branch, with comments", async () => {
    const { data: card } = await mcp.write("create_card", { title: "Greet everyone" });
    const { data: plan } = await mcp.call("plan_move", {
      number: card.number,
      statusId: board.stages["In progress"],
    });
    expect(plan).toMatchObject({ wouldMove: true, steps: [{ action: "create_branch" }] });
    const moved = await mcp.write("move_card", {
      number: card.number,
      statusId: board.stages["In progress"],
      index: 0,
    });
    expect(moved).toMatchObject({ isError: false, data: { task: { number: card.number } } });
    await mcp.write("comment", { number: card.number, body: "On it." });
    await mcp.write("update_card", { number: card.number, priority: "high" });
    const { data: read } = await mcp.call("get_card", { number: card.number, live: true });
    expect(read.card).toMatchObject({ priority: "high", source: "trunkline", createdBy: expect.anything() });
    expect(read.card.repositories[0].branchName).toMatch(/^card\//);
    expect(read.timeline.filter(({ type }: { type: string }) => type === "comment")).toMatchObject([
      { body: "On it.", source: "trunkline", author: { user: { kind: "machine" } } },
    ]);
    expect(read).toMatchObject({ checks: [], reviews: [] });
  });

  it("return a refused move with the response of the route and what to do next", async () => {
    const { number } = await board.api.card({ title: "Nothing to merge" });
    const statusId = board.stages["Done"];
    const refused = await mcp.write("move_card", { number, statusId, index: 0 });
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(/refused.*Push a commit.*Then call move_card again/);
    const { blocked } = await board.api.readCard(number);
    expect(refused.data).toEqual({
      message: blocked!.message,
      error: "Conflict",
      statusCode: 409,
      blocked,
      promoted: [],
    });
  });

  it("do not repeat a move that stays refused for an API key", async () => {
    await setGates(board, "Done", { humanOnly: true });
    const { number } = await board.api.card({ title: "For a person" });
    const refused = await mcp.write("move_card", { number, statusId: board.stages["Done"], index: 0 });
    expect(refused.text).toMatch(/refused.*Ask one to move it\. `blocked` has every reason\.$/);
    await setGates(board, "Done");
  });

  it("list the caller's work, that of anyone and what nobody works on", async () => {
    const { data: members } = await mcp.call("get_board", { include: ["members"] });
    const me = members.members.find(({ name }: { name: string }) => name === "member agent");
    const title = "To be listed";
    const mine = await board.api.card({ title, assigneeId: me.id, statusId: board.stages["To do"] });
    const free = await board.api.card({ title, statusId: board.stages["To do"] });
    const listed = async (input: object) => {
      const { data } = await mcp.call("my_work", { q: "listed", ...input });
      return data.items.map(({ number, source }: { number: number; source: string }) => [number, source]);
    };
    const [ours, others] = [
      [mine.number, "trunkline"],
      [free.number, "trunkline"],
    ];
    expect((await listed({})).toSorted()).toEqual([ours]);
    expect((await listed({ assignee: "anyone", sort: "number" })).toSorted()).toEqual([ours, others]);
    expect(await listed({ assignee: "none", blocked: false })).toEqual([others]);
    expect(await listed({ assignee: "none", blocked: true })).toEqual([]);
    const first = await mcp.call("my_work", { q: "listed", assignee: "anyone", limit: 1 });
    const rest = { q: "listed", assignee: "anyone", limit: 1, cursor: first.data.nextCursor };
    expect((await mcp.call("my_work", rest)).data).toMatchObject({ items: [{}], nextCursor: null });
  });

  it("search cards, pages and comments", async () => {
    const { number } = await board.api.card({ title: "Quixotic windmills" });
    await mcp.write("comment", { number, body: "Quixotic indeed" });
    const { data } = await mcp.call("search", { q: "quixotic", kinds: ["comments", "pages"] });
    expect(data.results).toMatchObject([
      { kind: "comment", number, source: "trunkline", author: { user: { name: "member agent" } } },
    ]);
    expect((await mcp.call("search", { q: "quixotic" })).data.results).toHaveLength(2);
    expect((await mcp.call("search", { q: "quixotic", kinds: ["boards"] })).data.statusCode).toBe(400);
  });

  it("repeat a write under its requestId once and say so", async () => {
    const input = { title: "Once only", requestId: "1" };
    const first = await mcp.call("create_card", input);
    const second = await mcp.call("create_card", input);
    expect(second.data).toEqual(first.data);
    expect([first.text, second.text]).toEqual([
      "The card is created.",
      expect.stringMatching(/^This is the stored response to an earlier call with this requestId/),
    ]);
    const other = await mcp.call("create_card", { ...input, title: "Another" });
    expect(other).toMatchObject({ isError: true, data: { statusCode: 409 } });
  });

  it("read pages, the inbox and lists in parts", async () => {
    const titles = ["One", "Two", "Three"];
    for (const title of titles) await board.api.post("/v1/docs", { title, body: `# ${title}` });
    const first = await mcp.call("read_page", { limit: 2 });
    expect(first.data.items.map(({ title }: { title: string }) => title)).toEqual(["One", "Two"]);
    const { data: rest } = await mcp.call("read_page", { limit: 2, cursor: first.data.nextCursor });
    expect(rest).toMatchObject({ items: [{ title: "Three" }], nextCursor: null });
    const { data: page } = await mcp.call("read_page", { docId: rest.items[0].id });
    expect(page).toMatchObject({ body: "# Three", source: "trunkline", createdBy: expect.any(String) });
    expect((await mcp.call("inbox")).data).toMatchObject({ nextCursor: null });
  });

  it("show the newest items of a long timeline", async () => {
    const { number } = await board.api.card();
    for (let at = 1; at <= 35; at++) await board.api.post(`/v1/cards/${number}/comments`, { body: `${at}` });
    const { data } = await mcp.call("get_card", { number });
    const bodies = data.timeline.map(({ body }: { body: string }) => body);
    expect(bodies).toEqual(Array.from({ length: 30 }, (_, at) => `${at + 6}`));
  });

  it.each([
    ["an unknown argument", { number: 1, force: true }, 400],
    ["a wrong type", { number: "one" }, 400],
    ["a wrong option", { number: 1, live: "yes" }, 400],
    ["no card", {}, 400],
    ["half a character", { number: "\ud800" }, 400],
    ["an object", { number: { toString: 1 } }, 400],
    ["a card that does not exist", { number: 4711 }, 404],
  ])("refuse %s as an error that a model can correct", async (_, input, statusCode) => {
    const { isError, data } = await mcp.call("get_card", input);
    expect([isError, data.statusCode]).toEqual([true, statusCode]);
  });

  it.each([{}, { requestId: "with space" }, { requestId: "" }, { requestId: 7 }])(
    "refuse a write with %j as requestId",
    async (input) => {
      const { isError, data } = await mcp.call("create_card", { title: "No id", ...input });
      expect([isError, data.issues]).toEqual([
        true,
        [{ path: "requestId", message: expect.stringContaining("1 to 200 characters") }],
      ]);
    },
  );

  it("refuse an unknown tool with the error -32602 of JSON-RPC", async () => {
    await expect(mcp.call("drop_board")).rejects.toMatchObject({ code: -32602 });
    await expect(mcp.write("freeze_release")).rejects.toMatchObject({ code: -32602 });
  });
});
