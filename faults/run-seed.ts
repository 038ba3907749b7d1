import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HIDE_COMMENT } from "./actors/comment-actions.ts";
import { foreignRequests, runAgent } from "./actors/agent.ts";
import { newKnowledge, type BoardKnowledge } from "./actors/board-knowledge.ts";
import { prepareArmedBoard } from "./actors/armed-board.ts";
import { contextOf, followFeeds, makeAgents, prepareBoards, runPeople } from "./actors/start-actors.ts";
import { prepareGatedBoard } from "./actors/gated-board.ts";
import { MOVED_OWN_WORK } from "./actors/reviewers.ts";
import { check, type Violation } from "./checker/check.ts";
import { isSuccess } from "./checker/subject.ts";
import { createRandom } from "./seeded-random.ts";
import { openHistory, countEvents, type History } from "./history.ts";
import { repairAndWait, waitUntilIdle } from "./idle.ts";
import { ACCESS_ENDED, endAccess } from "./injected/access.ts";
import { expireAllArmed } from "./injected/expire-armed.ts";
import { endForgeFaults, injectForgeFaults } from "./injected/forge.ts";
import { endWebhookFaults, injectWebhookFaults } from "./injected/webhooks.ts";
import { crashDatabase, killProcesses } from "./injected/processes.ts";
import { transferSharedRepository, GIVEN_AWAY } from "./injected/repositories.ts";
import type { CrashingPostgres } from "./world/postgres.ts";
import { startFaultWorld } from "./world/world.ts";

export interface SeedOptions {
  readonly seed: number;
  readonly postgres: CrashingPostgres;
  /** The folder that holds the compiled service. */
  readonly root: string;
  /** Where runs store their records. */
  readonly folder: string;
  /** The least time with faults. On a busy machine it is longer, until enough has happened. */
  readonly seconds: number;
}

export interface SeedResult {
  readonly seed: number;
  readonly folder: string;
  readonly violations: readonly Violation[];
  readonly calls: number;
  /** Counts of faults, actions of people, and responses. */
  readonly happened: Readonly<Record<string, number>>;
  readonly seconds: number;
}

/** The last two boards have no other agents: one has claims and gates, the other armed moves. */
const BOARDS = 4;
/**
 * The seconds that unfinished work may take after the faults. Must exceed the minute that the service
 * waits after a limit without a stated time.
 */
const IDLE_TIMEOUT = 90;
/** Faults go on until this much has happened, for at most `MAX_FACTOR` times `seconds`. */
const SUCCESSES_PER_SECOND = 3;
const FAULTS_PER_SECOND = 2;
const MAX_FACTOR = 6;
/** These take several calls or are rare, so that a short run may end without them. */
const MUST_HAPPEN = [ACCESS_ENDED, GIVEN_AWAY, MOVED_OWN_WORK, HIDE_COMMENT];

/** Runs one seed: agents, people and faults for some seconds, then repair, then all checks. */
export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  const { seed, postgres, root } = options;
  const startedAt = Date.now();
  const random = createRandom(seed);
  const folder = join(options.folder, `seed-${seed}`);
  const history = openHistory(folder);
  const world = await startFaultWorld({ seed, random, postgres, folder, root, boards: BOARDS, history });
  const followers = await followFeeds(world);
  try {
    const known = world.boards.map(newKnowledge);
    const prepared = await prepareBoards(world, known, random, history);
    for (const context of prepared)
      for (const useForeignIds of foreignRequests(context)) await useForeignIds();
    const [open, gated, armed] = [known.slice(0, -2), known.at(-2), known.at(-1)];
    if (!gated || !armed) throw new Error("the run needs boards with gates and armed moves");
    let faultPhase: FaultPhase | undefined;
    const retryUntil = (): number => faultPhase?.retryUntil() ?? Infinity;
    const agents = await makeAgents(world, open, random, history, retryUntil);
    const runOthers = await Promise.all([
      prepareGatedBoard(contextOf(world, gated, random.for("gated"), history, retryUntil)),
      prepareArmedBoard(contextOf(world, armed, random.for("armed"), history, retryUntil)),
    ]);
    faultPhase = startFaultPhase(history, options, open);
    const { isOver } = faultPhase;
    const work = Promise.all([
      ...agents.map((agent) => runAgent(agent, isOver)),
      ...runOthers.map((run) => run(isOver)),
    ]);
    const people = runPeople(world, known, random, history, isOver);
    const faults = [
      killProcesses(world, random.for("kills"), history, isOver),
      crashDatabase(world, random.for("database"), history, isOver),
      injectForgeFaults(world, random.for("forge"), history, isOver),
      injectWebhookFaults(world, random.for("webhooks"), history, isOver),
    ];
    // They end later than the faults: unfinished calls go on, and the repository returns home.
    const changes = [
      ...open.map((own, at) =>
        endAccess({ world, own, random: random.for(`access ${at}`), history, retryUntil }, isOver),
      ),
      transferSharedRepository(
        { world, random: random.for("shared repository"), history, retryUntil },
        isOver,
      ),
    ];
    while (!isOver()) await sleep(100);
    await Promise.all([...faults, people]);
    await endForgeFaults(world);
    await endWebhookFaults(world);
    for (const process of world.processes) while (!process.isUp()) await process.start();
    history.event("note", "the faults have stopped");
    await Promise.all([work, ...changes]);
    await waitUntilIdle(world, IDLE_TIMEOUT);
    await expireAllArmed(world);
    for (let round = 1; round <= 2; round++) await repairAndWait(world, IDLE_TIMEOUT);
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

interface FaultPhase {
  readonly isOver: () => boolean;
  /** Unix time in milliseconds after which callers do not retry. */
  readonly retryUntil: () => number;
}

/** The faults start now and end when enough has happened, on the boards without gates. */
function startFaultPhase(
  { calls, events }: History,
  { seconds }: SeedOptions,
  open: readonly BoardKnowledge[],
): FaultPhase {
  const startedAt = Date.now();
  const owners = new Set(open.map(({ board }) => board.owner));
  const count = (): { successes: number; faults: number } => ({
    successes: calls.filter((call) => isSuccess(call) && owners.has(call.owner)).length,
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
    retryUntil: () => (end ?? Date.now()) + IDLE_TIMEOUT * 1_000,
  };
}
