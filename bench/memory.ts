import type { Pace } from "./compare.ts";
import { limitRow, median, type Row } from "./report.ts";
import type { BenchBoard } from "./seed.ts";
import type { BenchWorld } from "./world.ts";

/** How much more the service may hold at the end than in the middle of a load that stays the same. */
const FLAT = 1.1;
const SLICE_SECONDS = 3;

/** Memory before any load, at most, and at the end of `minutes` of the same calls over and over beside what it was in their middle. */
export async function measureMemory(
  world: BenchWorld,
  pace: Pace,
  { board, idle, minutes }: { readonly board: BenchBoard; readonly idle: number; readonly minutes: number },
): Promise<Row[]> {
  const headers = { authorization: `Bearer ${board.apiKey}` };
  const slices = pace.isShort ? 3 : Math.round((minutes * 60) / (2 * SLICE_SECONDS));
  const seconds = pace.isShort ? 1 : SLICE_SECONDS;
  const held: number[] = [];
  for (let slice = 0; slice < slices; slice++) {
    const reads = { url: world.service, method: "GET", headers, connections: 16, seconds } as const;
    await world.loader.measure({ ...reads, paths: ["/v1/board", "/v1/cards/1", "/v1/inbox"] });
    await world.loader.measure({
      ...reads,
      method: "PATCH",
      paths: ["/v1/cards/1", "/v1/cards/2"],
      bodies: ['{"title":"One"}', '{"title":"Another"}'],
      fresh: "key",
    });
    held.push(await world.memory("VmRSS"));
  }
  const third = Math.floor(slices / 3);
  const [middle, end] = [held.slice(third, 2 * third), held.slice(2 * third)].map(median);
  return [
    limitRow("memory idle, MB", idle, 150),
    limitRow("memory at most, under all of this load, MB", await world.memory("VmHWM"), 400),
    limitRow(
      `memory after ${minutes} minutes of one load ÷ in their middle`,
      (end ?? 0) / (middle ?? 1),
      FLAT,
    ),
  ];
}
