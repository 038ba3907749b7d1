import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { createApp, WEBHOOK_PATH } from "../../src/app.ts";
import { DEFAULT_LIMITS } from "../../src/http/call-limiter.ts";
import type { Trx } from "../../src/store/db/connect.ts";
import { eventually } from "../support/api.ts";
import {
  cardWithStatuses,
  deliver,
  storedDelivery,
  storedDeliveryWhen,
  signatureOf,
  type SentDelivery,
} from "../support/forge/deliveries.ts";
import { whileLocked } from "../support/stories/locks.ts";
import { createIntake } from "../../src/webhooks/intake.ts";
import { statementsOf } from "../support/database/statements.ts";
import { expectAllConsistent } from "../support/invariants.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld({}, expectAllConsistent);

const deliveriesTable = (trx: Trx) => trx.raw("lock table deliveries in access exclusive mode");
const ping = { zen: "Keep it logically awesome.", hook_id: 1 };
const MAX = 25 * 1024 * 1024;
const ofSize = (bytes: number): string => `{"a":"${"x".repeat(bytes - 8)}"}`;

describe("a delivery", () => {
  it("gets 2xx and is stored as sent", async () => {
    const payload = '{ "zen":"Spaces  stay, é 😀 \\u0000 too" }';
    const { guid, status, body } = await deliver(world, "ping", payload);
    expect([status, body]).toEqual([202, { accepted: true }]);
    expect((await storedDelivery(world, guid))?.payload).toBe(payload);
  });

  // Fault: B11
  it.each<[string, object]>([
    ["of an unknown event", { action: "sung", repository: { id: 1 } }],
    ["of an unknown repository", { ref: "refs/heads/main", repository: { id: 987_654, full_name: "a/b" } }],
    ["with an empty payload", {}],
    ["that is a list", []],
    ["with invalid ids", { repository: { id: "x" }, installation: null }],
  ])("%s is accepted and processed without effect", async (_, payload) => {
    for (const event of ["push", "pull_request", "check_run", "status", "a_new_event"]) {
      const { guid, status } = await deliver(world, event, payload);
      expect(status).toBe(202);
      expect((await storedDeliveryWhen(world, guid, ({ state }) => state !== "waiting"))?.state).toBe("done");
    }
  });

  // Fault: B6 The signature, body or encoding is wrong => 4xx; nothing is stored
  it.each<[string, Record<string, string | null>]>([
    ["no signature", { "x-hub-signature-256": null }],
    ["an empty signature", { "x-hub-signature-256": "" }],
    [
      "a SHA-1 signature only",
      { "x-hub-signature-256": null, "x-hub-signature": signatureOf(JSON.stringify(ping), "x", "sha1") },
    ],
    [
      "a SHA-1 signature in the SHA-256 header",
      { "x-hub-signature-256": signatureOf(JSON.stringify(ping), "x", "sha1") },
    ],
    ["another's signature", { "x-hub-signature-256": signatureOf(JSON.stringify(ping), "development") }],
    ["a signature cut short", { "x-hub-signature-256": `sha256=${"0".repeat(63)}` }],
  ])("with %s is 401 and not stored", async (_, headers) => {
    const { guid, status, body } = await deliver(world, "ping", ping, { headers });
    expect(status).toBe(401);
    expect(body).toMatchObject({ message: expect.stringContaining("signature"), statusCode: 401 });
    expect(await storedDelivery(world, guid)).toBeUndefined();
  });

  it("with a valid SHA-1 and an invalid SHA-256 signature is 401", async () => {
    const text = JSON.stringify(ping);
    const headers = {
      "x-hub-signature": signatureOf(text, world.forge.app.webhookSecret, "sha1"),
      "x-hub-signature-256": signatureOf(text, "wrong"),
    };
    expect((await deliver(world, "ping", text, { headers })).status).toBe(401);
  });

  it("with one changed byte is 401 and not stored", async () => {
    const text = JSON.stringify(ping);
    const headers = { "x-hub-signature-256": signatureOf(text, world.forge.app.webhookSecret) };
    for (const altered of [text.replace("K", "k"), `${text} `, text.slice(0, -1)]) {
      const { guid, status } = await deliver(world, "ping", altered, { headers });
      expect(status).toBe(401);
      expect(await storedDelivery(world, guid)).toBeUndefined();
    }
  });

  // Fault: B6
  it.each<[string, string | Uint8Array<ArrayBuffer>, number]>([
    ["nothing", "", 401],
    ["no JSON", "payload=%7B%7D", 400],
    ["JSON cut short", '{"zen":"', 400],
    ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
  ])("of %s with a valid signature is 4xx and not stored", async (_, body, expected) => {
    const { guid, status, body: response } = await deliver(world, "ping", body);
    expect(status).toBe(expected);
    expect(response["statusCode"]).toBe(expected);
    expect(await storedDelivery(world, guid)).toBeUndefined();
  });

  it.each(["x-github-delivery", "x-github-event"])("without %s is 400", async (header) => {
    expect((await deliver(world, "ping", ping, { headers: { [header]: null } })).status).toBe(400);
  });

  it("of 25 MB is stored; one more byte is 413", async () => {
    const most = await deliver(world, "ping", ofSize(MAX));
    expect(most.status).toBe(202);
    const tooMuch = await deliver(world, "ping", ofSize(MAX + 1));
    expect(tooMuch.status).toBe(413);
    expect(tooMuch.body["message"]).toContain("25 MiB");
    expect(await storedDelivery(world, tooMuch.guid)).toBeUndefined();
    await world.service.deps.db("deliveries").where({ guid: most.guid }).delete();
  });

  it("that is compressed is 415 and not decompressed", async () => {
    const bomb = new Uint8Array(gzipSync(ofSize(MAX * 4)));
    const { guid, status } = await deliver(world, "ping", bomb, { headers: { "content-encoding": "gzip" } });
    expect(status).toBe(415);
    expect(await storedDelivery(world, guid)).toBeUndefined();
  });

  it("needs one statement without a transaction", async () => {
    const sent = await statementsOf(() => deliver(world, "ping", ping));
    expect(sent.filter((text) => /^(begin|commit|insert into deliveries)/i.test(text))).toEqual([
      expect.stringContaining("insert into deliveries"),
    ]);
  });

  it("is stored even if another one at the same time cannot be", async () => {
    // Too long for an index entry and not compressible.
    const unstorable = randomBytes(6_000).toString("hex");
    const guids = Array.from<unknown, string>({ length: 40 }, () => randomUUID()).toSpliced(
      20,
      0,
      unstorable,
    );
    const responses = await Promise.all(guids.map((guid) => deliver(world, "ping", ping, { guid })));
    const refused = responses.filter(({ status }) => status !== 202);
    expect(refused).toEqual([expect.objectContaining({ guid: unstorable, status: 500 })]);
  });

  // Fault: B1 A delivery arrives several times => recorded once
  it("that is sent ten times, also concurrently, is stored once", async () => {
    const board = await world.board();
    const { number, status } = await cardWithStatuses(world, board);
    const payload = status("failure");
    const guid = "00000000-aaaa-bbbb-cccc-000000000001";
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => deliver(world, "status", payload, { guid })),
    );
    expect(responses.map((response) => response.status)).toEqual(responses.map(() => 202));
    expect(responses.filter(({ body }) => body["accepted"] === true)).toHaveLength(1);
    await board.api.eventWhen(number, ({ kind }) => kind === "checks_changed");
    expect(await deliver(world, "status", payload, { guid })).toMatchObject({
      status: 202,
      body: { accepted: false },
    });
    const rows = await world.service.deps.db("deliveries").where({ guid });
    expect(rows).toHaveLength(1);
    const events = (await board.api.timeline(number)).filter(({ kind }) => kind === "checks_changed");
    expect(events).toHaveLength(1);
  });

  // Fault: A8
  it("gets its response after it is stored", async () => {
    const { db } = world.service.deps;
    const answered: SentDelivery[] = [];
    const responses: Promise<unknown>[] = [];
    const waiting = () =>
      db("pg_locks").where({ granted: false }).whereRaw("relation = 'deliveries'::regclass");
    await whileLocked(db, deliveriesTable, async () => {
      responses.push(deliver(world, "ping", ping).then((response) => answered.push(response)));
      await eventually(waiting, ({ length }) => length > 0);
      expect(answered).toEqual([]);
    });
    await Promise.all(responses);
    expect(answered).toMatchObject([{ status: 202 }]);
    expect(await storedDelivery(world, answered[0]?.guid ?? "")).toBeDefined();
  });

  it("that cannot be stored is 5xx, which GitHub's log shows as failed", async () => {
    const { db } = world.service.deps;
    await db.raw("alter table deliveries rename to elsewhere");
    const failed = await deliver(world, "ping", { zen: "a canary in the payload" });
    await db.raw("alter table elsewhere rename to deliveries");
    expect(failed.status).toBe(500);
    expect(world.logged()).not.toContain("a canary in the payload");
    expect(await deliver(world, "ping", ping, { guid: failed.guid })).toMatchObject({
      body: { accepted: true },
    });
  });
});

describe("while the webhook secret is rotated", () => {
  // Fault: B7 The webhook secret rotates => both work until the old one is removed
  it("the new and the previous secret are valid, and afterwards only the new one", async () => {
    const { deps } = world.service;
    const statusWith = async (webhookSecrets: string[], secret: string): Promise<number> => {
      const app = createApp(deps, {
        intake: createIntake(deps),
        webhookSecrets,
        limits: DEFAULT_LIMITS,
        metrics: "off",
        hasAppKey: true,
        disk: { isFull: () => false },
        console: {
          signIn: null,
          missing: [],
          publicUrl: () => "",
          forgeUrl: world.forge.rootUrl,
          isSandbox: true,
          pagesFolder: "nowhere",
          examine: () => Promise.resolve([]),
        },
        isDraining: () => false,
      });
      const server = createServer(app);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const { status } = await deliver(world, "ping", ping, {
        secret,
        url: `http://127.0.0.1:${port}${WEBHOOK_PATH}`,
      });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      return status;
    };
    expect(await statusWith(["new", "before"], "new")).toBe(202);
    expect(await statusWith(["new", "before"], "before")).toBe(202);
    expect(await statusWith(["new", "before"], "third")).toBe(401);
    expect(await statusWith(["new"], "before")).toBe(401);
  });
});
