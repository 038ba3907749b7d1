import { beforeAll, describe, expect, it } from "@jest/globals";
import type { Api, ApiResponse } from "../support/api.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

interface ListedCard {
  readonly number: number;
  readonly title: string;
  readonly statusId: string;
  readonly updatedAt: string;
}

const nextOf = (response: ApiResponse): string =>
  /^<([^>]+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1] ?? "";

async function list(api: Api, query: string): Promise<ListedCard[]> {
  const response = await api.get<ListedCard[]>(`/v1/cards?${query}`);
  if (response.status !== 200) throw new Error(response.text);
  return response.body;
}
const numbers = async (api: Api, query = ""): Promise<number[]> =>
  (await list(api, query)).map(({ number }) => number);

/** All pages, with a change after each. */
async function pagesOf(api: Api, query: string, between: (page: number) => Promise<unknown>) {
  const cards: ListedCard[] = [];
  let page = 0;
  for (let next = `/v1/cards?limit=2&${query}`; next !== "";) {
    const response = await api.get<ListedCard[]>(next);
    expect(response.status).toBe(200);
    cards.push(...response.body);
    next = nextOf(response);
    page += 1;
    if (page > 30) throw new Error("the pages do not end");
    await between(page);
  }
  return cards.map(({ number }) => number);
}

const create = async (api: Api, path: string, fields: object): Promise<string> =>
  (await api.post<{ id: string }>(path, fields)).body.id;

describe("the filters of GET /v1/cards", () => {
  let board: TestBoard;
  let api: Api;
  let member: Api;
  let memberId: string;
  let label: string;
  let feature: string;
  let otherProject: string;
  beforeAll(async () => {
    board = await world.board();
    ({ api } = board);
    member = await board.as({ role: "member" });
    label = await create(api, "/v1/labels", { name: "bug" });
    feature = await create(api, "/v1/features", { name: "Search" });
    otherProject = await create(api, "/v1/projects", { name: "Other" });
    const { projectId, stages, db } = board;
    const { createdBy } = (
      await member.post<{ createdBy: { id: string } }>("/v1/cards", {
        title: "Sharpen the saw",
        projectId,
      })
    ).body;
    memberId = createdBy.id;
    await db("users").where({ id: memberId }).update({ login: "Saw-Owner" });
    const cards = [
      { title: "Oil the hinge", labelIds: [label], assigneeId: memberId, statusId: stages["To do"] },
      { title: "Paint the door", description: "Blue, like the hinge", labelIds: [label], featureId: feature },
      { title: "Größe der Tür prüfen", featureId: feature, assigneeId: memberId },
      { title: "Sand the door", projectId: otherProject },
    ];
    for (const fields of cards) await api.card({ projectId, repositoryIds: [], ...fields });
    await db("cards")
      .where({ workspace_id: board.workspaceId, number: 3 })
      .update({
        blocked: JSON.stringify({
          reason: "unknown",
          message: "No.",
          repository: "acme/web",
          reasons: [{ reason: "unknown", message: "No.", repository: "acme/web", details: {} }],
          statusId: stages.Done,
          headSha: null,
          at: "2026-01-01T00:00:00.000Z",
        }),
      });
  });

  it("are optional: without them the list has all cards of the board by number", async () => {
    expect(await numbers(api)).toEqual([1, 2, 3, 4, 5]);
  });

  it.each<[string, () => string, number[]]>([
    ["a stage", () => `statusId=${board.stages["To do"]}`, [2]],
    ["a label", () => `label=${label}`, [2, 3]],
    ["a feature", () => `feature=${feature.toUpperCase()}`, [3, 4]],
    ["a project", () => `projectId=${otherProject}`, [5]],
    ["an assignee's id", () => `assignee=${memberId}`, [2, 4]],
    ["an assignee's login in any case", () => "assignee=saw-owner", [2, 4]],
    ["no assignee", () => "assignee=none", [1, 3, 5]],
    ["blocked cards", () => "blocked=1", [3]],
    ["cards that are not blocked", () => "blocked=0", [1, 2, 4, 5]],
    ["words of title or description", () => "q=hinge", [2, 3]],
    ["all words", () => "q=blue%20door", [3]],
    ["words in another case and normalization", () => `q=${encodeURIComponent("GRÖßE")}`, [4]],
    ["a number with #", () => "q=%235", [5]],
    ["a number", () => "q=5", [5]],
    ["a number that no card has", () => "q=77", []],
    ["no words", () => `q=${encodeURIComponent("!?&|")}`, []],
    ["label and feature", () => `label=${label}&feature=${feature}`, [3]],
    ["assignee and feature", () => `assignee=${memberId}&feature=${feature}`, [4]],
    [
      "label, stage, assignee and words",
      () => `label=${label}&statusId=${board.stages["To do"]}&assignee=${memberId}&q=oil`,
      [2],
    ],
    ["what no card has together", () => `label=${label}&projectId=${otherProject}`, []],
    [
      "everything at once",
      () =>
        `label=${label}&feature=${feature}&blocked=1&assignee=none&q=door&projectId=${board.projectId}&statusId=${board.stages.Backlog}&sort=board`,
      [3],
    ],
  ])("find cards by %s", async (_, query, expected) => {
    expect(await numbers(api, query())).toEqual(expected);
  });

  it("accept @me for the credential itself", async () => {
    expect(await numbers(member, "assignee=@me")).toEqual([2, 4]);
    expect(await numbers(api, "assignee=@me")).toEqual([]);
  });

  it("find the cards of a member who has left, and refuse a user without cards", async () => {
    const own = await world.board();
    const leaver = await own.as({ role: "member" });
    const { id } = (await leaver.post<{ createdBy: { id: string } }>("/v1/cards", { title: "x" })).body
      .createdBy;
    await own.api.patch("/v1/cards/1", { assigneeId: id });
    await own.db("memberships").where({ user_id: id }).delete();
    expect(await numbers(own.api, `assignee=${id}`)).toEqual([1]);
    await own.api.patch("/v1/cards/1", { assigneeId: null });
    expect((await own.api.get(`/v1/cards?assignee=${id}`)).status).toBe(404);
  });

  it("show each card as GET of the card does, without its position", async () => {
    for (const listed of await list(api, "")) {
      const { position: _, ...card } = await api.readCard(listed.number);
      expect(listed).toEqual(card);
    }
  });

  it.each(["statusId", "label", "feature", "projectId", "assignee"])(
    "return 404 for a %s that the board does not have",
    async (field) => {
      const other = await world.board();
      const { id: card, createdBy } = (
        await other.api.post<{ id: string; createdBy: { id: string } }>("/v1/cards", { title: "x" })
      ).body;
      const theirs: Record<string, string> = {
        statusId: other.stages["To do"],
        label: await create(other.api, "/v1/labels", { name: "bug" }),
        feature: await create(other.api, "/v1/features", { name: "x" }),
        projectId: other.projectId,
        assignee: createdBy.id,
      };
      for (const value of [theirs[field], card, UNKNOWN_ID]) {
        const response = await api.get(`/v1/cards?${field}=${value}`);
        expect([response.status, response.body]).toEqual([
          404,
          expect.objectContaining({ message: expect.stringMatching(/on this board/) }),
        ]);
      }
    },
  );

  it.each([
    ["statusId", "To do"],
    ["label", "bug"],
    ["feature", ""],
    ["projectId", "%00"],
    ["assignee", ""],
    ["assignee", "%00"],
    ["assignee", "a".repeat(101)],
    ["blocked", "true"],
    ["blocked", ""],
    ["sort", "title"],
    ["sort", "number,updated"],
    ["q", ""],
    ["q", "%00"],
    ["q", "x".repeat(501)],
    ["q", "a&q=b"],
  ])("return 400 for %s=%s and name it", async (field, value) => {
    const response = await api.get(`/v1/cards?${field}=${value}`);
    expect(response).toMatchObject({ status: 400, body: { issues: [{ path: `query.${field}` }] } });
  });

  it("return 400 for an unknown filter and list the known ones", async () => {
    const { status, body } = await api.get("/v1/cards?status=x");
    expect([status, body["message"]]).toEqual([400, expect.stringContaining("statusId, label, feature")]);
  });
});

describe("the order of GET /v1/cards", () => {
  it("is by number, last change or place on the board", async () => {
    const { api, stages } = await world.board();
    for (const title of ["one", "two", "three", "four"]) await api.card({ title, repositoryIds: [] });
    for (const number of [1, 3, 4]) await api.move(number, stages["To do"]);
    await api.patch("/v1/cards/2", { title: "changed" });
    expect(await numbers(api, "sort=number")).toEqual([1, 2, 3, 4]);
    expect(await numbers(api, "sort=-number")).toEqual([4, 3, 2, 1]);
    expect(await numbers(api, "sort=updated")).toEqual([1, 3, 4, 2]);
    expect(await numbers(api, "sort=-updated")).toEqual([2, 4, 3, 1]);
    expect(await numbers(api, "sort=board")).toEqual([2, 4, 3, 1]);
  });

  it("is the same in pages of any size, also for cards that changed at the same time", async () => {
    const own = await world.board();
    const other = await create(own.api, "/v1/projects", { name: "Other" });
    for (let at = 0; at < 9; at += 1) {
      await own.api.card({ repositoryIds: [], projectId: at % 4 === 0 ? other : own.projectId });
    }
    await own.db("cards").where({ workspace_id: own.workspaceId }).where("number", "<", 7).update({
      updated_at: "2026-01-01T00:00:00.123456Z",
    });
    for (const sort of ["number", "-number", "updated", "-updated", "board"]) {
      const whole = await numbers(own.api, `sort=${sort}`);
      expect(whole.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(await pagesOf(own.api, `sort=${sort}`, () => Promise.resolve())).toEqual(whole);
    }
  });

  it("does not accept a cursor of another order or a forged one", async () => {
    const { api } = await world.board();
    for (const title of ["one", "two", "three"]) await api.card({ title });
    const cursorOf = async (sort: string): Promise<string> =>
      new URL(nextOf(await api.get(`/v1/cards?limit=1&sort=${sort}`)), api.baseUrl).searchParams.get(
        "cursor",
      ) ?? "";
    const forged = (key: unknown) => Buffer.from(JSON.stringify(["/v1/cards", key])).toString("base64url");
    const cursors = [
      ["-number", await cursorOf("number")],
      ["number", await cursorOf("board")],
      ["updated", await cursorOf("-updated")],
      ["number", forged(["number", 0])],
      ["number", forged(["number", 2 ** 31])],
      ["updated", forged(["updated", "0000-01-01T00:00:00.000000Z", 1])],
      ["updated", forged(["updated", "now", 1])],
      ["board", forged(["board", "x", 1, "a0"])],
      ["board", forged(["board", UNKNOWN_ID, 1, "a\0"])],
    ];
    for (const [sort, cursor] of cursors) {
      const response = await api.get(`/v1/cards?sort=${sort}&cursor=${cursor}`);
      expect(response).toMatchObject({ status: 400, body: { issues: [{ path: "query.cursor" }] } });
    }
  });
});

describe("the pages of GET /v1/cards", () => {
  it("have every card once while others are created, moved and deleted", async () => {
    const { api, stages } = await world.board();
    for (let at = 1; at <= 12; at += 1) await api.card({ title: `Card ${at}`, repositoryIds: [] });
    const seen = await pagesOf(api, "sort=number", async (page) => {
      if (page > 4) return;
      await api.card({ title: "New", repositoryIds: [] });
      await api.move(13 - page, stages["To do"]);
      await api.delete(`/v1/cards/${page}`);
      await api.delete(`/v1/cards/${13 - page - 4}`);
    });
    const deletedBeforeSeen = [8, 7];
    const expected = Array.from({ length: 16 }, (_, at) => at + 1).filter(
      (number) => !deletedBeforeSeen.includes(number),
    );
    expect(seen).toEqual(expected);
  });

  it("sorted by last change, have a card that changes meanwhile again at the end", async () => {
    const { api } = await world.board();
    for (let at = 1; at <= 6; at += 1) await api.card({ title: `Card ${at}`, repositoryIds: [] });
    const seen = await pagesOf(api, "sort=updated", async (page) => {
      if (page === 1) await api.patch("/v1/cards/1", { title: "Changed" });
      if (page === 2) await api.patch("/v1/cards/5", { title: "Changed" });
    });
    expect(seen).toEqual([1, 2, 3, 4, 6, 1, 5]);
  });

  it("continue in the order of the board after the last card was deleted or moved", async () => {
    const { api, stages } = await world.board();
    for (let at = 1; at <= 6; at += 1) await api.card({ title: `Card ${at}`, repositoryIds: [] });
    const seen = await pagesOf(api, "sort=board", async (page) => {
      if (page === 1) await api.delete("/v1/cards/2");
      if (page === 2) await api.move(4, stages.Done);
    });
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 4]);
  });

  it("keep the filters", async () => {
    const { api } = await world.board();
    for (let at = 1; at <= 6; at += 1) await api.card({ title: at % 2 === 0 ? "even" : "odd" });
    const nothing = () => Promise.resolve();
    expect(await pagesOf(api, "q=odd&assignee=none&sort=-number", nothing)).toEqual([5, 3, 1]);
  });
});
