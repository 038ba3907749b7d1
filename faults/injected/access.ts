import { setTimeout as sleep } from "node:timers/promises";
import { revokeCredential } from "../../src/store/tenancy/credentials.ts";
import { setMembership } from "../../src/store/tenancy/memberships.ts";
import { runAgent } from "../actors/agent.ts";
import { uniqueText, type BoardKnowledge } from "../actors/board-knowledge.ts";
import { clientIdOf, makeCaller, type Caller } from "../actors/caller.ts";
import { retryOnError } from "../actors/retry-on-error.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import { secretOf, type FaultWorld } from "../world/world.ts";

/** The event that a member's access has ended: from then on nothing may be done for it. */
export const ACCESS_ENDED = "access ended";

export interface AccessEnd {
  readonly actor: string;
  readonly userId: string;
  readonly how: keyof typeof ENDS;
}

interface AccessContext {
  readonly world: FaultWorld;
  readonly own: BoardKnowledge;
  readonly random: SeededRandom;
  readonly history: History;
  readonly retryUntil: () => number;
}

interface Member {
  readonly userId: string;
  readonly clientId: string;
}

const WEIGHTS = { revoked: 3, lowered: 2, removed: 2 };

type End = (world: FaultWorld, board: BoardKnowledge["board"], member: Member) => Promise<unknown>;

const ENDS: Readonly<Record<keyof typeof WEIGHTS, End>> = {
  revoked: ({ deps }, _, { clientId }) => revokeCredential(deps.db, clientId),
  lowered: ({ deps }, { workspaceId }, { userId }) =>
    setMembership(deps.db, { workspaceId, userId, role: "viewer" }),
  // `trunkline member remove` needs a login, which the user of a credential lacks.
  removed: ({ deps }, { workspaceId }, { userId }) =>
    deps.db("memberships").where({ workspace_id: workspaceId, user_id: userId }).delete(),
};

/** How long a member goes on calling after its access has ended. */
const CALLS_AFTER_END_MS = 1_500;

/** Ends the access of one member of a board after the other, while its calls and a promotion run. */
export async function endAccess(context: AccessContext, isOver: () => boolean): Promise<void> {
  const { own, random } = context;
  for (let nth = 1; !isOver(); nth++) {
    const actor = `leaving-${nth}-${own.board.owner}`;
    const { caller, member } = await newMember(context, actor);
    let end = Infinity;
    const isGone = (): boolean => Date.now() > end;
    const agent = { caller, random: random.for(actor), own, foreign: undefined };
    const work = [runAgent(agent, isGone), promoteAll(caller, own)];
    await sleep(random.between(300, 4_000));
    await endAccessOf(context, actor, member);
    end = Date.now() + CALLS_AFTER_END_MS;
    await Promise.all(work);
  }
}

/** Ends the access of a member in a random way. */
export async function endAccessOf(
  { world, own, random, history }: Omit<AccessContext, "retryUntil">,
  actor: string,
  member: Member,
): Promise<void> {
  const how = random.weighted(WEIGHTS);
  await retryOnError(() => ENDS[how](world, own.board, member));
  const detail: AccessEnd = { actor, userId: member.userId, how };
  history.event("fault", ACCESS_ENDED, detail);
}

/** A caller with its own credential, as a maintainer. */
export async function newMember(
  { world, own, random, history, retryUntil }: AccessContext,
  actor: string,
): Promise<{ readonly caller: Caller; readonly member: Member }> {
  const { board } = own;
  const { apiKey } = await retryOnError(() => board.as({ role: "maintainer" }));
  world.secrets.set(`the API key of ${actor}`, secretOf(apiKey));
  const clientId = clientIdOf(apiKey);
  const { user_id: userId } = await retryOnError(() =>
    board.db("credentials").where({ client_id: clientId }).first("user_id"),
  );
  const { owner } = board;
  const { processes } = world;
  const callRandom = random.for(`${actor} calls`);
  const caller = makeCaller({ actor, owner, apiKey, processes, random: callRandom, history, retryUntil });
  return { caller, member: { userId, clientId } };
}

/** Promotes all known cards into the stage that merges: many moves of one request. */
async function promoteAll(caller: Caller, own: BoardKnowledge): Promise<void> {
  const created = await caller.write("POST", "/v1/releases", { name: uniqueText(own, "release") });
  if (created.status !== 201) return;
  const { id } = created.body as { id: string };
  await caller.write("PUT", `/v1/releases/${id}/cards`, { taskNumbers: own.cards.slice(-6) });
  await caller.write("POST", `/v1/releases/${id}/promote`, { statusId: own.board.stages.Done });
}
