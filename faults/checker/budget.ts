import type { ForgeCall } from "../world/forge-record.ts";
import type { Invariant } from "./subject.ts";

/** Turns are a second apart where they are given; how late a busy machine sends what has its turn is not ours. */
const LATE_WRITES = 3;
/** Word has to reach the process that is told, be written down there, and be seen by the others; what they send until then is not held against them. */
const ON_ITS_WAY_MS = 1_500;
const POINTS_A_MINUTE = 900;

// Invariant: I11 GitHub's rate limits are respected
/** I11: one write a second for each installation, 900 points a minute, and no call while the forge has asked for none. */
export const theForgesBudgetIsKept: Invariant = ({ world }) => {
  const { calls, holds } = world.record;
  const found: string[] = [];
  for (const installationId of new Set(calls.map((call) => call.installationId))) {
    const own = calls.filter((call) => call.installationId === installationId);
    found.push(...tooManyWrites(own), ...tooManyPoints(own));
  }
  for (const { installationId, from, until, budget } of holds) {
    const early = calls.filter(
      (call) =>
        call.installationId === installationId &&
        call.sentAt > from + ON_ITS_WAY_MS &&
        call.sentAt < until - 100 &&
        (budget === null || (budget === "graphql") === call.isGraphql),
    );
    found.push(
      ...early.map(
        ({ route, sentAt }) =>
          `${route} was called ${until - sentAt} ms before the installation ${installationId} was to be called again`,
      ),
    );
  }
  return found;
};

function tooManyWrites(calls: readonly ForgeCall[]): string[] {
  const writes = calls.filter(({ isWrite }) => isWrite).map(({ at }) => at);
  for (const [first, from] of writes.entries()) {
    for (let last = first + 1; last < writes.length; last++) {
      const seconds = ((writes[last] ?? 0) - from) / 1_000;
      const count = last - first + 1;
      if (count > seconds + 1 + LATE_WRITES) return [`${count} writes were made within ${seconds} s`];
    }
  }
  return [];
}

function tooManyPoints(calls: readonly ForgeCall[]): string[] {
  const costs = calls.map(({ at, isWrite }) => ({ at, points: isWrite ? 5 : 1 }));
  for (const { at } of costs) {
    const points = costs
      .filter((each) => each.at >= at && each.at < at + 60_000)
      .reduce((sum, each) => sum + each.points, 0);
    if (points > POINTS_A_MINUTE) return [`${points} points were spent within a minute`];
  }
  return [];
}
