import { beforeEach, describe, expect, it } from "@jest/globals";
import { connectMcp, type Mcp } from "../support/mcp/client.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let mcp: Mcp;
let other: Mcp;
beforeEach(async () => {
  board = await world.board();
  mcp = await connectMcp(await board.as({ role: "member" }));
  other = await connectMcp(await board.as({ role: "member" }));
});

const newCard = async (): Promise<number> =>
  (await board.api.card({ repositoryIds: [], statusId: board.stages["To do"] })).number;
const numbersOf = ({ data }: Awaited<ReturnType<Mcp["call"]>>): number[] =>
  data.items.map(({ number }: { number: number }) => number);

describe("claim_card", () => {
  it("claims the next free card, which my_work lists, and release_claim ends that", async () => {
    const number = await newCard();
    const found = await mcp.write("claim_card", { ttlSeconds: 60, note: "On it" });
    expect(found).toMatchObject({ isError: false, data: { card: { number, source: "trunkline" } } });
    const work = await mcp.call("my_work", { claimed: "mine" });
    expect(work.data.items).toMatchObject([{ number, claim: { generation: 1, note: "On it" } }]);
    expect(numbersOf(await other.call("my_work", { claimed: "true" }))).toEqual([number]);
    expect(
      numbersOf(await other.call("my_work", { claimed: "false", statusId: board.stages["To do"] })),
    ).toEqual([]);
    expect(numbersOf(await other.call("my_work", { claimed: "true", assignee: "@me" }))).toEqual([]);
    const none = await other.write("claim_card", { ttlSeconds: 60 });
    expect(none).toMatchObject({
      isError: false,
      text: "No card is free.",
      data: { card: null, claim: null },
    });
    const released = await mcp.write("release_claim", { number, outcome: "Not mine" });
    expect(released).toMatchObject({ isError: false, text: "The claim is released." });
    expect(numbersOf(await mcp.call("my_work", { claimed: "mine" }))).toEqual([]);
    await board.api.delete(`/v1/cards/${number}`);
  });

  it("claims and renews a card, and says who has it", async () => {
    const number = await newCard();
    const { data: claim } = await mcp.write("claim_card", { number, ttlSeconds: 60 });
    expect(claim).toMatchObject({ generation: 1, holder: { name: "member agent" } });
    const renewed = await mcp.write("claim_card", { number, ttlSeconds: 3_600, claimId: claim["claimId"] });
    expect(renewed.data).toMatchObject({ generation: 1, claimId: claim["claimId"] });
    const refused = await other.write("claim_card", { number, ttlSeconds: 60 });
    expect(refused).toMatchObject({ isError: true, data: { code: "claimed", claim: { generation: 1 } } });
    expect(refused.text).toMatch(/Another agent works on this card.*Choose another/);
    const alone = await mcp.write("claim_card", { ttlSeconds: 60, claimId: claim["claimId"] });
    expect(alone).toMatchObject({ isError: true, data: { statusCode: 400, issues: [{ path: "number" }] } });
  });

  it("gives the claim that writes present, and a lost one is refused", async () => {
    const number = await newCard();
    const tokenOf = ({ data: { claimId, generation } }: Awaited<ReturnType<Mcp["call"]>>) =>
      `${claimId}.${generation}`;
    const before = tokenOf(await mcp.write("claim_card", { number, ttlSeconds: 60 }));
    const claim = tokenOf(await mcp.write("claim_card", { number, ttlSeconds: 60 }));
    const writes = [
      ["update_card", { title: "Renamed" }],
      ["comment", { body: "Done" }],
      ["move_card", { statusId: board.stages["To do"], index: 0 }],
      ["release_claim", {}],
    ] as const;
    for (const [tool, input] of writes) {
      const refused = await mcp.write(tool, { number, ...input, claim: before });
      expect(refused).toMatchObject({ isError: true, data: { code: "claim_lost" } });
      expect(refused.text).toMatch(/lost the claim/);
      expect((await mcp.write(tool, { number, ...input, claim })).isError).toBe(false);
    }
    const malformed = await mcp.write("comment", { number, body: "Hello", claim: "mine" });
    expect(malformed).toMatchObject({ isError: true, data: { statusCode: 400 } });
  });
});
