import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { Attempt } from "../../console/api/schema.d.ts";
import { readAudit } from "../audit/support/read-audit.ts";
import { eventually } from "../support/api.ts";
import { newMember, signedIn, type Person } from "../support/console/people.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let lead: Person;
beforeAll(async () => {
  board = await world.board();
  lead = await signedIn(world, [board], "maintainer");
});

const list = async (query = "", person = lead): Promise<readonly Attempt[]> => {
  const { status, body } = await person.browser.get(`/console/v1/audit/attempts?order=desc${query}`);
  expect(status).toBe(200);
  return body as readonly Attempt[];
};

/** The names of the newest attempt of an action. */
const namesOf = async (action: string) =>
  (await list(`&action=${encodeURIComponent(action)}&limit=1`))[0]?.names;
const write = (method: string, path: string, body?: unknown) =>
  lead.browser.write(method, `/console/v1${path}`, body);
const idOf = ({ body }: { readonly body: unknown }) => (body as { readonly id: string }).id;

describe("the names of attempts", () => {
  it("are those of the card and the stage of a move, also of a refused one", async () => {
    const { number } = await board.api.card({ title: "Say hello", statusId: board.stages["To do"] });
    const card = { number, title: "Say hello", isDeleted: false };
    expect(await namesOf("POST /v1/cards")).toEqual({ card, subject: null, to: "To do", refused: 0 });
    expect((await board.api.move(number, board.stages["Done"])).status).toBe(409);
    expect(await namesOf("/move")).toEqual({ card, subject: null, to: "Done", refused: 0 });
    await board.api.move(number, board.stages["In progress"]);
    expect(await namesOf("/move")).toMatchObject({ to: "In progress" });
    await board.api.delete(`/v1/cards/${number}`);
    expect(await namesOf("DELETE /v1/cards/{number}")).toMatchObject({ card: { number, isDeleted: true } });
    await board.api.delete("/v1/cards/4711");
    expect(await namesOf("DELETE /v1/cards/{number}")).toMatchObject({
      card: { number: 4_711, title: null },
    });
  });

  it("are those of the time, and those of now where the feed has no event", async () => {
    const created = await board.api.post<{ id: string }>("/v1/labels", { name: "urgent" });
    expect((await namesOf("POST /v1/labels"))?.subject).toBe("urgent");
    await board.api.patch(`/v1/labels/${created.body.id}`, { name: "soon" });
    expect((await namesOf("POST /v1/labels"))?.subject).toBe("urgent");
    await board.db("events").where({ workspace_id: board.workspaceId, kind: "label_changed" }).delete();
    expect((await namesOf("PATCH /v1/labels/{labelId}"))?.subject).toBe("soon");
    await board.api.delete(`/v1/labels/${created.body.id}`);
    expect((await namesOf("DELETE /v1/labels/{labelId}"))?.subject).toBe("soon");
    expect((await namesOf("PATCH /v1/labels/{labelId}"))?.subject).toBeNull();
  });

  it("are those of pages, releases, webhooks, monitors and projects", async () => {
    const page = await write("POST", "/docs", { title: "Handbook" });
    await write("DELETE", `/docs/${idOf(page)}`);
    expect((await namesOf("DELETE /v1/docs/{docId}"))?.subject).toBe("Handbook");
    const release = await write("POST", "/releases", { name: "1.0" });
    await write("POST", `/releases/${idOf(release)}/pick`, { taskNumber: 4_711 });
    expect((await namesOf("/pick"))?.subject).toBe("1.0");
    const webhook = await write("POST", "/webhooks", { url: "https://hooks.example.com/secret?token=1" });
    await write("PATCH", `/webhooks/${idOf(webhook)}`, { paused: true });
    expect((await namesOf("PATCH /v1/webhooks/{id}"))?.subject).toBe("hooks.example.com");
    const monitor = await write("POST", "/monitors", { projectId: board.projectId, name: "Errors" });
    expect(monitor.status).toBe(201);
    await write("PATCH", `/projects/${board.projectId}`, { name: "Website" });
    expect((await namesOf("PATCH /v1/projects/{projectId}"))?.subject).toBe("Website");
  });

  it("count the cards that a promotion refused", async () => {
    const { number } = await board.api.card({ title: "Too early", statusId: board.stages["To do"] });
    const release = await write("POST", "/releases", { name: "1.1" });
    await write("PUT", `/releases/${idOf(release)}/cards`, { taskNumbers: [number] });
    const promoted = await write("POST", `/releases/${idOf(release)}/promote`, {
      statusId: board.stages["Done"],
    });
    expect(promoted.body).toMatchObject({ promoted: [], refused: [{ number }] });
    expect(await namesOf("/promote")).toMatchObject({ subject: "1.1", to: "Done", refused: 1 });
  });

  it("are those of members, invitations, agents and keys, also after their end", async () => {
    const { login } = await newMember(world, [board]);
    const people = (await lead.browser.get("/console/v1/people")).body as { id: string; login: string }[];
    const id = people.find((each) => each.login === login)?.id ?? "";
    const key = await write("POST", "/credentials", {
      name: "deploy-bot",
      role: "viewer",
      scopes: ["read"],
      expiresInDays: 1,
    });
    expect((await namesOf("POST /console/v1/credentials"))?.subject).toBe("deploy-bot");
    await write("DELETE", `/credentials/${idOf(key)}`);
    expect((await namesOf("DELETE /console/v1/credentials/{id}"))?.subject).toBe("deploy-bot");
    await write("PATCH", `/members/${id}`, { from: "member", role: "viewer" });
    expect(await namesOf("PATCH /console/v1/members/{userId}")).toMatchObject({
      subject: login,
      to: "viewer",
    });
    await write("DELETE", `/members/${id}`);
    expect((await namesOf("DELETE /console/v1/members/{userId}"))?.subject).toBe(login);
    const agent = await write("POST", "/agents", { login, ownerId: null });
    await write("PATCH", `/agents/${idOf(agent)}`, { ownerId: null });
    expect((await namesOf("PATCH /console/v1/agents/{userId}"))?.subject).toBe(login);
  });

  it("never come from another board", async () => {
    const there = await world.board();
    const other = await signedIn(world, [there], "maintainer");
    const { body: session } = await other.browser.get("/console/session");
    const label = await there.api.post<{ id: string }>("/v1/labels", { name: "theirs" });
    const theirs = {
      "DELETE /v1/labels/{labelId}": `/labels/${label.body.id}`,
      "DELETE /v1/projects/{projectId}": `/projects/${there.projectId}`,
      "DELETE /console/v1/members/{userId}": `/members/${(session as { user: { id: string } }).user.id}`,
    };
    for (const [action, path] of Object.entries(theirs)) {
      expect((await write("DELETE", path)).status).toBe(404);
      expect(await namesOf(action)).toEqual({ card: null, subject: null, to: null, refused: 0 });
    }
    expect(JSON.stringify(await list("", other))).not.toContain("deploy-bot");
  });
});

describe("the list of attempts", () => {
  it("has the rows of the export, in pages", async () => {
    await board.api.delete(`/v1/cards/${randomUUID()}`);
    // The hash of an attempt is added after its end.
    const exported = await eventually(
      () => readAudit(board.api, "?order=desc"),
      (entries) => entries.every(({ hash }) => hash !== null),
    );
    const [first, second] = [await list("&limit=3"), await list("&limit=3&outcome=failure")];
    expect(first.map(({ names: _names, ...entry }) => entry)).toEqual(exported.slice(0, 3));
    const failed = exported.filter(({ outcome }) => outcome.problem !== null);
    expect(second.map(({ id }) => id)).toEqual(failed.slice(0, 3).map(({ id }) => id));
    const page = await lead.browser.get("/console/v1/audit/attempts?order=desc&limit=3");
    const [, next = ""] = /<([^>]+)>; rel="next"/.exec(page.headers.get("link") ?? "") ?? [];
    const following = (await lead.browser.get(next)).body as readonly Attempt[];
    expect(following.map(({ id }) => id)).toEqual(exported.slice(3, 6).map(({ id }) => id));
  });
});
