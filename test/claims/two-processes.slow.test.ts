import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { startSurroundings, type Surroundings } from "../faults/support/surroundings.ts";
import { eventually, makeApi, type Api } from "../support/api.ts";
import { shipService, type Shipped, type ShippedProcess } from "../support/processes/shipped-service.ts";
import { whileLocked } from "../support/stories/locks.ts";
import type { TestBoard } from "../support/world.ts";
import { claim, claimed, claimNext, expireIn, shownClaim, under } from "./support/claim-calls.ts";

const CLIENTS = 64;
const CARDS = 40;

let shipped: Shipped;
let surroundings: Surroundings;
let first: ShippedProcess;
let second: ShippedProcess;
let board: TestBoard;
beforeAll(async () => {
  [shipped, surroundings] = await Promise.all([shipService(), startSurroundings()]);
  first = await shipped.start(surroundings);
  second = await shipped.start(surroundings);
  board = await surroundings.board(second.baseUrl);
});
afterAll(async () => {
  for (const service of [first, second]) await service.kill();
  await surroundings.stop();
  await shipped.remove();
});

const agentAt = async ({ baseUrl }: ShippedProcess): Promise<Api> =>
  makeApi(baseUrl, (await board.as({ role: "member" })).apiKey);

const newCard = async (): Promise<number> =>
  (await board.api.card({ repositoryIds: [], statusId: board.stages["To do"] })).number;

it(`${CLIENTS} clients of two processes claim ${CARDS} cards, each card once`, async () => {
  const numbers = await Promise.all(Array.from({ length: CARDS }, newCard));
  const agents = await Promise.all(
    Array.from({ length: CLIENTS }, (_, at) => agentAt(at % 2 === 0 ? first : second)),
  );
  const responses = await Promise.all(agents.map((agent) => claimNext(agent, { ttlSeconds: 3_600 })));
  const found = responses.filter(({ status }) => status === 200).map(({ body }) => body);
  expect(found.map(({ card }) => card.number).toSorted((a, b) => a - b)).toEqual(
    numbers.toSorted((a, b) => a - b),
  );
  expect(responses.filter(({ status }) => status === 204)).toHaveLength(CLIENTS - CARDS);
  expect(found.map(({ claim: { generation } }) => generation)).toEqual(numbers.map(() => 1));
  expect(new Set(found.map(({ claim: { claimId } }) => claimId)).size).toBe(CARDS);
});

it("a restarted program takes its claim over at another process and fences out its earlier run", async () => {
  const number = await newCard();
  const before = await agentAt(first);
  const after = makeApi(second.baseUrl, before.apiKey);
  const early = await claimed(before, number, { ttlSeconds: 3_600 });
  const late = await claimed(after, number, { ttlSeconds: 3_600 });
  expect(late.generation).toBe(2);
  const write = (api: Api, title: string, token: typeof early) =>
    api.patch(`/v1/cards/${number}`, { title }, under(token));
  expect(await write(before, "From the earlier run", early)).toMatchObject({
    status: 409,
    body: { code: "claim_lost", claim: { generation: 2 } },
  });
  expect((await write(after, "From the later run", late)).status).toBe(200);
  expect((await board.api.readCard(number)).title).toBe("From the later run");
});

it("claims of a killed holder are free as soon as they expire, while no job runs", async () => {
  const numbers = [await newCard(), await newCard(), await newCard()];
  const holder = await agentAt(first);
  for (const number of numbers) await claimed(holder, number);
  await first.kill();
  const others = [await agentAt(second), await agentAt(second), await agentAt(second)] as const;
  await whileLocked(
    surroundings.db,
    (trx) => trx.raw("lock table graphile_worker._private_jobs in access exclusive mode"),
    async () => {
      for (const number of numbers) await expireIn(board, number, 3_000);
      expect((await claim(others[0], numbers[0] ?? 0)).body.code).toBe("claimed");
      expect((await claimNext(others[0])).status).toBe(204);
      await eventually(
        () => Promise.all(numbers.map((number) => shownClaim(board.api, number))),
        (claims) => claims.every((shown) => shown === undefined),
      );
      // The first call after the expiry succeeds.
      expect((await claim(others[0], numbers[0] ?? 0)).body.generation).toBe(2);
      const next = [await claimNext(others[1]), await claimNext(others[2])];
      expect(new Set(next.map(({ body }) => body.card?.number))).toEqual(new Set(numbers.slice(1)));
    },
  );
  expect((await shownClaim(board.api, numbers[0] ?? 0))?.generation).toBe(2);
});
