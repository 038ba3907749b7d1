import { runAgent, type AgentContext } from "../../faults/actors/agent.ts";
import { newKnowledge, type BoardKnowledge } from "../../faults/actors/board-knowledge.ts";
import { makeCaller } from "../../faults/actors/caller.ts";
import type { AcknowledgedComment, Commenting } from "../../faults/actors/commenting.ts";
import { newPerson, runConsolePerson, signInToConsole } from "../../faults/actors/console-person.ts";
import { runMcpAgent } from "../../faults/actors/mcp-agent.ts";
import { runPerson } from "../../faults/actors/person.ts";
import type { BoardFollower } from "../../faults/checker/subject.ts";
import { createRandom, type SeededRandom } from "../../faults/seeded-random.ts";
import { secretOf } from "../../faults/world/world.ts";
import { followByPolling, followByStream } from "../../test/support/stories/feed-followers.ts";
import type { HaWorld } from "../world.ts";

/** Clients that follow the retry rules, and people on the forge. All calls go through HAProxy. */
export interface Load {
  readonly known: readonly BoardKnowledge[];
  readonly followers: readonly BoardFollower[];
  /** Acknowledged comments of tools and of people in the console. */
  readonly comments: readonly AcknowledgedComment[];
  /** Their attempts that failed and were repeated. */
  readonly failed: readonly string[];
  /** Their requests that were repeated without success, and sessions that ended. */
  readonly withoutResponse: readonly string[];
  /** Ends the load and resolves when all its requests have a final response. */
  end(): Promise<void>;
  /** Ends the readers of the feed. */
  stop(): Promise<void>;
}

const AGENTS_PER_BOARD = 2;
const COMMENT_PAUSE_MS = 300;
/** How long requests are repeated after the end of the load, in milliseconds. */
const LAST_RETRY_MS = 60_000;

export async function startLoad(world: HaWorld, seed: number): Promise<Load> {
  const random = createRandom(seed);
  const known = world.boards.map(newKnowledge);
  const comments: AcknowledgedComment[] = [];
  const failed: string[] = [];
  const withoutResponse: string[] = [];
  let endedAt: number | null = null;
  const isOver = (): boolean => endedAt !== null;
  const retryUntil = (): number => (endedAt ?? Date.now()) + LAST_RETRY_MS;
  const followers = await followFeeds(world);
  const running: Promise<void>[] = [];
  for (const own of known) {
    for (let nth = 1; nth <= AGENTS_PER_BOARD; nth++) {
      const place = await makeAgent(world, own, `agent-${known.indexOf(own) + 1}-${nth}`, random, retryUntil);
      running.push(runAgent(place, isOver));
    }
    const commenting: Commenting = {
      own,
      comments,
      failed,
      withoutResponse,
      pauseMs: COMMENT_PAUSE_MS,
      isOver,
      retryUntil,
    };
    const api = await credentialOf(world, own, `the tools of ${own.board.owner}`);
    running.push(runMcpAgent(api, commenting));
    // The session has to survive everything.
    const browser = await signInToConsole(world.baseUrl, await newPerson(world, own.board));
    for (const [name, value] of browser.cookies)
      world.secrets.set(`the cookie ${name} of ${own.board.owner}`, secretOf(value));
    running.push(runConsolePerson(browser, commenting));
    const person = {
      world,
      login: "ada",
      random: random.for(own.board.owner),
      own,
      history: world.history,
    } as const;
    running.push(runPerson(person, isOver));
  }
  const all = Promise.all(running);
  return {
    known,
    followers,
    comments,
    failed,
    withoutResponse,
    end: async () => {
      endedAt ??= Date.now();
      await all;
    },
    stop: async () => {
      endedAt ??= Date.now();
      await Promise.all(followers.map(({ follower }) => follower.stop()));
      await all;
    },
  };
}

async function credentialOf({ secrets }: HaWorld, { board }: BoardKnowledge, name: string) {
  const api = await board.as({});
  secrets.set(`the API key of ${name}`, secretOf(api.apiKey));
  return api;
}

async function makeAgent(
  world: HaWorld,
  own: BoardKnowledge,
  actor: string,
  random: SeededRandom,
  retryUntil: () => number,
): Promise<AgentContext> {
  const { apiKey } = await credentialOf(world, own, actor);
  const { history, baseUrl } = world;
  const { owner } = own.board;
  const processes = [{ name: "haproxy", baseUrl }];
  const calls = {
    actor,
    owner,
    apiKey,
    processes,
    random: random.for(`${actor} calls`),
    history,
    retryUntil,
  };
  const caller = makeCaller({ ...calls, isPatient: true });
  return { caller, random: random.for(actor), own, foreign: undefined };
}

async function followFeeds(world: HaWorld): Promise<BoardFollower[]> {
  const followers: BoardFollower[] = [];
  for (const board of world.boards) {
    for (const follow of [followByPolling, followByStream]) {
      const { apiKey } = await board.as({ role: "viewer" });
      followers.push({ board, follower: follow({ baseUrls: [world.baseUrl], apiKey }) });
    }
  }
  return followers;
}
