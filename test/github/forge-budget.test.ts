import { describe, expect, it } from "@jest/globals";
import { rateLimitsAreRespected } from "../../faults/checker/rate-limits.ts";
import type { Subject } from "../../faults/checker/subject.ts";
import type { ForgeCall, ForgeRecord } from "../../faults/world/forge-record.ts";

/** GitHub requests three seconds without calls from time 0. */
const HOLD = { installationId: 7, from: 0, until: 3_000 };

async function foundIn(call: Pick<ForgeCall, "sentAt" | "receivedAt">): Promise<readonly string[]> {
  const made = { installationId: 7, isWrite: false, route: "GET /x", ...call };
  const endLimits = (): void => undefined;
  const record: ForgeRecord = {
    calls: [made],
    limits: [HOLD],
    effects: [],
    endLimits,
    tokens: new Set(),
  };
  return await rateLimitsAreRespected({ world: { record } } as unknown as Subject);
}

// Invariant: I11
describe("a call during a rate limit", () => {
  it("is judged by its time of sending: one that was sent before the limit is permitted", async () => {
    expect(await foundIn({ sentAt: 490, receivedAt: 1_585 })).toEqual([]);
    expect(await foundIn({ sentAt: 2_950, receivedAt: 4_000 })).toEqual([]);
  });

  it("is reported if it was sent after the limit arrived, however late the check is", async () => {
    const found = ["GET /x of installation 7 was called 1000 ms before the limit ended"];
    expect(await foundIn({ sentAt: 2_000, receivedAt: 2_000 })).toEqual(found);
    expect(await foundIn({ sentAt: 2_000, receivedAt: 3_500 })).toEqual(found);
  });
});
