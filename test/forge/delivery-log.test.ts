import { createHmac } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { makeRepository, type ForgeRepository } from "./forge-repository.ts";

let world: TestForge;
let repository: ForgeRepository;
let receiver: string;

beforeAll(async () => {
  world = await startTestForge({ webhookTimeoutMs: 300 });
  receiver = world.forge.context.webhooks.url ?? "";
});
afterAll(() => world.stop());
beforeEach(async () => {
  repository = await makeRepository(world);
  await world.forgetReceived();
});
afterEach(() => world.forge.setWebhookUrl(receiver));

interface Item {
  readonly id: number;
  readonly guid: string;
  readonly status: string;
  readonly status_code: number;
  readonly redelivery: boolean;
  readonly event: string;
}

const asApp = (method: string, path: string) => world.api(method, path, undefined, world.appJwt());
const newest = async () => ((await asApp("GET", "/app/hook/deliveries?per_page=1")).body as Item[])[0]!;
const happen = async () => {
  const sha = await repository.tip("main");
  await repository.call("POST", `/statuses/${sha}`, { state: "success" });
  await world.forge.waitUntilIdle();
};

test("a webhook is signed over its exact bytes and names its event", async () => {
  await happen();
  const [received] = world.received;
  const digest = (algorithm: string) =>
    createHmac(algorithm, world.forge.app.webhookSecret)
      .update(received?.text ?? "")
      .digest("hex");
  expect(received?.headers).toMatchObject({
    "x-hub-signature-256": `sha256=${digest("sha256")}`,
    "x-hub-signature": `sha1=${digest("sha1")}`,
    "x-github-event": "status",
    "x-github-hook-installation-target-type": "integration",
    "x-github-hook-installation-target-id": String(world.forge.app.id),
    "content-type": "application/json",
  });
  expect(received?.payload).toMatchObject({
    installation: { id: expect.any(Number) },
    sender: { login: "ada" },
  });
});

test("a delivery is logged with its request and its response", async () => {
  await happen();
  const { id, guid } = await newest();
  const { body } = await asApp("GET", `/app/hook/deliveries/${id}`);
  expect(body).toMatchObject({
    guid,
    status: "OK",
    status_code: 200,
    event: "status",
    request: { headers: { "X-GitHub-Delivery": guid }, payload: { context: "default" } },
    response: { payload: "ok" },
  });
});

test("an unreachable receiver is logged as a failure; a redelivery has the same guid", async () => {
  world.forge.setWebhookUrl("http://127.0.0.1:9/nothing");
  await happen();
  const failed = await newest();
  expect(failed).toMatchObject({ status: "failed to connect to host", status_code: 0 });
  expect(world.received).toEqual([]);
  world.forge.setWebhookUrl(receiver);
  expect((await asApp("POST", `/app/hook/deliveries/${failed.id}/attempts`)).status).toBe(202);
  await world.forge.waitUntilIdle();
  expect(world.received.map((each) => each.guid)).toEqual([failed.guid]);
  expect(await newest()).toMatchObject({ guid: failed.guid, redelivery: true, status: "OK" });
});

test("a receiver that is too slow or fails is logged", async () => {
  const server = await listen();
  world.forge.setWebhookUrl(`${server.url}/slow`);
  await happen();
  expect(await newest()).toMatchObject({ status: "timed out", status_code: 0 });
  world.forge.setWebhookUrl(`${server.url}/bad`);
  await happen();
  expect(await newest()).toMatchObject({ status: "Invalid HTTP Response: 503", status_code: 503 });
  server.close();
});

test("the log has pages, newest first, and a filter by outcome", async () => {
  for (let index = 0; index < 4; index += 1) await happen();
  const first = await asApp("GET", "/app/hook/deliveries?per_page=2&status=success");
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? "";
  const second = await asApp("GET", next.replace(world.forge.apiUrl, ""));
  const ids = [...(first.body as Item[]), ...(second.body as Item[])].map((each) => each.id);
  expect(ids).toEqual(ids.toSorted((a, b) => b - a));
  expect(new Set(ids).size).toBe(4);
});

test("an App that is not installed or suspended gets no webhooks", async () => {
  world.forge.createOrganization("quiet");
  await world.forge.createRepository("quiet", "place");
  const ada = world.forge.users[0]!;
  const { state } = world.forge.context;
  const [quiet] = state.accounts.inGroup("quiet");
  state.accounts.update(quiet!.id, { members: { [ada.id]: "admin" } });
  const main = await world.api("GET", "/repos/quiet/place/git/ref/heads/main");
  await world.api("POST", "/repos/quiet/place/git/refs", { ref: "refs/heads/a", sha: main.at("object.sha") });
  expect(await world.events()).toEqual([]);
});

/** A receiver that never responds to `/slow`, and responds 503 otherwise. */
async function listen(): Promise<{ url: string; close(): void }> {
  const server: Server = createServer((request, response) => {
    if (request.url !== "/slow") response.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
