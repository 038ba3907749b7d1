import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { rows, type Db } from "../src/store/db/connect.ts";
import type { Pace } from "./compare.ts";
import { webhookSignature } from "./webhook-signature.ts";
import { atMost, report, type Measurement } from "./report.ts";
import type { BenchBoard } from "./seed.ts";
import { WEBHOOKS } from "./workloads.ts";
import type { BenchWorld } from "./world.ts";

/** A card with a branch in its own repository. */
interface Lane {
  readonly cardId: string;
  readonly forgeId: number;
}

const LANES = 10;
const SHA = "c".repeat(40);
const BRANCH = "card/bench";
const STATES = ["pending", "failure", "success"];
const PER_SECOND = 50;
const BURST = { deliveries: 5_000, seconds: 60 };
const POLL_MS = 5;
const TIMEOUT_MS = 60_000;

/** Adds repositories to a board and links a card with a branch to each. */
export async function seedLanes(db: Db, { projectId }: BenchBoard): Promise<Lane[]> {
  const forgeId = randomInt(1_000_000, 2_000_000_000);
  return rows<Lane>(
    db,
    `with made as (
       insert into repositories (id, organization_id, project_id, forge_id, full_name, default_branch)
       select gen_random_uuid(), w.organization_id, p.id, cast(:forgeId as bigint) + n, 'acme/lane-' || cast(:forgeId as bigint) + n, 'main'
         from projects p join workspaces w on w.id = p.workspace_id, generate_series(1, cast(:lanes as integer)) n where p.id = :projectId
       returning id, forge_id),
     numbered as (select made.*, row_number() over (order by forge_id) as nth from made),
     linked as (
       insert into card_repositories (card_id, repository_id, project_id, branch_name, head_sha)
       select c.id, numbered.id, c.project_id, :branch, :sha from numbered
         join cards c on c.project_id = :projectId and c.number = 3 * numbered.nth + 1
       returning card_id, repository_id)
     select linked.card_id as "cardId", numbered.forge_id as "forgeId" from linked join numbered on numbered.id = linked.repository_id
      order by numbered.nth`,
    { forgeId, projectId, lanes: LANES, branch: BRANCH, sha: SHA },
  );
}

/** The nth status of a lane. Each changes the checks state, which adds a timeline item. */
const statusOf = ({ forgeId }: Lane, nth: number): string =>
  JSON.stringify({
    id: nth + 1,
    sha: SHA,
    context: "ci",
    state: STATES[nth % STATES.length],
    created_at: new Date(1_700_000_000_000 + nth * 1_000).toISOString(),
    branches: [{ name: BRANCH }],
    repository: { id: forgeId, full_name: `acme/lane-${forgeId}`, default_branch: "main" },
    sender: { id: 1, login: "ada", type: "User" },
  });

/** Sends a delivery and resolves when it is accepted. */
async function send(service: string, body: string): Promise<void> {
  const headers = {
    "content-type": "application/json",
    "x-github-event": "status",
    "x-github-delivery": randomUUID(),
    "x-hub-signature-256": webhookSignature(body),
  };
  const response = await fetch(`${service}${WEBHOOKS}`, { method: "POST", headers, body });
  await response.arrayBuffer();
  if (response.status !== 202) throw new Error(`A delivery got the response ${response.status}.`);
}

/** The number of `checks_changed` items on the timeline of each card. */
async function countChanges(db: Db, lanes: readonly Lane[]): Promise<Map<string, number>> {
  const found = await rows<{ cardId: string; count: number }>(
    db,
    `select card_id as "cardId", count(*) as count from timeline_items
      where card_id = any(cast(:cards as uuid[])) and kind = 'checks_changed' group by card_id`,
    { cards: lanes.map(({ cardId }) => cardId) },
  );
  return new Map(found.map(({ cardId, count }) => [cardId, count]));
}

/**
 * Sends deliveries, spread over the lanes, and returns the milliseconds until each was on its
 * card's timeline. A lane sends a delivery after the previous one is accepted, and at `perSecond`
 * in total.
 */
export async function sendAndAwaitDeliveries(
  { db, service }: BenchWorld,
  lanes: readonly Lane[],
  count: number,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const before = await countChanges(db, lanes);
  const startedAt = performance.now();
  /** When each delivery of a lane was sent. The nth one is the nth new item of its card. */
  const sentAt = new Map(lanes.map(({ cardId }): [string, number[]] => [cardId, []]));
  const sending = Promise.all(
    lanes.map(async (lane, at) => {
      for (let nth = at; nth < count; nth += lanes.length) {
        await sleep(Math.max(0, startedAt + (nth * 1_000) / perSecond - performance.now()));
        const sent = sentAt.get(lane.cardId) ?? [];
        sent.push(performance.now());
        await send(service, statusOf(lane, (before.get(lane.cardId) ?? 0) + sent.length - 1));
      }
    }),
  );
  const took: number[] = [];
  const seen = new Map(before);
  while (took.length < count) {
    const shown = await countChanges(db, lanes);
    const now = performance.now();
    for (const [cardId, changes] of shown) {
      const first = before.get(cardId) ?? 0;
      for (let nth = seen.get(cardId) ?? 0; nth < changes; nth++) {
        took.push(now - (sentAt.get(cardId)?.[nth - first] ?? now));
      }
      seen.set(cardId, changes);
    }
    if (now - startedAt > (count / perSecond) * 1_000 + TIMEOUT_MS) {
      throw new Error(`${count - took.length} of ${count} deliveries are not on the timelines.`);
    }
    await sleep(POLL_MS);
  }
  await sending;
  return took;
}

/** The time from a delivery to its timeline item, and the responses to a burst of deliveries. */
export async function measureDeliveries(
  world: BenchWorld,
  { isShort }: Pace,
  board: BenchBoard,
): Promise<Measurement[]> {
  const lanes = await seedLanes(world.db, board);
  const seen = await sendAndAwaitDeliveries(world, lanes, isShort ? 50 : PER_SECOND * 20, PER_SECOND);
  const p95 = seen.toSorted((a, b) => a - b)[Math.ceil(seen.length * 0.95) - 1] ?? 0;
  const shown = `delivery sent to timeline item at ${PER_SECOND}/s, p95 ms`;
  const seconds = isShort ? 2 : BURST.seconds;
  const perSecond = BURST.deliveries / BURST.seconds;
  const amount = Math.round(perSecond * seconds);
  const { answered, p99 } = await world.loader.run({
    url: world.service,
    calls: lanes.map((lane) => ({
      method: "POST",
      path: WEBHOOKS,
      headers: { "x-github-event": "status" },
      body: statusOf(lane, 0),
    })),
    fresh: "delivery",
    connections: 16,
    perSecond,
    amount,
  });
  await untilProcessed(world.db);
  const burst = `${amount} deliveries in ${seconds} s`;
  return [
    report({ name: shown, value: p95, goal: atMost(250) }),
    report({ name: `${burst}: not answered`, value: amount - answered, goal: atMost(0) }),
    report({ name: `${burst}: p99 ms`, value: p99, goal: atMost(100) }),
  ];
}

async function untilProcessed(db: Db): Promise<void> {
  const startedAt = performance.now();
  while ((await rows(db, "select 1 from deliveries where state = 'waiting' limit 1")).length > 0) {
    if (performance.now() - startedAt > TIMEOUT_MS) throw new Error("Deliveries are still waiting.");
    await sleep(100);
  }
}
