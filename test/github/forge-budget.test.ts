import { describe, expect, it } from "@jest/globals";
import { rateLimitsAreRespected } from "../../faults/checker/rate-limits.ts";
import type { Subject } from "../../faults/checker/subject.ts";
import type { ForgeCall, ForgeRecord } from "../../faults/world/forge-record.ts";

/** The forge asked for three seconds without calls, at 0. */
const HOLD = { installationId: 7, from: 0, until: 3_000 };

async function foundIn(call: Pick<ForgeCall, "sentAt" | "receivedAt">): Promise<readonly string[]> {
  const made = { installationId: 7, isWrite: false, route: "GET /x", ...call };
  const endLimits = (): void => undefined;
  const record: ForgeRecord = { calls: [made], limits: [HOLD], endLimits, tokens: new Set() };
  return await rateLimitsAreRespected({ world: { record } } as unknown as Subject);
}

// Invariant: I11
describe("a call while the forge has asked for none", () => {
  it("counts from when it was sent: what was on its way when word came is not held against anybody", async () => {
    expect(await foundIn({ sentAt: 490, receivedAt: 1_585 })).toEqual([]);
    expect(await foundIn({ sentAt: 2_950, receivedAt: 4_000 })).toEqual([]);
  });

  it("is found where it was sent after word had time to come, however late it was looked at", async () => {
    const found = ["GET /x of installation 7 was called 1000 ms before the limit ended"];
    expect(await foundIn({ sentAt: 2_000, receivedAt: 2_000 })).toEqual(found);
    expect(await foundIn({ sentAt: 2_000, receivedAt: 3_500 })).toEqual(found);
  });
});
