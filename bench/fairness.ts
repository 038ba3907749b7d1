import { setTimeout as sleep } from "node:timers/promises";
import type { Pace } from "./compare.ts";
import type { Call, Load } from "./load.ts";
import { startLoader } from "./processes.ts";
import { atMost, median, report, short, type Measurement } from "./report.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import { auth, cardNumbersOf, WRITES } from "./workloads.ts";
import { startService, type BenchWorld } from "./world.ts";

const CONNECTIONS = 24;
/** Comments of 40 kB on one card, which the busy tenant reads. */
const COMMENTS = 600;
const SETTLE_MS = 2_000;

/**
 * Reads cards of one board without other load, and while another tenant keeps 24 connections busy:
 * in the process that serves the other tenant, and in a process of its own.
 */
export async function measureFairness(world: BenchWorld, pace: Pace): Promise<Measurement[]> {
  const { seeding, service, loader, cleanups } = world;
  const quiet = await seedBoard(seeding, 500, "quiet");
  const busy = await seedBoard(seeding, 500, "busy");
  await seedComments(world, busy);
  await seeding.raw("vacuum analyze");
  const own = await startService(world);
  const busyLoader = startLoader(cleanups);
  const load: Load = {
    url: service,
    calls: busyCalls(busy),
    fresh: "key",
    connections: CONNECTIONS,
    seconds: pace.seconds + 1,
  };
  const readAt = async (url: string): Promise<number> =>
    (await loader.run({ url, calls: cardReads(quiet), connections: 1, seconds: pace.seconds })).p95;
  const readUnderLoad = async (url: string): Promise<number> => {
    const running = busyLoader.run(load);
    await sleep(500);
    const p95 = await readAt(url);
    await running;
    // The service finishes the calls that the end of the load interrupted.
    await sleep(SETTLE_MS);
    return p95;
  };
  for (const url of [service, own.url]) await readAt(url);
  const rounds: { unloaded: number; owned: number; shared: number }[] = [];
  while (rounds.length < pace.rounds) {
    rounds.push({
      unloaded: await readAt(service),
      owned: await readUnderLoad(own.url),
      shared: await readUnderLoad(service),
    });
  }
  await own.stop();
  return reportFairness(rounds);
}

function reportFairness(
  rounds: readonly { readonly unloaded: number; readonly owned: number; readonly shared: number }[],
): Measurement[] {
  const row = (other: string, floor: (round: (typeof rounds)[number]) => number): Measurement =>
    report(
      {
        name: `p95 of card with ${CONNECTIONS} busy connections of another tenant ÷ ${other}`,
        value: median(rounds.map((round) => round.shared / floor(round))),
        goal: atMost(3),
      },
      `: ${short(median(rounds.map(({ shared }) => shared)))} and ${short(median(rounds.map(floor)))} ms`,
    );
  return [row("without", ({ unloaded }) => unloaded), row("in a separate process", ({ owned }) => owned)];
}

export const cardReads = (board: BenchBoard): Call[] =>
  cardNumbersOf(board).map((number) => ({
    method: "GET",
    path: `/v1/cards/${number}`,
    headers: auth(board),
  }));

/** A quarter of the connections each reads long timelines, comments, reads cards, reads drafts. */
function busyCalls(board: BenchBoard): Call[] {
  const [comment] = WRITES.comment.bodies(board);
  return cardNumbersOf(board).flatMap((number): Call[] => [
    { method: "GET", path: "/v1/cards/1/timeline", headers: auth(board) },
    {
      method: "POST",
      path: WRITES.comment.path(number + 1),
      headers: auth(board),
      body: JSON.stringify(comment),
    },
    { method: "GET", path: `/v1/cards/${number}`, headers: auth(board) },
    { method: "GET", path: "/v1/backlog", headers: auth(board) },
  ]);
}

async function seedComments({ seeding }: BenchWorld, board: BenchBoard): Promise<void> {
  await seeding.raw(
    `insert into timeline_items (id, card_id, type, actor_id, body)
     select gen_random_uuid(), c.id, 'comment', :userId, repeat('😀', 10000)
       from cards c, generate_series(1, ${COMMENTS}) where c.workspace_id = :workspaceId and c.number = 1`,
    { userId: board.userId, workspaceId: board.workspaceId },
  );
}
