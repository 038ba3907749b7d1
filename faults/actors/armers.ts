import { setTimeout as sleep } from "node:timers/promises";
import { reportStatus } from "../../test/support/stories/repairing.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import { endAccessOf, newMember } from "../injected/access.ts";
import { expireArmed } from "../injected/expire-armed.ts";
import type { FaultWorld } from "../world/world.ts";
import type { BoardKnowledge } from "./board-knowledge.ts";
import type { Caller, Outcome } from "./caller.ts";
import { commitTo, createCardWithCommit, type CardWithCommit } from "./card-with-commit.ts";
import { setGates } from "./limited-stage.ts";

export interface ArmerContext {
  readonly world: FaultWorld;
  readonly caller: Caller;
  readonly random: SeededRandom;
  readonly own: BoardKnowledge;
  readonly history: History;
  readonly retryUntil: () => number;
}

/** An armed card and the commits that its branch has had, the newest last. */
interface ArmedCard extends CardWithCommit {
  readonly caller: Caller;
  readonly shas: string[];
}

/** The stage that armed moves enter. */
const LANDING = "Done";

const WEIGHTS = {
  wait: 4,
  fail: 1,
  push: 3,
  cancel: 1,
  moveAway: 1,
  armAgain: 1,
  requestChanges: 1,
  expire: 2,
} as const;
/** Each happens once before random ones. A move whose access ends has its own credential. */
export const DISTURBANCES = ["push", "expire", "endAccess", "wait", "cancel", "closeStage"] as const;

type Disturbance = keyof typeof WEIGHTS | (typeof DISTURBANCES)[number];
type Action = (context: ArmerContext, card: ArmedCard) => Promise<unknown>;

const ACTIONS: Readonly<Record<Exclude<Disturbance, "endAccess">, Action>> = {
  wait: () => Promise.resolve(),
  fail: ({ own }, { shas }) => reportStatus(own.board, shas.at(-1), "failure"),
  push: async ({ own, random }, { branch, shas }) => {
    const sha = await commitTo(own, branch, random.pick(["ada", "grace"] as const) ?? "ada");
    if (sha !== null) shas.push(sha);
  },
  cancel: ({ caller }, { number }) => caller.write("DELETE", `/v1/cards/${number}/armed`),
  moveAway: ({ caller, own }, { number }) =>
    caller.write("POST", `/v1/cards/${number}/move`, { statusId: own.board.stages["In progress"], index: 0 }),
  armAgain: (context, card) => arm(context, card),
  requestChanges: async ({ own }, { branch }) => {
    const { owner } = own.board;
    const pulls = await own.board.person("grace", "GET", `/repos/${owner}/web/pulls?head=${owner}:${branch}`);
    const [pull] = pulls.status === 200 ? (pulls.body as unknown as readonly { number: number }[]) : [];
    const review = { event: "REQUEST_CHANGES", body: "Not yet" };
    if (pull)
      await own.board.person("grace", "POST", `/repos/${owner}/web/pulls/${pull.number}/reviews`, review);
  },
  expire: ({ world, own, history }, { number }) => {
    history.event("note", "an armed move expires", { number });
    return expireArmed(world, own.board, number);
  },
  closeStage: async ({ caller, own }) => {
    await setGates(caller, own, LANDING, { humanOnly: true });
  },
};

/** Arms cards and disturbs them, then lets their check pass. */
export async function runArmer(
  context: ArmerContext,
  first: readonly Disturbance[],
  isOver: () => boolean,
): Promise<void> {
  const planned = [...first];
  while (!isOver()) {
    const disturbance = planned.shift() ?? context.random.weighted(WEIGHTS);
    if (disturbance === "endAccess") await armAndEndAccess(context);
    else await armAndDisturb(context, disturbance);
    await sleep(context.random.between(0, 200));
  }
}

async function armAndDisturb(
  context: ArmerContext,
  disturbance: Exclude<Disturbance, "endAccess">,
): Promise<void> {
  const card = await armedCard(context, context.caller);
  if (!card) return;
  await ACTIONS[disturbance](context, card);
  await passChecks(context, card);
  if (disturbance === "closeStage") await setGates(context.caller, context.own, LANDING);
}

async function armAndEndAccess(context: ArmerContext): Promise<void> {
  const actor = `leaving-${context.caller.actor}-${context.own.board.owner}`;
  const { caller, member } = await newMember(context, actor);
  const card = await armedCard(context, caller);
  await endAccessOf(context, actor, member);
  if (card) await passChecks(context, card);
}

/** The check starts and passes late, for older commits too. Then the move may land for a while. */
async function passChecks({ own, random }: ArmerContext, { shas }: ArmedCard): Promise<void> {
  await sleep(random.between(0, 300));
  if (random.chance(0.3)) await reportStatus(own.board, shas.at(-1), "pending");
  for (const sha of shas) await reportStatus(own.board, sha, "success");
  await sleep(random.between(500, 2_000));
}

/** Undefined if the move is not armed, for example by a fault. */
async function armedCard(context: ArmerContext, caller: Caller): Promise<ArmedCard | undefined> {
  const card = await createCardWithCommit(caller, context.own, "ada");
  if (!card) return undefined;
  const armedCard = { ...card, caller, shas: [card.sha] };
  const review = { statusId: context.own.board.stages["In review"], index: 0 };
  await caller.write("POST", `/v1/cards/${card.number}/move`, review);
  const { status, body } = await arm(context, armedCard);
  if (status !== 202 || !(body as { armed?: unknown }).armed) return undefined;
  context.history.event("note", "a move is armed", { number: card.number });
  return armedCard;
}

/** With the commit that the caller knows, or with any. */
async function arm({ own, random }: ArmerContext, { caller, number, shas }: ArmedCard): Promise<Outcome> {
  const { owner, stages } = own.board;
  const headShas = { [`${owner}/web`]: shas.at(-1) };
  const expiresInHours = random.between(1, 3);
  const sent = random.weighted({ none: 2, outer: 1, inner: 1 });
  return caller.write("POST", `/v1/cards/${number}/move`, {
    statusId: stages[LANDING],
    index: random.between(0, 2),
    whenReady: { expiresInHours, ...(sent === "inner" && { headShas }) },
    ...(sent === "outer" && { headShas }),
  });
}
