import { describe, expect, it } from "@jest/globals";
import { v7 as uuidv7 } from "uuid";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import { setMembership } from "../../src/store/tenancy/memberships.ts";
import { upsertForgeUser } from "../../src/store/tenancy/users.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();

interface Member {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: string | null;
  readonly kind: string;
  readonly role: string;
}

describe("the members of a board", () => {
  it("are listed oldest first with their roles, for a viewer", async () => {
    const board = await world.board();
    const { db } = world.service.deps;
    const account = { forgeId: 4711, login: "lovelace", avatarUrl: "https://x.test/a.png", isBot: false };
    const person = await upsertForgeUser(db, account, "human", uuidv7());
    await setMembership(db, { workspaceId: board.workspaceId, userId: person.id, role: "member" });
    const reader = await board.as({ role: "viewer", scopes: ["read"] });
    const found = await reader.get<Member[]>("/v1/members");
    expect(found.status).toBe(200);
    expect(found.body).toEqual([
      {
        id: expect.any(String),
        name: "maintainer agent",
        avatarUrl: null,
        kind: "machine",
        role: "maintainer",
      },
      {
        id: person.id,
        name: "lovelace",
        avatarUrl: "https://x.test/a.png",
        kind: "human",
        role: "member",
      },
      { id: expect.any(String), name: "viewer agent", avatarUrl: null, kind: "machine", role: "viewer" },
    ]);
  });

  it("do not include a revoked credential; its cards keep it, and it gets no others", async () => {
    const board = await world.board();
    const agent = await board.as({ role: "member" });
    const list = async () => (await board.api.get<Member[]>("/v1/members")).body;
    const id = (await list()).find(({ name }) => name === "member agent")?.id;
    const { number } = await board.api.card({ assigneeId: id });
    await revokeCredential(world.service.deps.db, agent.apiKey.split("_")[1] ?? "");
    expect((await list()).map(({ name }) => name)).toEqual(["maintainer agent"]);
    expect(await board.api.readCard(number)).toMatchObject({ assignee: { id } });
    for (const refused of [
      await board.api.post("/v1/cards", { title: "x", assigneeId: id }),
      await board.api.patch(`/v1/cards/${(await board.api.card()).number}`, { assigneeId: id }),
    ]) {
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "body.assigneeId" }] } });
    }
  });

  it("keep their position when their role changes", async () => {
    const board = await world.board();
    await board.as({ role: "member" });
    const list = async () => (await board.api.get<Member[]>("/v1/members")).body;
    const [first] = await list();
    await setMembership(world.service.deps.db, {
      workspaceId: board.workspaceId,
      userId: first?.id ?? "",
      role: "viewer",
    });
    expect((await list()).map(({ role }) => role)).toEqual(["viewer", "member"]);
  });

  it("can be assignees of cards", async () => {
    const board = await world.board();
    const [member] = (await board.api.get<Member[]>("/v1/members")).body;
    const created = await board.api.post("/v1/cards", { title: "Theirs", assigneeId: member?.id });
    const { role: _role, ...user } = member as Member;
    expect(created).toMatchObject({ status: 201, body: { assignee: user } });
  });

  // Contract: Authentication: The API cannot add members or change roles
  it("can be neither added nor changed through the API", async () => {
    const board = await world.board();
    const [member] = (await board.api.get<Member[]>("/v1/members")).body;
    const path = `/v1/members/${member?.id}`;
    const tries = [
      await board.api.post("/v1/members", { login: "ada", role: "maintainer" }),
      await board.api.patch(path, { role: "viewer" }),
      await board.api.put(path, { role: "viewer" }),
      await board.api.delete(path),
    ];
    expect(tries.map(({ status }) => status)).toEqual([405, 404, 404, 404]);
    expect((await board.api.get<Member[]>("/v1/members")).body).toEqual([member]);
  });

  it("are those of this board only, without other accounts that GitHub has shown", async () => {
    const [board, other] = [await world.board(), await world.board()];
    const ids = async (api = board.api) => (await api.get<Member[]>("/v1/members")).body.map(({ id }) => id);
    expect(await ids()).toHaveLength(1);
    expect(await ids(other.api)).not.toEqual(await ids());
  });
});
