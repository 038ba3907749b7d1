import { beforeAll, describe, expect, it } from "@jest/globals";
import { boardCalls } from "../support/routes.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let one: TestBoard;
let two: TestBoard;
let foreign: TestBoard;
beforeAll(async () => {
  one = await world.board();
  two = await world.board();
  foreign = await world.board();
});

const on = (workspaceId: string) => ({ headers: { "x-service-workspace": workspaceId } });
describe("the workspace header", () => {
  // Contract: Authentication: `X-Service-Workspace` names the board; optional for a single board
  it("is optional if the credential reaches one board", async () => {
    await one.api.card({ title: "On one" });
    const api = await one.as({});
    const backlog = await api.get<{ title: string }[]>("/v1/backlog");
    expect(backlog.status).toBe(200);
    expect(backlog.body.map(({ title }) => title)).toContain("On one");
    expect((await api.get("/v1/backlog", on(""))).status).toBe(200);
  });

  // Contract: Authentication: `X-Service-Workspace` names the board; optional for a single board
  it("names the board if the credential reaches several", async () => {
    const api = await one.as({ boards: [one, two] });
    const created = await api.post("/v1/cards", { title: "On two" }, on(two.workspaceId));
    expect(created).toMatchObject({ status: 201, body: { projectId: two.projectId } });
    const titles = async (workspaceId: string) =>
      (await api.get<{ title: string }[]>("/v1/backlog", on(workspaceId))).body.map(({ title }) => title);
    expect(await titles(two.workspaceId)).toContain("On two");
    expect(await titles(one.workspaceId)).not.toContain("On two");
  });

  it("accepts an id in upper and lower case", async () => {
    const api = await one.as({ boards: [one, two] });
    expect((await api.get("/v1/board", on(two.workspaceId.toUpperCase()))).status).toBe(200);
  });

  const refusals: [string, () => string | undefined, RegExp][] = [
    ["left out", () => undefined, /^Name the board in the X-Service-Workspace header\./],
    ["empty", () => "", /^Name the board/],
    ["a name", () => one.owner, /takes a workspace id, not a name or slug/],
    ["a number", () => "1", /takes a workspace id/],
    ["two ids", () => `${one.workspaceId}, ${two.workspaceId}`, /takes a workspace id/],
    ["an id that is not reached", () => foreign.workspaceId, /no access to the workspace/],
    [
      "an id of an unknown version",
      () => "11111111-1111-1111-1111-111111111111",
      /no access to the workspace/,
    ],
    ["an id that does not exist", () => UNKNOWN_ID, /no access to the workspace/],
    ["the id of something else", () => one.projectId, /no access to the workspace/],
  ];
  // Contract: Authentication: With several boards, a missing or wrong workspace id is 400 with the reachable ids
  it.each(refusals)(
    "%s is refused with the list of boards if the credential reaches several",
    async (_, header, why) => {
      const api = await one.as({ boards: [one, two] });
      const value = header();
      const refused = await api.get("/v1/board", value === undefined ? {} : on(value));
      expect(refused).toMatchObject({ status: 400, body: { error: "Bad Request", statusCode: 400 } });
      expect(refused.body["message"]).toMatch(why);
      expect(refused.body["message"]).toContain(one.workspaceId);
      expect(refused.body["message"]).toContain(two.workspaceId);
      expect(Object.keys(refused.body).toSorted()).toEqual(["error", "message", "statusCode"]);
    },
  );

  it("gets the same message for another board's id as for an unknown one", async () => {
    const api = await one.as({});
    const results = await Promise.all(
      [foreign.workspaceId, UNKNOWN_ID].map(async (id) => {
        const { status, text } = await api.get("/v1/board", on(id));
        return { status, text: text.replaceAll(id, "ID") };
      }),
    );
    expect(results[0]).toEqual(results[1]);
  });

  it("is refused with another message if the credential reaches no board", async () => {
    const api = await one.as({ boards: [] });
    for (const options of [{}, on(one.workspaceId), on("name")]) {
      const refused = await api.get("/v1/board", options);
      expect(refused.status).toBe(400);
      expect(refused.body["message"]).toContain("You have access to no board.");
    }
  });

  it.each(boardCalls.map((sample) => [sample.name, sample] as const))(
    "is checked by %s before the scope and the idempotency key",
    async (_, { method, path }) => {
      const reader = await one.as({ role: "viewer", scopes: ["read"], boards: [one, two] });
      const response = await fetch(`${one.api.baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${reader.apiKey}`, "x-service-workspace": foreign.workspaceId },
      });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain("no access to the workspace");
    },
  );
});
