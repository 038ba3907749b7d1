import { setTimeout as sleep } from "node:timers/promises";
import { retryOnError } from "./retry-on-error.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";
import { uniqueText, type BoardKnowledge } from "./board-knowledge.ts";
import type { Caller, ClaimToken, Outcome } from "./caller.ts";

export interface ClaimerContext {
  readonly caller: Caller;
  readonly random: SeededRandom;
  readonly own: BoardKnowledge;
  /** The next cards, for which the claimers of a board compete: fewer than they may hold together. */
  readonly numbers: readonly number[];
  /** Further cards, which are never the next ones. */
  readonly others: readonly number[];
}

interface Held extends ClaimToken {
  readonly number: number;
}

/** A program with one credential and the claims that it believes to hold, or knows to be lost. */
interface Claimer extends ClaimerContext {
  held: Held[];
  lost: Held[];
}

const WEIGHTS = {
  next: 6,
  claim: 2,
  grab: 2,
  renew: 2,
  takeOver: 3,
  release: 5,
  write: 4,
  writeLate: 2,
} as const;

type Action = (claimer: Claimer) => Promise<unknown>;

const ACTIONS: Readonly<Record<keyof typeof WEIGHTS, Action>> = {
  // The workers of one program ask at the same time, and so do those of the other programs.
  next: (claimer) =>
    Promise.all(Array.from({ length: claimer.random.between(2, 4) }, () => claimNext(claimer))),
  claim: (claimer) => claim(claimer, claimer.random.pick(claimer.numbers)),
  grab,
  renew: async (claimer) => {
    const held = claimer.random.pick(claimer.held);
    if (held) await claim(claimer, held.number, held.claimId);
  },
  takeOver,
  release: (claimer) => release(claimer, claimer.random.pick(claimer.held)),
  write: (claimer) => writeUnder(claimer, claimer.random.pick(claimer.held)),
  writeLate: (claimer) => writeUnder(claimer, claimer.random.pick(claimer.lost.slice(-4))),
};

/** Claims, renews, releases and writes until `isOver`. */
export async function runClaimer(context: ClaimerContext, isOver: () => boolean): Promise<void> {
  const claimer: Claimer = { ...context, held: [], lost: [] };
  while (!isOver()) {
    await ACTIONS[context.random.weighted(WEIGHTS)](claimer);
    await sleep(context.random.between(0, 60));
  }
}

const ttl = (random: SeededRandom) => ({ ttlSeconds: random.between(60, 3_600) });

async function claimNext(claimer: Claimer): Promise<void> {
  const { caller, own, random } = claimer;
  const sent = { statusId: own.board.stages["In progress"], ...ttl(random) };
  const { status, body } = await caller.write("POST", "/v1/claims/next", sent);
  if (status !== 200) return;
  const { card, claim: got } = body as { card: { number: number }; claim: ClaimToken };
  keep(claimer, { ...got, number: card.number });
}

async function claim(claimer: Claimer, number: number | undefined, claimId?: string): Promise<void> {
  if (number === undefined) return;
  const sent = { ...ttl(claimer.random), ...(claimId !== undefined && { claimId }) };
  const { status, body } = await claimer.caller.write("POST", `/v1/cards/${number}/claim`, sent);
  if (status === 200) keep(claimer, { ...(body as ClaimToken), number });
  else if (claimId !== undefined && isLost({ status, body })) lose(claimer, claimId);
}

/** Asks for more cards at the same time than it may claim, and gives back what it got. */
async function grab(claimer: Claimer): Promise<void> {
  await Promise.all(claimer.others.map((number) => claim(claimer, number)));
  const got = claimer.held.filter(({ number }) => claimer.others.includes(number));
  await Promise.all(got.map((held) => release(claimer, held)));
}

/** The program is restarted and has forgotten its claim, while its earlier run still writes. */
async function takeOver(claimer: Claimer): Promise<void> {
  const earlier = claimer.random.pick(claimer.held);
  await claim(claimer, earlier?.number);
  await writeUnder(claimer, earlier);
}

async function release(claimer: Claimer, held: Held | undefined): Promise<void> {
  if (!held) return;
  await claimer.caller.write("DELETE", `/v1/cards/${held.number}/claim`, { outcome: "released" });
  lose(claimer, held.claimId);
}

async function writeUnder(claimer: Claimer, held: Held | undefined): Promise<void> {
  if (!held) return;
  const { caller, random, own } = claimer;
  const path = `/v1/cards/${held.number}`;
  const move = { statusId: own.board.stages["In progress"], index: random.between(0, 2) };
  const response = await random.pick([
    () => caller.write("PATCH", path, { title: uniqueText(own, "claimed") }, held),
    () => caller.write("POST", `${path}/comments`, { body: uniqueText(own, "claimed") }, held),
    () => caller.write("POST", `${path}/move`, move, held),
  ])?.();
  if (response && isLost(response)) lose(claimer, held.claimId);
}

const isLost = ({ status, body }: Outcome): boolean =>
  status === 409 && (body as { code?: string }).code === "claim_lost";

/** A newer claim of the same card ends the one before. */
function keep(claimer: Claimer, held: Held): void {
  const before = claimer.held.filter(({ number }) => number === held.number);
  claimer.lost.push(...before.filter(({ claimId }) => claimId !== held.claimId));
  claimer.held = [...claimer.held.filter(({ number }) => number !== held.number), held];
}

function lose(claimer: Claimer, claimId: string): void {
  claimer.lost.push(...claimer.held.filter((held) => held.claimId === claimId));
  claimer.held = claimer.held.filter((held) => held.claimId !== claimId);
}

/** Lets claims expire at random moments: the shortest one lasts longer than a run. */
export async function expireClaims(
  { deps: { db } }: FaultWorld,
  random: SeededRandom,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await sleep(random.between(200, 1_200));
    await retryOnError(() =>
      db.raw(
        `update claims set expires_at = clock_timestamp()
          where card_id in (select card_id from claims where expires_at > now() order by random() limit 1)`,
      ),
    );
    history.event("note", "a claim expires");
  }
}
