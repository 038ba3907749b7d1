import { createHmac, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { createMonitor } from "../../src/actions/boards/monitors.ts";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { dropOldReports } from "../../src/store/ops/retention.ts";
import { commandLineOf } from "../support/processes/command-line.ts";
import { readInbox, type InboxItem } from "../support/inbox.ts";
import { untilWaitingForLock, whileLocked } from "../support/stories/locks.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let monitor: { readonly id: string; readonly secret: string };

/** A new board with a monitor. */
async function boardWithMonitor(): Promise<void> {
  board = await world.board();
  monitor = await createMonitor(world.service.deps, { projectId: board.projectId, name: "Production" });
}

const signed = (body: string | Uint8Array, secret = monitor.secret): string =>
  createHmac("sha256", secret).update(body).digest("hex");

interface Sent {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function send(
  report: unknown,
  headers: Readonly<Record<string, string>> = {},
  id = monitor.id,
): Promise<Sent> {
  const body = typeof report === "string" || report instanceof Uint8Array ? report : JSON.stringify(report);
  const response = await fetch(`${world.service.baseUrl}/monitors/${id}`, {
    method: "POST",
    headers: { "content-type": "application/json", "sentry-hook-signature": signed(body), ...headers },
    body: body as string | Uint8Array<ArrayBuffer>,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const inbox = async (of = board): Promise<readonly InboxItem[]> => readInbox(of.api);

const plain = (changes: object = {}): object => ({
  fingerprint: "checkout-500",
  title: "Checkout returns 500",
  url: "https://errors.example.com/groups/1",
  ...changes,
});

/** An issue alert from Sentry's documentation, with some fields that are not read. */
const alert = (event: object = {}): object => ({
  action: "triggered",
  actor: { id: "sentry", name: "Sentry", type: "application" },
  data: {
    event: {
      event_id: "e4874d664c3540c1a32eab185f12c5ab",
      issue_id: "1170820242",
      issue_url: "https://sentry.io/api/0/issues/1170820242/",
      datetime: "2026-05-04T10:00:00.000000Z",
      level: "error",
      platform: "javascript",
      title: "ReferenceError: blooopy is not defined",
      url: "https://sentry.io/api/0/projects/acme/web/events/e4874d664c3540c1a32eab185f12c5ab/",
      web_url:
        "https://sentry.io/organizations/acme/issues/1170820242/events/e4874d664c3540c1a32eab185f12c5ab/",
      ...event,
    },
    triggered_rule: "Errors in production",
  },
  installation: { uuid: "a8e5d37a-696c-4c54-adb5-b3f28d64c7de" },
});

const issueEvent = (action: string, issue: object = {}): object => ({
  action,
  data: {
    issue: {
      id: "1170820242",
      shortId: "WEB-1",
      title: "ReferenceError: blooopy is not defined",
      permalink: null,
      web_url: "https://sentry.io/organizations/acme/issues/1170820242/",
      ...issue,
    },
  },
});

describe("a report", () => {
  // Contract: Inbox: `error_reported`: a monitor reported an error; one item per group
  it("creates an inbox item in the monitor's project, and in no other", async () => {
    await boardWithMonitor();
    const otherBoard = await world.board();
    expect(await send(plain())).toEqual({ status: 202, body: { accepted: true } });
    expect(await inbox()).toEqual([
      {
        id: expect.any(String),
        kind: "error_reported",
        detail: "Checkout returns 500",
        projectId: board.projectId,
        card: null,
        repository: null,
        dismissible: true,
        at: expect.any(String),
        data: {
          monitorId: monitor.id,
          monitorName: "Production",
          fingerprint: "checkout-500",
          title: "Checkout returns 500",
          url: "https://errors.example.com/groups/1",
        },
      },
    ]);
    expect(await inbox(otherBoard)).toEqual([]);
  });

  // Contract: Inbox: `error_reported`: a monitor reported an error; one item per group
  it("of the same group updates its item; another group or monitor has its own item", async () => {
    await boardWithMonitor();
    await send(plain());
    const [first] = await inbox();
    await send(plain({ title: "Checkout returns 502" }));
    expect(await inbox()).toMatchObject([{ id: first?.id, detail: "Checkout returns 502" }]);
    await send(plain({ fingerprint: "login-500" }));
    const other = await createMonitor(world.service.deps, { projectId: board.projectId, name: "Staging" });
    const body = JSON.stringify(plain());
    await send(body, { "sentry-hook-signature": signed(body, other.secret) }, other.id);
    expect(await inbox()).toHaveLength(3);
  });

  it("that is sent concurrently creates one item", async () => {
    await boardWithMonitor();
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, at) => send(at % 2 ? alert() : plain())),
    );
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 202));
    expect((await inbox()).map(({ detail }) => detail).toSorted()).toEqual([
      "Checkout returns 500",
      "ReferenceError: blooopy is not defined",
    ]);
  });

  it("is dismissed by a member, and returns when the error is reported again", async () => {
    await boardWithMonitor();
    await send(plain());
    const [first] = await inbox();
    expect((await board.api.delete(`/v1/inbox/${first?.id}`)).status).toBe(204);
    expect(await inbox()).toEqual([]);
    await send(plain());
    const [again] = await inbox();
    expect(again?.id).not.toBe(first?.id);
  });

  it.each<[string, () => [object, Record<string, string>]]>([
    ["Sentry's event", () => [alert(), {}]],
    ["the sender's request id", () => [plain(), { "request-id": randomUUID() }]],
  ])("that is repeated with %s does not bring a dismissed item back", async (_, make) => {
    await boardWithMonitor();
    const [report, headers] = make();
    expect((await send(report, headers)).body).toEqual({ accepted: true });
    const [item] = await inbox();
    await board.api.delete(`/v1/inbox/${item?.id}`);
    expect(await send(report, headers)).toEqual({ status: 202, body: { accepted: false } });
    expect(await inbox()).toEqual([]);
    await world.service.deps
      .db("monitor_reports")
      .update({ received_at: new Date(Date.now() - 8 * 86_400_000) });
    await dropOldReports(world.service.deps.db);
    expect((await send(report, headers)).body).toEqual({ accepted: true });
  });
});

describe("Sentry's webhook", () => {
  it("has the same group for an issue alert and for the issue", async () => {
    await boardWithMonitor();
    expect(await send(alert(), { "sentry-hook-resource": "event_alert" })).toMatchObject({ status: 202 });
    const [item] = await inbox();
    expect(item).toMatchObject({
      kind: "error_reported",
      detail: "ReferenceError: blooopy is not defined",
      data: { fingerprint: "1170820242", url: expect.stringContaining("/events/e4874d66") },
    });
    await send(issueEvent("unresolved"), { "sentry-hook-resource": "issue" });
    expect(await inbox()).toMatchObject([
      { id: item?.id, data: { url: "https://sentry.io/organizations/acme/issues/1170820242/" } },
    ]);
  });

  it.each<[string, object, string]>([
    ["an issue that was resolved", issueEvent("resolved"), "issue"],
    ["an issue that was assigned", issueEvent("assigned"), "issue"],
    ["its installation", { action: "created", data: { installation: {} } }, "installation"],
    ["a comment", { action: "created", data: { comment: "x" } }, "comment"],
  ])("of %s is accepted and changes nothing", async (_, report, resource) => {
    await boardWithMonitor();
    const result = await send(report, { "sentry-hook-resource": resource });
    expect(result).toEqual({ status: 202, body: { accepted: false } });
    expect(await inbox()).toEqual([]);
  });

  it("with invalid characters and a very long title is shown with a valid, shorter title", async () => {
    await boardWithMonitor();
    const title = `NUL \0 half \uD83D ${"é".repeat(5_000)}`;
    expect((await send(alert({ title, issue_id: 7 }))).status).toBe(202);
    const [item] = await inbox();
    expect(item?.detail).toMatch(/^NUL {2}half {2}é+$/);
    expect(item?.detail).toHaveLength(500);
  });
});

describe("a report is refused", () => {
  beforeAll(boardWithMonitor);

  it.each<[string, Record<string, string>]>([
    ["without a signature", { "sentry-hook-signature": "" }],
    ["with another secret's signature", { "sentry-hook-signature": signedByAnother() }],
    [
      "with the signature in another header only",
      { "sentry-hook-signature": "", "x-hub-signature-256": "x" },
    ],
    ["with a truncated signature", { "sentry-hook-signature": "0".repeat(63) }],
  ])("%s: 401", async (_, headers) => {
    const refused = await send(plain(), headers);
    expect(refused).toMatchObject({ status: 401, body: { statusCode: 401 } });
    expect(refused.body["message"]).toContain("Sentry-Hook-Signature");
  });

  it("with one changed byte: 401", async () => {
    const text = JSON.stringify(plain());
    const headers = { "sentry-hook-signature": signed(text) };
    for (const altered of [`${text} `, text.replace("500", "501")])
      expect((await send(altered, headers)).status).toBe(401);
  });

  it.each(["01900000-0000-7000-8000-000000000000", "no-id", "%00"])(
    "for an unknown monitor (%s): 404",
    async (id) => {
      expect(await send(plain(), {}, id)).toMatchObject({ status: 404, body: { statusCode: 404 } });
    },
  );

  it.each<[string, unknown, string]>([
    ["that is not JSON", "fingerprint=x", "JSON"],
    ["that is not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "JSON"],
    ["that is a list", [], "body"],
    ["that is null", "null", "body"],
    ["without a fingerprint", plain({ fingerprint: undefined }), "body.fingerprint"],
    ["with a blank title", plain({ title: "  " }), "body.title"],
    ["with a title that is too long", plain({ title: "x".repeat(501) }), "body.title"],
    ["with an unknown field", plain({ titel: "x" }), "body.titel"],
    ["with a NUL", plain({ fingerprint: "a\0b" }), "NUL"],
    ["with a javascript: URL", plain({ url: "javascript:alert(1)" }), "http"],
    ["with a file: URL", plain({ url: "file:///etc/passwd" }), "http"],
    ["with a password in the URL", plain({ url: "https://a:b@errors.example.com/" }), "password"],
    ["with no address", plain({ url: "errors" }), "http"],
    ["of Sentry without an issue", { action: "triggered", data: {} }, "body.data"],
    [
      "of Sentry with an incomplete event",
      { action: "triggered", data: { event: { title: "x" } } },
      "issue_id",
    ],
    ["of Sentry with a javascript: URL", alert({ web_url: "javascript:alert(1)" }), "web_url"],
  ])("%s: 400, saying why", async (_, report, words) => {
    const refused = await send(report);
    expect(refused).toMatchObject({ status: 400, body: { statusCode: 400, error: "Bad Request" } });
    expect(refused.body["message"]).toContain(words);
  });

  it("of more than 1 MiB: 413, and compressed: 415", async () => {
    const most = plain({ padding: "" });
    const padding = 1_048_576 - JSON.stringify(most).length;
    expect((await send(plain({ padding: "x".repeat(padding) }))).body["message"]).toContain("padding");
    const tooMuch = await send(plain({ padding: "x".repeat(padding + 1) }));
    expect(tooMuch.status).toBe(413);
    const packed = new Uint8Array(gzipSync(JSON.stringify(plain())));
    expect((await send(packed, { "content-encoding": "gzip" })).status).toBe(415);
    const many = await send(plain({ padding: Array.from({ length: 50_000 }, () => 0) }));
    expect(many.body["message"]).toBe("The body has more than 50,000 values.");
  });

  it("and changes nothing", async () => {
    expect(await inbox()).toEqual([]);
  });
});

describe("a monitor", () => {
  it("accepts its own secret, and nothing after its removal", async () => {
    await boardWithMonitor();
    const line = commandLineOf(world);
    const brought = "f3c1a7-brought-by-the-sender";
    await line.run(["monitor", "secret", monitor.id], `${brought}\n`);
    expect((await send(plain())).status).toBe(401);
    const text = JSON.stringify(plain());
    expect((await send(text, { "sentry-hook-signature": signed(text, brought) })).status).toBe(202);
    await line.run(["monitor", "remove", monitor.id]);
    expect((await send(text, { "sentry-hook-signature": signed(text, brought) })).status).toBe(404);
    expect(await inbox()).toHaveLength(1);
  });

  it("has a secret that is in no log or response, even if the database fails", async () => {
    await boardWithMonitor();
    const canary = "canary-3f9a1c7d2e";
    const { db } = world.service.deps;
    await db("monitors").where({ id: monitor.id }).update({ secret: canary });
    const text = JSON.stringify(plain());
    const headers = { "sentry-hook-signature": signed(text, canary) };
    const results = [
      await send(text, headers),
      await send(text, { "sentry-hook-signature": "wrong" }),
      await send("{", { "sentry-hook-signature": signed("{", canary) }),
    ];
    for (const table of ["inbox_items", "monitors"]) {
      await db.raw(`alter table ${table} rename to elsewhere`);
      results.push(await send(text, headers));
      await db.raw(`alter table elsewhere rename to ${table}`);
    }
    expect(results.map(({ status }) => status)).toEqual([202, 401, 400, 500, 500]);
    const shown = JSON.stringify([results, await inbox()]);
    for (const secret of [canary, signed(text, canary)]) {
      expect(shown).not.toContain(secret);
      expect(world.logged()).not.toContain(secret);
    }
    expect(world.logged()).not.toContain("Checkout returns 500");
  });

  it("does not fetch the URL of a report", async () => {
    await boardWithMonitor();
    await send(plain({ url: `${world.forge.apiUrl}/meta` }));
    expect(await inbox()).toHaveLength(1);
    expect(world.forge.requests.all.filter(({ path }) => path.includes("/meta"))).toEqual([]);
  });
});

function signedByAnother(): string {
  return createHmac("sha256", "another").update(JSON.stringify(plain())).digest("hex");
}

it("many reports of one board leave connections for the calls of another", async () => {
  await boardWithMonitor();
  const other = await world.board();
  expect((await send(plain())).status).toBe(202);
  const { boardCallsAtOnce } = DEFAULT_LIMITS;
  // A connection of its own: the service's pool is what is shared.
  const db = connect({ connectionString: world.databaseUrl, onError: () => undefined });
  const item = (trx: Db) => trx("inbox_items").where({ workspace_id: board.workspaceId }).forUpdate();
  const reports: Promise<Sent>[] = [];
  await whileLocked(db, item, async () => {
    for (let nth = 0; nth < 16; nth++) reports.push(send(plain({ title: `Report ${nth}` })));
    await untilWaitingForLock(db, boardCallsAtOnce);
    expect((await other.api.get("/v1/labels")).status).toBe(200);
  });
  expect((await Promise.all(reports)).map(({ status }) => status)).toEqual(reports.map(() => 202));
  await db.destroy();
});
