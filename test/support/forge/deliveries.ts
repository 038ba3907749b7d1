import { createHmac, randomUUID } from "node:crypto";
import type { Db } from "../../../src/store/db/connect.ts";
import { eventually } from "../api.ts";
import type { TestBoard, TestWorld } from "../world.ts";

export interface SentDelivery {
  readonly guid: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface DeliveryOptions {
  readonly guid?: string;
  readonly secret?: string;
  readonly url?: string;
  /** Headers to replace; null omits one. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

export const signatureOf = (body: string | Uint8Array, secret: string, algorithm = "sha256"): string =>
  `${algorithm}=${createHmac(algorithm, secret).update(body).digest("hex")}`;

/** Delivers as GitHub does. A payload of text or bytes is sent unchanged. */
export async function deliver(
  world: TestWorld,
  event: string,
  payload: object | string | Uint8Array<ArrayBuffer>,
  { guid = randomUUID(), secret = world.forge.app.webhookSecret, url, headers = {} }: DeliveryOptions = {},
): Promise<SentDelivery> {
  const body =
    typeof payload === "string" || payload instanceof Uint8Array ? payload : JSON.stringify(payload);
  const sent: Record<string, string | null> = {
    "content-type": "application/json",
    "x-github-delivery": guid,
    "x-github-event": event,
    "x-hub-signature-256": signatureOf(body, secret),
    ...headers,
  };
  const response = await fetch(url ?? world.service.webhookUrl, {
    method: "POST",
    headers: Object.entries(sent).flatMap<[string, string]>(([name, value]) =>
      value === null ? [] : [[name, value]],
    ),
    body,
  });
  return { guid, status: response.status, body: (await response.json()) as Record<string, unknown> };
}

export interface DeliveryRow {
  readonly guid: string;
  readonly state: "waiting" | "done" | "parked";
  readonly attempts: number;
  readonly payload: string;
}

/** The stored delivery, or undefined. */
export const storedDelivery = async (world: TestWorld, guid: string): Promise<DeliveryRow | undefined> =>
  world.service.deps.db<DeliveryRow>("deliveries").where({ guid }).first();

/** The delivery when the condition holds. */
export async function storedDeliveryWhen(
  world: TestWorld,
  guid: string,
  isWanted: (row: DeliveryRow) => boolean,
): Promise<DeliveryRow | undefined> {
  return eventually(
    () => storedDelivery(world, guid),
    (row) => row !== undefined && isWanted(row),
  );
}

/** A card in progress, and the payload of a status on its branch. */
export async function cardWithStatuses(world: Pick<TestWorld, "forge">, board: TestBoard) {
  const { number } = await board.api.card();
  await board.api.move(number, board.stages["In progress"]);
  const branchName = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  const fullName = `${board.owner}/web`;
  const branch = await board.person("ada", "GET", `/repos/${fullName}/branches/${branchName}`);
  const { sha } = branch.body["commit"] as { sha: string };
  const repositoryId = world.forge.repository(fullName).id;
  await world.forge.waitUntilIdle();
  let lastId = 1_000_000;
  const status = (state: "pending" | "success" | "failure" | "error", context = "ci") => ({
    id: ++lastId,
    sha,
    context,
    state,
    created_at: new Date().toISOString(),
    branches: [{ name: branchName }],
    repository: { id: repositoryId, full_name: fullName, default_branch: "main" },
    sender: { id: 1, login: "ada", type: "User" },
  });
  return { number, branchName, sha, lane: `repository:${repositoryId}`, repositoryId, fullName, status };
}

/** The name of a check that `refusePoison` lets PostgreSQL refuse. */
export const POISON = "poison";

/** Lets each delivery of a status with the name `POISON` fail. */
export async function refusePoison(db: Db): Promise<void> {
  await db.raw(`alter table check_reports add constraint no_poison check (name <> '${POISON}')`);
}

/** Waits until the forge has sent all webhooks and they are processed. */
export const allProcessed = ({ forge, service: { deps } }: TestWorld): Promise<void> =>
  allProcessedIn({ forge, db: deps.db });

/** The same for a service in another process. */
export async function allProcessedIn({
  forge,
  db,
}: Pick<TestWorld, "forge"> & { readonly db: Db }): Promise<void> {
  await forge.waitUntilIdle();
  await eventually(
    () => db("deliveries").where({ state: "waiting" }).select("guid", "event", "error"),
    ({ length }) => length === 0,
  );
}
