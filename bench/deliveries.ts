import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { rows, type Db } from "../src/store/connect.ts";
import type { BenchWorld } from "./world.ts";
import type { Pace } from "./compare.ts";
import { hookSignature } from "./hook.ts";
import { limitRow, median, quantile, told, type Row } from "./report.ts";
import type { BenchBoard } from "./seed.ts";

/** A card with a branch in a repository of its own. */
interface Lane {
  readonly cardId: string;
  readonly forgeId: number;
}

const LANES = 10;
const SHA = "c".repeat(40);
const BRANCH = "card/bench";
const STATES = ["pending", "failure", "success"];
const A_SECOND = 50;
const BURST = { deliveries: 5_000, seconds: 60 };
const AT_ONCE = 200;
const POLL_MS = 5;
const PATIENCE_MS = 60_000;

/** A board's lanes, and how far each has come. */
export interface LaneBoard {
  readonly lanes: readonly Lane[];
  readonly turns: Map<string, number>;
}

/** Gives a board so many repositories, and in each of them one of its cards a branch that checks report on. */
export async function seedLanes(
  db: Db,
  { projectId, cards }: BenchBoard,
): Promise<LaneBoard & { readonly cards: number }> {
  const forgeId = randomInt(1_000_000, 2_000_000_000);
  const lanes = await rows<Lane>(
    db,
    `with made as (
       insert into repositories (id, organization_id, project_id, forge_id, full_name, default_branch)
       select gen_random_uuid(), w.organization_id, p.id, cast(:forgeId as bigint) + n, 'acme/lane-' || cast(:forgeId as bigint) + n, 'main'
         from projects p join workspaces w on w.id = p.workspace_id, generate_series(1, cast(:lanes as integer)) n where p.id = :projectId
       returning id, forge_id),
     numbered as (select made.*, row_number() over (order by forge_id) as nth from made),
     linked as (
       insert into card_repositories (card_id, repository_id, branch_name, head_sha)
       select c.id, numbered.id, :branch, :sha from numbered
         join cards c on c.project_id = :projectId and c.number = 3 * numbered.nth + 1
       returning card_id, repository_id)
     select linked.card_id as "cardId", numbered.forge_id as "forgeId" from linked join numbered on numbered.id = linked.repository_id
      order by numbered.nth`,
    { forgeId, projectId, lanes: LANES, branch: BRANCH, sha: SHA },
  );
  return { lanes, turns: new Map(), cards };
}

/** A status that changes what the checks of a lane's card come to: its timeline tells each. */
const statusOf = ({ forgeId }: Lane, turn: number): string =>
  JSON.stringify({
    id: turn + 1,
    sha: SHA,
    context: "ci",
    state: STATES[turn % STATES.length],
    created_at: new Date(1_700_000_000_000 + turn * 1_000).toISOString(),
    branches: [{ name: BRANCH }],
    repository: { id: forgeId, full_name: `acme/lane-${forgeId}`, default_branch: "main" },
    sender: { id: 1, login: "ada", type: "User" },
  });

/** What was sent to each lane, and when: the nth delivery of a lane is the nth that its card's timeline tells. */
class Sender {
  readonly sentAt = new Map<string, number[]>();
  /** The turns before go on, so that each changes something. */
  readonly #turns: Map<string, number>;
  readonly #url: string;

  constructor(service: string, turns: Map<string, number>) {
    this.#url = `${service}/api/github/webhooks`;
    this.#turns = turns;
  }

  /** Resolves when it is answered. Throws when it is not taken. */
  async send(lane: Lane): Promise<void> {
    const turn = this.#turns.get(lane.cardId) ?? 0;
    this.#turns.set(lane.cardId, turn + 1);
    const body = statusOf(lane, turn);
    this.sentAt.set(lane.cardId, [...(this.sentAt.get(lane.cardId) ?? []), performance.now()]);
    const headers = {
      "content-type": "application/json",
      "x-github-event": "status",
      "x-github-delivery": randomUUID(),
      "x-hub-signature-256": hookSignature(body),
    };
    const response = await fetch(this.#url, { method: "POST", headers, body });
    await response.arrayBuffer();
    if (response.status !== 202) throw new Error(`a delivery was answered ${response.status}`);
  }
}

/** By card, how many changes of its checks its timeline tells. */
async function shownOf(db: Db, lanes: readonly Lane[]): Promise<Map<string, number>> {
  const found = await rows<{ cardId: string; count: number }>(
    db,
    `select card_id as "cardId", count(*) as count from timeline_items
      where card_id = any(cast(:cards as uuid[])) and kind = 'checks_changed' group by card_id`,
    { cards: lanes.map(({ cardId }) => cardId) },
  );
  return new Map(found.map(({ cardId, count }) => [cardId, count]));
}

/**
 * Sends so many deliveries, spread over the lanes, and gives for each how many milliseconds after it was sent its card's timeline showed it. Each lane waits for
 * its answers; `perSecond` holds all of them back to that.
 */
async function sendAndSee(
  { db, service }: BenchWorld,
  { lanes, turns }: LaneBoard,
  count: number,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const sender = new Sender(service, turns);
  const before = await shownOf(db, lanes);
  const began = performance.now();
  const sending = Promise.all(
    lanes.map(async (lane, at) => {
      for (let nth = at; nth < count; nth += lanes.length) {
        await sleep(Math.max(0, began + (nth * 1_000) / perSecond - performance.now()));
        await sender.send(lane);
      }
    }),
  );
  const took: number[] = [];
  const seen = new Map<string, number>();
  while (took.length < count) {
    const shown = await shownOf(db, lanes);
    const at = performance.now();
    for (const { cardId } of lanes) {
      const now = (shown.get(cardId) ?? 0) - (before.get(cardId) ?? 0);
      for (let nth = seen.get(cardId) ?? 0; nth < now; nth++) {
        took.push(at - (sender.sentAt.get(cardId)?.[nth] ?? at));
      }
      seen.set(cardId, now);
    }
    if (at - began > (count / perSecond) * 1_000 + PATIENCE_MS) {
      throw new Error(`of ${count} deliveries ${count - took.length} were never shown`);
    }
    await sleep(POLL_MS);
  }
  await sending;
  return took;
}

/** How soon deliveries are seen, and how soon they are answered when they come fast. */
export async function measureDeliveries(
  world: BenchWorld,
  { isShort }: Pace,
  board: LaneBoard,
): Promise<Row[]> {
  const seen = await sendAndSee(world, board, isShort ? 50 : A_SECOND * 20, A_SECOND);
  const p95 = quantile(seen, 0.95);
  const made = [limitRow(`sent to shown on the timeline, ${A_SECOND} a second: p95, ms`, p95, 250)];
  const bodies = board.lanes.map((lane) => statusOf(lane, 0));
  const seconds = isShort ? 2 : BURST.seconds;
  const perSecond = BURST.deliveries / BURST.seconds;
  const sent = Math.round(perSecond * seconds);
  const { answered, p99 } = await world.loader.measure({
    url: world.service,
    method: "POST",
    paths: ["/api/github/webhooks"],
    headers: { "x-github-event": "status" },
    bodies,
    fresh: "delivery",
    connections: 16,
    perSecond,
    amount: sent,
  });
  made.push(limitRow(`deliveries of ${sent} in ${seconds} s that were not answered`, sent - answered, 0));
  made.push(limitRow(`${sent} deliveries in ${seconds} s: p99, ms`, p99, 100));
  await untilWorked(world.db);
  return made;
}

async function untilWorked(db: Db): Promise<void> {
  const began = performance.now();
  while ((await rows(db, "select 1 from deliveries where state = 'waiting' limit 1")).length > 0) {
    if (performance.now() - began > PATIENCE_MS) throw new Error("deliveries are still waiting");
    await sleep(100);
  }
}

/** Deliveries for cards of a large board, from being sent to being shown, beside those for a small one. */
export async function compareDeliveries(
  world: BenchWorld,
  { rounds }: Pace,
  large: LaneBoard & { readonly cards: number },
  small: LaneBoard & { readonly cards: number },
): Promise<Row> {
  const rateOf = async (board: LaneBoard): Promise<number> => {
    const began = performance.now();
    await sendAndSee(world, board, AT_ONCE);
    return (AT_ONCE * 1_000) / (performance.now() - began);
  };
  const pairs: [number, number][] = [];
  for (let round = 0; round < rounds; round++) pairs.push([await rateOf(large), await rateOf(small)]);
  return told({
    name: `recording a webhook, ${large.cards} ÷ ${small.cards} cards`,
    connections: LANES,
    service: median(pairs.map(([of]) => of)),
    floor: median(pairs.map(([, of]) => of)),
    ratio: median(pairs.map(([of, other]) => of / other)),
    goal: 1 / 1.5,
  });
}
