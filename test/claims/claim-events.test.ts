import { beforeEach, describe, expect, it } from "@jest/globals";
import { recordExpiredClaims } from "../../src/actions/claims/claims.ts";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import type { Api } from "../support/api.ts";
import { claimed, claimNext, expireIn, release } from "./support/claim-calls.ts";
import { headOf, readFeed } from "../support/stories/event-stream.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
let agent: Api;
let other: Api;
beforeEach(async () => {
  board = await world.board();
  agent = await board.as({ role: "member" });
  other = await board.as({ role: "member" });
});

const newCard = async (): Promise<number> =>
  (await board.api.card({ repositoryIds: [], statusId: board.stages["To do"] })).number;

/** Kind, generation and outcome of the events of claims, which timeline and feed must share. */
async function eventsOf(number: number): Promise<unknown[]> {
  await headOf(board);
  const isClaim = ({ kind }: { kind: string }) => kind.startsWith("claim");
  const shown = (await board.api.timeline(number)).filter(isClaim);
  const fed = (await readFeed(board.api, `&card=${number}`)).filter(isClaim);
  expect(fed).toMatchObject(shown.map(({ kind, actor, data, at }) => ({ kind, actor, data, at })));
  return shown.map(({ kind, data }) => [
    kind,
    data["generation"],
    ...("outcome" in data ? [data["outcome"]] : []),
  ]);
}
const job = () => recordExpiredClaims(world.service.deps);

describe("the events of claims", () => {
  it("are claims and releases with their outcome, and no renewals", async () => {
    const number = await newCard();
    const { claimId } = await claimed(agent, number);
    await claimed(agent, number, { claimId });
    await claimed(agent, number);
    await release(agent, number, "The tests pass");
    await claimed(other, number);
    await release(other, number);
    expect(await eventsOf(number)).toEqual([
      ["claimed", 1],
      ["claimed", 2],
      ["claim_released", 2, "The tests pass"],
      ["claimed", 3],
      ["claim_released", 3, null],
    ]);
    const [first] = (await board.api.timeline(number)).filter(({ kind }) => kind === "claimed");
    expect(first).toMatchObject({ actor: { user: { name: "member agent" }, login: null } });
  });

  it("have an expiry at its time when the next claim is made, once", async () => {
    const number = await newCard();
    await claimed(agent, number);
    await expireIn(board, number, -5_000);
    await claimed(other, number);
    await job();
    expect(await eventsOf(number)).toEqual([
      ["claimed", 1],
      ["claim_expired", 1],
      ["claimed", 2],
    ]);
    await expireIn(board, number, -1);
    await claimNext(agent);
    expect((await eventsOf(number)).slice(3)).toEqual([
      ["claim_expired", 2],
      ["claimed", 3],
    ]);
    const [expired, next] = (await board.api.timeline(number)).slice(-4, -2);
    expect(Date.parse(next?.at ?? "") - Date.parse(expired?.at ?? "")).toBeGreaterThanOrEqual(5_000);
  });

  it("have an expiry once, if no claim follows: a job records it", async () => {
    const numbers = [await newCard(), await newCard()];
    for (const number of numbers) await claimed(agent, number);
    await job();
    await expireIn(board, numbers[0] ?? 0, -1);
    await Promise.all([job(), job()]);
    await job();
    await claimed(other, numbers[0] ?? 0);
    expect(await eventsOf(numbers[0] ?? 0)).toEqual([
      ["claimed", 1],
      ["claim_expired", 1],
      ["claimed", 2],
    ]);
    expect(await eventsOf(numbers[1] ?? 0)).toEqual([["claimed", 1]]);
  });

  it("have an expiry when the holder's credential is revoked", async () => {
    const number = await newCard();
    await claimed(agent, number);
    await revokeCredential(board.db, agent.apiKey.split("_")[1] ?? "");
    await job();
    expect(await eventsOf(number)).toEqual([
      ["claimed", 1],
      ["claim_expired", 1],
    ]);
  });

  it("have none of a deleted card but its deletion", async () => {
    const number = await newCard();
    await claimed(agent, number);
    await board.api.delete(`/v1/cards/${number}`);
    await job();
    await headOf(board);
    const kinds = (await readFeed(board.api, `&card=${number}`)).map(({ kind }) => kind);
    expect(kinds.slice(-2)).toEqual(["claimed", "card_deleted"]);
  });

  it("can be selected", async () => {
    const number = await newCard();
    await claimed(agent, number);
    await release(agent, number);
    await headOf(board);
    const events = await readFeed(board.api, "&kinds=claimed,claim_released,claim_expired");
    expect(events.map(({ kind }) => kind)).toEqual(["claimed", "claim_released"]);
  });
});
