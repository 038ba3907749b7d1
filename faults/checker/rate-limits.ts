import type { ForgeCall } from "../world/forge-record.ts";
import type { Invariant } from "./subject.ts";

/** The service starts writes one second apart, but a busy machine may send some of them late. */
const LATE_WRITES = 3;
/** The time for the limit to reach a process, be stored, and be read by the other processes. */
const PROPAGATION_MS = 1_500;
const POINTS_PER_MINUTE = 900;

// Invariant: I11 GitHub's rate limits are respected
/** Per installation: one write a second, 900 points a minute, and no call before a limit ends. */
export const rateLimitsAreRespected: Invariant = ({ world }) => {
  const { calls, limits } = world.record;
  const found: string[] = [];
  for (const installationId of new Set(calls.map((call) => call.installationId))) {
    const own = calls.filter((call) => call.installationId === installationId);
    found.push(...tooManyWrites(own), ...tooManyPoints(own));
  }
  for (const { installationId, from, until } of limits) {
    const violations = calls.filter(
      (call) =>
        call.installationId === installationId &&
        call.sentAt > from + PROPAGATION_MS &&
        call.sentAt < until - 100,
    );
    found.push(
      ...violations.map(
        ({ route, sentAt }) =>
          `${route} of installation ${installationId} was called ${until - sentAt} ms before the limit ended`,
      ),
    );
  }
  return found;
};

function tooManyWrites(calls: readonly ForgeCall[]): string[] {
  const writes = calls.filter(({ isWrite }) => isWrite).map(({ receivedAt }) => receivedAt);
  for (const [first, from] of writes.entries()) {
    for (let last = first + 1; last < writes.length; last++) {
      const seconds = ((writes[last] ?? 0) - from) / 1_000;
      const count = last - first + 1;
      if (count > seconds + 1 + LATE_WRITES) return [`${count} writes within ${seconds} s`];
    }
  }
  return [];
}

function tooManyPoints(calls: readonly ForgeCall[]): string[] {
  const costs = calls.map(({ receivedAt: at, isWrite }) => ({ at, points: isWrite ? 5 : 1 }));
  for (const { at } of costs) {
    const points = costs
      .filter((each) => each.at >= at && each.at < at + 60_000)
      .reduce((sum, each) => sum + each.points, 0);
    if (points > POINTS_PER_MINUTE) return [`${points} points within a minute`];
  }
  return [];
}
