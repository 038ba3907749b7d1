import { followByPolling, followByStream } from "../../test/support/stories/feed-followers.ts";
import type { BoardFollower } from "../checker/subject.ts";
import type { History } from "../history.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { secretOf, type FaultWorld } from "../world/world.ts";
import type { AgentContext } from "./agent.ts";
import type { ArmedContext } from "./armed-board.ts";
import type { BoardKnowledge } from "./board-knowledge.ts";
import { makeCaller, type Caller } from "./caller.ts";
import type { GatedContext } from "./gated-board.ts";
import type { Reviewer } from "./reviewers.ts";
import { runPerson } from "./person.ts";
import { prepareBoard } from "./prepare-board.ts";

const AGENTS_PER_BOARD = 3;
const SETUP_TIMEOUT_MS = 60_000;

/** A poller and a stream for each board, with a credential each. */
export async function followFeeds({ boards, processes, secrets }: FaultWorld): Promise<BoardFollower[]> {
  const baseUrls = processes.map(({ baseUrl }) => baseUrl);
  const followers: BoardFollower[] = [];
  for (const board of boards) {
    for (const follow of [followByPolling, followByStream]) {
      const { apiKey } = await board.as({ role: "viewer" });
      const follower = follow({ baseUrls, apiKey });
      secrets.set(`the API key of the ${follower.name} of ${board.owner}`, secretOf(apiKey));
      followers.push({ board, follower });
    }
  }
  return followers;
}

/** Prepares each board, with a caller that also knows another board. */
export function prepareBoards(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  random: SeededRandom,
  history: History,
): Promise<AgentContext[]> {
  const deadline = Date.now() + SETUP_TIMEOUT_MS;
  return Promise.all(
    known.map(async (own, at) => {
      const actor = `preparer-${at + 1}`;
      const caller = await callerFor(world, own, actor, random, history, () => deadline);
      await prepareBoard(caller, own);
      return { caller, random: random.for(actor), own, foreign: known[(at + 1) % known.length] };
    }),
  );
}

/** Runs the people of all boards until the faults end. */
export async function runPeople(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  random: SeededRandom,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  const people = known.flatMap((own) =>
    (["ada", "grace"] as const).map((login) =>
      runPerson({ world, login, random: random.for(`${login} ${known.indexOf(own)}`), own, history }, isOver),
    ),
  );
  await Promise.all(people);
}

/** Agents for every board, with a credential each. */
export async function makeAgents(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  random: SeededRandom,
  history: History,
  retryUntil: () => number,
): Promise<AgentContext[]> {
  const agents: AgentContext[] = [];
  for (const [at, own] of known.entries()) {
    for (let nth = 1; nth <= AGENTS_PER_BOARD; nth++) {
      const actor = `agent-${at + 1}-${nth}`;
      const caller = await callerFor(world, own, actor, random, history, retryUntil);
      agents.push({ caller, random: random.for(actor), own, foreign: known[(at + 1) % known.length] });
    }
  }
  return agents;
}

/** What a board with its own callers, instead of agents, runs with. */
export function contextOf(
  world: FaultWorld,
  own: BoardKnowledge,
  random: SeededRandom,
  history: History,
  retryUntil: () => number,
): GatedContext & ArmedContext {
  const made = (actor: string, owner?: Reviewer["login"]): Promise<Caller> =>
    callerFor(world, own, actor, random, history, retryUntil, owner);
  return { world, own, random, history, retryUntil, callerFor: made };
}

/** A caller with its own credential for a board, which a person may own. */
async function callerFor(
  { processes, secrets }: FaultWorld,
  { board }: BoardKnowledge,
  actor: string,
  random: SeededRandom,
  history: History,
  retryUntil: () => number,
  owner?: "ada" | "grace",
): Promise<Caller> {
  const { apiKey } = await board.as(owner ? { owner: `${owner}-${board.owner.slice(4)}` } : {});
  secrets.set(`the API key of ${actor}`, secretOf(apiKey));
  const own = random.for(`${actor} calls`);
  return makeCaller({ actor, owner: board.owner, apiKey, processes, random: own, history, retryUntil });
}
