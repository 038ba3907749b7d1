import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { makeApi } from "../../../test/support/api.ts";
import type { Browser } from "../../../test/support/console/browser.ts";
import { newMember } from "../../../test/support/console/people.ts";
import { startReceiver } from "../../../test/support/stories/outgoing-webhooks.ts";
import type { TestBoard } from "../../../test/support/world.ts";
import { signInToConsole } from "../../actors/console-person.ts";
import type { Scene } from "../scene.ts";

/** A webhook is served every 250 ms. */
const DELIVERED_MS = 3_000;

interface Known {
  readonly id: string;
  readonly clientId: string;
  readonly apiKey: string;
  readonly secret: string;
}

interface Maintainer {
  readonly login: string;
  readonly browser: Browser;
}

/** Removes maintainers, who go on with all that the console has shown to them: keys, a webhook, a monitor. */
export async function removedMembers(scene: Scene): Promise<void> {
  const board = scene.world.boards.at(1);
  if (!board) throw new Error("the attack needs two boards");
  const lead = await newMaintainer(scene, board);
  while (!scene.isOver()) {
    await leaveAndGoOn(scene, board, { lead, leaver: await newMaintainer(scene, board) });
    scene.tried();
  }
}

async function newMaintainer({ world }: Scene, board: TestBoard): Promise<Maintainer> {
  const { forge, deps, service } = world;
  const { login } = await newMember({ forge, service: { deps } }, [board], "maintainer");
  return { login, browser: await signInToConsole(service.baseUrl, login) };
}

async function leaveAndGoOn(
  scene: Scene,
  board: TestBoard,
  { lead, leaver }: { readonly lead: Maintainer; readonly leaver: Maintainer },
): Promise<void> {
  const { baseUrl } = scene.world.service;
  const change = async (path: string, body: object): Promise<Known> =>
    (await leaver.browser.write("POST", `/console/v1${path}`, body)).body as Known;
  const { id } = await operatorsKey(board, leaver);
  const keys = [
    await change(`/credentials/${id}/rotate`, { keepHours: 24, expiresInDays: null }),
    await change("/credentials", { name: "Mine", role: "viewer", scopes: ["read"], expiresInDays: null }),
  ];
  const receiver = await startReceiver();
  const webhook = await change("/webhooks", { url: receiver.url });
  const monitor = await change("/monitors", { projectId: board.projectId, name: leaver.login });
  await remove(lead, leaver.login);
  for (const { apiKey } of keys) {
    const { status } = await makeApi(baseUrl, apiKey).get("/v1/me");
    if (status !== 401) scene.found(`a key that a removed member knows was answered ${status}`);
  }
  const before = receiver.received.length;
  await board.api.card({ title: "After the removal" });
  await sleep(DELIVERED_MS);
  if (receiver.received.length > before) scene.found("a webhook of a removed member gets events");
  if (await isReportAccepted(`${baseUrl}/monitors/${monitor.id}`, monitor.secret))
    scene.found("a report with the secret that a removed member knows is accepted");
  await receiver.close();
  await board.api.delete(`/v1/webhooks/${webhook.id}`);
  await lead.browser.write("DELETE", `/console/v1/monitors/${monitor.id}`);
}

/** A new key without an owner, as the person sees it. */
async function operatorsKey(board: TestBoard, { browser }: Maintainer): Promise<Known> {
  const { apiKey } = await board.as({ role: "maintainer" });
  const listed = (await browser.get("/console/v1/credentials?limit=200")).body as readonly Known[];
  const found = listed.find(({ clientId }) => clientId === apiKey.split("_")[1]);
  if (!found) throw new Error("the console does not list the operator's key");
  return found;
}

async function remove({ browser }: Maintainer, member: string): Promise<void> {
  const people = (await browser.get("/console/v1/people")).body as readonly { id: string; login: string }[];
  const { id } = people.find(({ login }) => login === member) ?? {};
  const { status, text } = await browser.write("DELETE", `/console/v1/members/${id}`);
  if (status !== 204) throw new Error(`${member} is not removed: ${text}`);
}

async function isReportAccepted(url: string, secret: string): Promise<boolean> {
  const body = JSON.stringify({ fingerprint: randomUUID(), title: "Fails", url: "https://e.example" });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  const headers = { "content-type": "application/json", "sentry-hook-signature": signature };
  return (await fetch(url, { method: "POST", headers, body })).ok;
}
