import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "../support/api.ts";
import { createBranch, hasRef } from "../support/stories/create-branch.ts";
import { startTestForge, type Received, type TestForge } from "../support/forge/sandbox-forge.ts";

const ME = "{ viewer { login } }";
let world: TestForge;

beforeAll(async () => {
  world = await startTestForge({ controlToken: "control-me" });
});
afterEach(async () => {
  world.forge.control.reset();
  await world.forgetReceived();
});
afterAll(() => world.stop());

function isSigned({ headers, text }: Received): boolean {
  const hmac = createHmac("sha256", world.forge.app.webhookSecret).update(text).digest("hex");
  return headers["x-hub-signature-256"] === `sha256=${hmac}`;
}

const control = (method: string, path: string, body?: unknown, token = "control-me") =>
  fetch(`${world.forge.rootUrl}/_control${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

describe("a fault of webhooks", () => {
  /** The events of a new branch. */
  const BRANCH_EVENTS = ["create", "push"];

  test("drops them; the log shows no response", async () => {
    world.forge.control.webhooks.add({ match: { event: "create" }, fault: { kind: "drop" } });
    await createBranch(world);
    expect(await world.events()).toEqual(["push"]);
    const [dropped] = world.forge.context.state.deliveries.all().slice(-2);
    expect(dropped).toMatchObject({ event: "create", statusCode: 0 });
    expect(dropped?.status).not.toBe("OK");
  });

  test("loses them without an entry in the log, as if GitHub never tried", async () => {
    const { deliveries } = world.forge.context.state;
    const before = deliveries.all().length;
    world.forge.control.webhooks.add({ fault: { kind: "drop", unlogged: true } });
    await createBranch(world);
    expect(await world.events()).toEqual([]);
    expect(deliveries.all().length).toBe(before);
  });

  test("drops some of them, the same ones for the same seed", async () => {
    const lost = async () => {
      world.forge.control.seed(7);
      await world.forgetReceived();
      for (let count = 0; count < 6; count++) await createBranch(world);
      return world.events();
    };
    world.forge.control.webhooks.add({ fault: { kind: "drop", percent: 50 } });
    const first = await lost();
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(12);
    expect(await lost()).toEqual(first);
  });

  test("sends them several times with one guid", async () => {
    world.forge.control.webhooks.add({ match: { event: "push" }, fault: { kind: "duplicate", copies: 2 } });
    await createBranch(world);
    expect(await world.events()).toEqual(["create", "push", "push", "push"]);
    expect(new Set(world.received.slice(1).map((each) => each.guid)).size).toBe(1);
  });

  test("late, and overtaken", async () => {
    world.forge.control.webhooks.add({ match: { event: "create" }, fault: { kind: "delay", ms: 1_000 } });
    await createBranch(world);
    await eventually(world.events, ({ length }) => length === 2);
    expect(await world.events()).toEqual(["push", "create"]);
  });

  test("in another order", async () => {
    world.forge.control.webhooks.add({ fault: { kind: "reorder", batch: 2, order: "reversed" } });
    await createBranch(world);
    expect(await world.events()).toEqual(BRANCH_EVENTS.toReversed());
  });

  test("holds them until they are released", async () => {
    const { webhooks } = world.forge.control;
    const rule = webhooks.add({ fault: { kind: "hold" } });
    await createBranch(world);
    expect(await world.events()).toEqual([]);
    expect(webhooks.held().map((each) => each.event)).toEqual(BRANCH_EVENTS);
    webhooks.remove(rule);
    expect(await webhooks.release()).toBe(2);
    expect(await world.events()).toEqual(BRANCH_EVENTS);
  });

  test("signs them incorrectly", async () => {
    const { webhooks } = world.forge.control;
    for (const what of ["signature", "no-signature", "sha1-only", "body"] as const)
      webhooks.add({ fault: { kind: "corrupt", what }, times: 1 });
    await createBranch(world);
    await createBranch(world);
    await world.events();
    expect(world.received.map(isSigned)).toEqual([false, false, false, false]);
    expect(world.received.map(({ headers }) => "x-hub-signature" in headers)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    await world.forgetReceived();
    await createBranch(world);
    await world.events();
    expect(world.received.map(isSigned)).toEqual([true, true]);
  });

  test("sends those that the test defines", async () => {
    const payload = { action: "closed", pull_request: { state: "open", merged: null } };
    const sent = await world.forge.control.sendWebhook({ event: "pull_request", payload, guid: "again" });
    expect(sent).toEqual({ guid: "again", status: 200, body: "ok" });
    expect(world.received).toMatchObject([
      { event: "pull_request", action: "closed", guid: "again", payload },
    ]);
    expect(world.received.map(isSigned)).toEqual([true]);
  });
});

describe("the control API", () => {
  test("needs its token", async () => {
    expect((await control("GET", "/faults", undefined, "guess")).status).toBe(401);
  });

  test("adds, lists and ends faults, and counts calls", async () => {
    const added = await control("POST", "/faults", {
      match: { operation: "viewer" },
      fault: { kind: "response", status: 503 },
    });
    const { id } = (await added.json()) as { id: number };
    expect((await world.graphql(ME)).status).toBe(503);
    expect(await (await control("GET", "/faults")).json()).toMatchObject([{ id, hits: 1 }]);
    expect((await control("DELETE", `/faults/${id}`)).status).toBe(204);
    expect((await control("DELETE", `/faults/${id}`)).status).toBe(404);
    expect((await world.graphql(ME)).status).toBe(200);
    expect(await (await control("GET", "/calls")).json()).toMatchObject({
      total: 2,
      operations: { viewer: 2 },
    });
  });

  test("holds and releases webhooks", async () => {
    await control("POST", "/webhook-faults", { fault: { kind: "hold" } });
    await createBranch(world);
    await world.events();
    expect(await (await control("GET", "/held")).json()).toMatchObject([
      { event: "create" },
      { event: "push" },
    ]);
    await control("DELETE", "/webhook-faults");
    expect(await (await control("POST", "/release", { order: "reversed" })).json()).toEqual({ released: 2 });
    expect(await world.events()).toEqual(["push", "create"]);
  });

  test("sets stale reads, revokes tokens, and resets everything", async () => {
    expect((await control("PUT", "/stale-reads", { seconds: 30 })).status).toBe(204);
    const name = await createBranch(world);
    expect(await hasRef(world, name)).toBe(false);
    world.installationToken();
    const [installation] = world.forge.context.state.installations.all();
    const revoked = await control("POST", "/revoke-tokens", { installationId: installation!.id });
    expect(await revoked.json()).toEqual({ revoked: expect.any(Number) });
    expect((await control("DELETE", "")).status).toBe(204);
    expect(await hasRef(world, name)).toBe(true);
  });
});
