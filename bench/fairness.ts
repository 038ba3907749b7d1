import { setTimeout as sleep } from "node:timers/promises";
import { measureInTurns, type Pace } from "./compare.ts";
import type { Call, Load, LoadResult } from "./load.ts";
import { startLoader } from "./processes.ts";
import { atMost, median, report, short, type Measurement } from "./report.ts";
import { seedBoard, type BenchBoard } from "./seed.ts";
import { auth, cardNumbersOf, WRITES } from "./workloads.ts";
import type { BenchWorld } from "./world.ts";

const CONNECTIONS = 24;
/** Comments of 40 kB on one card, which the busy tenant reads. */
const COMMENTS = 600;
const SETTLE_MS = 2_000;

/** Reads cards of one board while another tenant keeps 24 connections busy, and while it does not. */
export async function measureFairness(world: BenchWorld, pace: Pace): Promise<Measurement[]> {
  const { seeding, service: url, loader, cleanups } = world;
  const quiet = await seedBoard(seeding, 500, "quiet");
  const busy = await seedBoard(seeding, 500, "busy");
  await seedComments(world, busy);
  await seeding.raw("vacuum analyze");
  const busyLoader = startLoader(cleanups);
  const reads: Load = { url, calls: cardReads(quiet), connections: 1, seconds: pace.seconds };
  const load: Load = {
    url,
    calls: busyCalls(busy),
    fresh: "key",
    connections: CONNECTIONS,
    seconds: pace.seconds + 1,
  };
  const loaded = async (): Promise<LoadResult> => {
    const running = busyLoader.run(load);
    await sleep(500);
    const result = await loader.run(reads);
    await running;
    // The service finishes the calls that the end of the load interrupted.
    await sleep(SETTLE_MS);
    return result;
  };
  await loader.run(reads);
  const pairs = await measureInTurns(pace, () => loader.run(reads), loaded);
  const [alone, during] = [0, 1].map((side) => short(median(pairs.map((pair) => pair[side]?.p95 ?? 0))));
  return [
    report(
      {
        name: `p95 of card with ${CONNECTIONS} busy connections of another tenant ÷ without`,
        value: median(pairs.map(([without, busyRun]) => busyRun.p95 / without.p95)),
        goal: atMost(3),
      },
      `: ${during} and ${alone} ms`,
    ),
  ];
}

const cardReads = (board: BenchBoard): Call[] =>
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
