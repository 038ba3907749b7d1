import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { followByPolling, followByStream } from "../test/support/stories/feed-followers.ts";
import { foreignRequests, runAgent, type AgentPlace } from "./actors/agent.ts";
import { newKnowledge, type BoardKnowledge } from "./actors/board-knowledge.ts";
import { makeCaller, type Caller } from "./actors/caller.ts";
import { prepareBoard } from "./actors/prepare-board.ts";
import { runPerson } from "./actors/person.ts";
import { check, type Violation } from "./checker/check.ts";
import { isSuccess, type BoardFollower } from "./checker/subject.ts";
import { makeDice, type SeededRandom } from "./seeded-random.ts";
import { openHistory, countEvents, type History } from "./history.ts";
import { repairAndWait, waitUntilIdle } from "./idle.ts";
import { ACCESS_ENDED, endAccess } from "./injected/access.ts";
import { endForgeFaults, injectForgeFaults } from "./injected/forge.ts";
import { endWebhookFaults, injectWebhookFaults } from "./injected/webhooks.ts";
import { crashDatabase, killProcesses } from "./injected/processes.ts";
import { changeHands, GIVEN_AWAY } from "./injected/repositories.ts";
import type { CrashingPostgres } from "./world/postgres.ts";
import { secretOf, startFaultWorld, type FaultWorld } from "./world/world.ts";

export interface SeedOptions {
  readonly seed: number;
  readonly postgres: CrashingPostgres;
  /** The folder that holds the compiled service. */
  readonly root: string;
  /** Where runs store their records. */
  readonly folder: string;
  /** The least time with faults. On a busy machine it is longer, until enough has happened. */
  readonly seconds: number;
  /** How many seconds unfinished work may take after the faults. */
  readonly idleTimeoutSeconds: number;
}

export interface SeedResult {
  readonly seed: number;
  readonly folder: string;
  readonly violations: readonly Violation[];
  readonly calls: number;
  /** Counts of faults, actions of people, and answers. */
  readonly happened: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const BOARDS = 2;
const AGENTS_PER_BOARD = 3;
const SETUP_TIMEOUT_MS = 60_000;
/** Faults go on until this much has happened, for at most `MAX_FACTOR` times `seconds`. */
const SUCCESSES_PER_SECOND = 3;
const FAULTS_PER_SECOND = 2;
const MAX_FACTOR = 6;
/** These take several calls, so that a short run may end without them. */
const MUST_HAPPEN = [ACCESS_ENDED, GIVEN_AWAY];

/** Runs one seed: agents, people and faults for some seconds, then repair, then all checks. */
export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  const { seed, postgres, root } = options;
  const startedAt = Date.now();
  const dice = makeDice(seed);
  const folder = join(options.folder, `seed-${seed}`);
  const history = openHistory(folder);
  const world = await startFaultWorld({ seed, dice, postgres, folder, root, boards: BOARDS, history });
  const followers = await followFeeds(world);
  try {
    const known = world.boards.map(newKnowledge);
    const prologues = await playPrologues(world, known, dice, history);
    for (const place of prologues) for (const useForeignIds of foreignRequests(place)) await useForeignIds();
    const agents = await makeAgents(world, known, dice, history, () => faultPhase.retryUntil());
    const faultPhase = startFaultPhase(history, options);
    const { isOver, retryUntil } = faultPhase;
    const work = Promise.all(agents.map((agent) => runAgent(agent, isOver)));
    const people = startPeople(world, known, dice, history, isOver);
    const faults = [
      killProcesses(world, dice.for("kills"), history, isOver),
      crashDatabase(world, dice.for("database"), history, isOver),
      injectForgeFaults(world, dice.for("forge"), history, isOver),
      injectWebhookFaults(world, dice.for("webhooks"), history, isOver),
    ];
    // They end later than the faults: unfinished calls go on, and the repository returns home.
    const changes = [
      ...known.map((own, at) =>
        endAccess({ world, own, dice: dice.for(`access ${at}`), history, retryUntil }, isOver),
      ),
      changeHands({ world, dice: dice.for("hands"), history, retryUntil }, isOver),
    ];
    while (!isOver()) await sleep(100);
    await Promise.all([...faults, people]);
    await endForgeFaults(world);
    await endWebhookFaults(world);
    for (const process of world.processes) while (!process.isUp()) await process.start();
    history.event("note", "the faults have stopped");
    await Promise.all([work, ...changes]);
    await waitUntilIdle(world, options.idleTimeoutSeconds);
    for (let round = 1; round <= 2; round++) await repairAndWait(world, options.idleTimeoutSeconds);
    const violations = await check({ world, history, known, followers });
    for (const violation of violations) history.event("note", "violation", violation);
    return {
      seed,
      folder,
      violations,
      calls: history.calls.length,
      happened: countEvents(history),
      seconds: (Date.now() - startedAt) / 1_000,
    };
  } finally {
    await Promise.all(followers.map(({ follower }) => follower.stop()));
    await world.stop();
  }
}

/** A poller and a stream for each board, with a credential each. */
async function followFeeds({ boards, processes, secrets }: FaultWorld): Promise<BoardFollower[]> {
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
function playPrologues(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  dice: SeededRandom,
  history: History,
): Promise<AgentPlace[]> {
  const deadline = Date.now() + SETUP_TIMEOUT_MS;
  return Promise.all(
    known.map(async (own, at) => {
      const actor = `prologue-${at + 1}`;
      const caller = await callerFor(world, own, actor, dice, history, () => deadline);
      await prepareBoard(caller, own);
      return { caller, dice: dice.for(actor), own, foreign: known[(at + 1) % known.length] };
    }),
  );
}

/** Runs the people of all boards until the faults end. */
async function startPeople(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  dice: SeededRandom,
  history: History,
  isOver: () => boolean,
): Promise<void> {
  const people = known.flatMap((own) =>
    (["ada", "grace"] as const).map((login) =>
      runPerson({ world, login, dice: dice.for(`${login} ${known.indexOf(own)}`), own, history }, isOver),
    ),
  );
  await Promise.all(people);
}

interface FaultPhase {
  readonly isOver: () => boolean;
  /** Unix time in milliseconds after which callers do not retry. */
  readonly retryUntil: () => number;
}

/** The faults start now and end when enough has happened. */
function startFaultPhase(
  { calls, events }: History,
  { seconds, idleTimeoutSeconds }: SeedOptions,
): FaultPhase {
  const startedAt = Date.now();
  const count = (): { successes: number; faults: number } => ({
    successes: calls.filter(isSuccess).length,
    faults: events.filter(({ type }) => type === "fault").length,
  });
  const before = count();
  let end: number | null = null;
  const isEnough = (): boolean => {
    const factor = (Date.now() - startedAt) / (seconds * 1_000);
    if (factor < 1 || factor >= MAX_FACTOR) return factor >= 1;
    const { successes, faults } = count();
    return (
      successes - before.successes >= seconds * SUCCESSES_PER_SECOND &&
      faults - before.faults >= seconds * FAULTS_PER_SECOND &&
      MUST_HAPPEN.every((fault) => events.some(({ name }) => name === fault))
    );
  };
  return {
    isOver: () => {
      if (end === null && isEnough()) end = Date.now();
      return end !== null;
    },
    retryUntil: () => (end ?? Date.now()) + idleTimeoutSeconds * 1_000,
  };
}

/** Agents for every board, with a credential each. */
async function makeAgents(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  dice: SeededRandom,
  history: History,
  retryUntil: () => number,
): Promise<AgentPlace[]> {
  const agents: AgentPlace[] = [];
  for (const [at, own] of known.entries()) {
    for (let nth = 1; nth <= AGENTS_PER_BOARD; nth++) {
      const actor = `agent-${at + 1}-${nth}`;
      const caller = await callerFor(world, own, actor, dice, history, retryUntil);
      agents.push({ caller, dice: dice.for(actor), own, foreign: known[(at + 1) % known.length] });
    }
  }
  return agents;
}

/** A caller with its own credential for a board. */
async function callerFor(
  { processes, secrets }: FaultWorld,
  { board }: BoardKnowledge,
  actor: string,
  dice: SeededRandom,
  history: History,
  retryUntil: () => number,
): Promise<Caller> {
  const { apiKey } = await board.as({});
  secrets.set(`the API key of ${actor}`, secretOf(apiKey));
  const { owner } = board;
  const own = dice.for(`${actor} calls`);
  return makeCaller({ actor, owner, apiKey, processes, dice: own, history, retryUntil });
}
