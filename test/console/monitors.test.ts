import { createHmac, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { createMonitor } from "../../src/actions/boards/monitors.ts";
import { signedIn, type Person } from "../support/console/people.ts";
import { readInbox } from "../support/inbox.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

interface Created {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly url: string;
  readonly secret: string;
}

const world = useWorld();
let board: TestBoard;
let lead: Person;
beforeAll(async () => {
  board = await world.board();
  lead = await signedIn(world, [board], "maintainer");
});

const PATH = "/console/v1/monitors";
const create = (person: Person, body: object, key = `monitor-${randomUUID()}`) =>
  person.browser.write("POST", PATH, body, { "idempotency-key": key });
const created = async (name: string): Promise<Created> =>
  (await create(lead, { projectId: board.projectId, name })).body as Created;
const listed = async (person = lead): Promise<readonly Record<string, unknown>[]> =>
  (await person.browser.get(PATH)).body as Record<string, unknown>[];

const report = async ({ url }: Pick<Created, "url">, secret: string): Promise<number> => {
  const body = JSON.stringify({
    fingerprint: randomUUID(),
    title: "Checkout fails",
    url: "https://e.example",
  });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "sentry-hook-signature": signature };
  return (await fetch(url, { method: "POST", headers, body })).status;
};

describe("a monitor of the console", () => {
  it("reports to the inbox with the secret that only its creation shows", async () => {
    const monitor = await created("Checkout");
    expect(monitor).toEqual({
      id: expect.any(String),
      name: "Checkout",
      projectId: board.projectId,
      url: `${world.service.baseUrl}/monitors/${monitor.id}`,
      secret: expect.stringMatching(/^tlm_/),
    });
    expect([await report(monitor, monitor.secret), await report(monitor, "another")]).toEqual([202, 401]);
    expect((await readInbox(board.api)).map(({ kind }) => kind)).toContain("error_reported");
    const { secret, ...shown } = monitor;
    expect(await listed()).toContainEqual({
      ...shown,
      createdBy: expect.objectContaining({ name: lead.login }),
      createdAt: expect.any(String),
      stoppedAt: null,
    });
    expect(JSON.stringify(await listed())).not.toContain(secret);
  });

  it("is the same as one of the command line", async () => {
    const line = commandLineOf(world, { PUBLIC_URL: world.service.baseUrl });
    const made = await line.run([
      "monitor",
      "create",
      "--name",
      "Cli",
      "--project",
      board.projectId,
      "--json",
    ]);
    const { id } = JSON.parse(made.stdout) as Created;
    expect(await listed()).toContainEqual(expect.objectContaining({ id, name: "Cli" }));
    const mine = await created("Mine");
    const all = JSON.parse((await line.run(["monitor", "list", "--json"])).stdout) as Created[];
    expect(all).toContainEqual(expect.objectContaining({ id: mine.id, name: "Mine" }));
  });

  it("is created once if the call is repeated, and then returns the same secret", async () => {
    const key = `monitor-${randomUUID()}`;
    const body = { projectId: board.projectId, name: "Repeated" };
    const [first, again] = [await create(lead, body, key), await create(lead, body, key)];
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers.get("idempotent-replay")).toBe("true");
    expect((await listed()).filter(({ name }) => name === "Repeated")).toHaveLength(1);
  });

  it("accepts no reports after it is removed; what it reported stays", async () => {
    const monitor = await created("Short");
    expect(await report(monitor, monitor.secret)).toBe(202);
    const before = (await readInbox(board.api)).length;
    const removed = await lead.browser.write("DELETE", `${PATH}/${monitor.id}`);
    expect(removed.status).toBe(204);
    expect(await report(monitor, monitor.secret)).toBe(404);
    expect(await readInbox(board.api)).toHaveLength(before);
    expect((await lead.browser.write("DELETE", `${PATH}/${monitor.id}`)).status).toBe(404);
  });

  it("has its secret replaced by a maintainer, and one of the operator has no creator", async () => {
    const monitor = await created("Rotated");
    const { status, body } = await lead.browser.write("POST", `${PATH}/${monitor.id}/rotate`);
    const rotated = body as Created;
    expect([status, rotated]).toEqual([200, { ...monitor, secret: expect.stringMatching(/^tlm_/) }]);
    expect([await report(monitor, monitor.secret), await report(monitor, rotated.secret)]).toEqual([
      401, 202,
    ]);
    const { id } = await createMonitor(world.service.deps, {
      projectId: board.projectId,
      name: "Operator's",
    });
    expect(await listed()).toContainEqual(expect.objectContaining({ id, createdBy: null }));
  });

  it("is in the audit log, without its secret", async () => {
    const monitor = await created("Audited");
    await lead.browser.write("DELETE", `${PATH}/${monitor.id}`);
    const { text } = await lead.api.get("/v1/audit");
    expect(text).toContain("POST /console/v1/monitors");
    expect(text).toContain("DELETE /console/v1/monitors/{monitorId}");
    expect(text).not.toContain(monitor.secret);
  });

  it.each([
    ["no name", { name: "  " }, /name/],
    ["a long name", { name: "x".repeat(81) }, /80 characters/],
    ["an unknown field", { name: "x", secret: "mine" }, /unknown field/],
  ])("is refused with %s", async (_, fields, message) => {
    const refused = await create(lead, { projectId: board.projectId, ...fields });
    expect([refused.status, refused.text]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe("the monitors of a board", () => {
  it("are out of reach for another board's maintainer", async () => {
    const monitor = await created("Ours");
    const theirs = await world.board();
    const other = await signedIn(world, [theirs], "maintainer");
    expect(await listed(other)).toEqual([]);
    expect((await other.browser.write("DELETE", `${PATH}/${monitor.id}`)).status).toBe(404);
    expect((await other.browser.write("POST", `${PATH}/${monitor.id}/rotate`)).status).toBe(404);
    const planted = await create(other, { projectId: board.projectId, name: "Planted" });
    expect([planted.status, planted.text]).toEqual([404, expect.stringContaining("no project with this id")]);
    expect((await listed()).map(({ name }) => name)).not.toContain("Planted");
    expect(await report(monitor, monitor.secret)).toBe(202);
  });

  it.each(["viewer", "member"] as const)("are for maintainers, not for a %s", async (role) => {
    const person = await signedIn(world, [board], role);
    const monitor = await created(`Not for a ${role}`);
    const refusals = [
      await person.browser.get(PATH),
      await create(person, { projectId: board.projectId, name: "x" }),
      await person.browser.write("POST", `${PATH}/${monitor.id}/rotate`),
      await person.browser.write("DELETE", `${PATH}/${monitor.id}`),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect((await listed()).map(({ id }) => id)).toContain(monitor.id);
  });
});
