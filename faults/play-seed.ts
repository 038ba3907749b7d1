import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { intrusions, runAgent, type AgentPlace } from "./actors/agent.ts";
import { newKnowledge, type BoardKnowledge } from "./actors/board-knowledge.ts";
import { makeCaller, type Caller } from "./actors/caller.ts";
import { playPrologue } from "./actors/prologue.ts";
import { runPerson } from "./actors/person.ts";
import { check, type Violation } from "./checker/check.ts";
import { isSuccess } from "./checker/subject.ts";
import { makeDice, type Dice } from "./dice.ts";
import { openHistory, type History } from "./history.ts";
import { repair, untilIdle } from "./quiesce.ts";
import { crashDatabase } from "./troubles/database.ts";
import { endForgeTroubles, troubleForge } from "./troubles/forge.ts";
import { endWebhookTroubles, troubleWebhooks } from "./troubles/webhooks.ts";
import { killProcesses } from "./troubles/processes.ts";
import { whatHappened } from "./tally.ts";
import type { CrashingPostgres } from "./world/postgres.ts";
import { secretOf, startFaultWorld, type FaultWorld } from "./world/world.ts";

export interface SeedOptions {
  readonly seed: number;
  readonly postgres: CrashingPostgres;
  /** The folder that holds the compiled service. */
  readonly root: string;
  /** Where runs keep their records. */
  readonly folder: string;
  /** How long things go wrong: so long at least, and on a busy machine until as much has happened as otherwise. */
  readonly seconds: number;
  /** How many seconds what is under way then may take to come to rest. */
  readonly patience: number;
}

export interface Played {
  readonly seed: number;
  readonly folder: string;
  readonly violations: readonly Violation[];
  readonly calls: number;
  /** How often what happened: faults, what people did, and how calls were answered. */
  readonly happened: Readonly<Record<string, number>>;
  readonly seconds: number;
}

const BOARDS = 2;
const AGENTS_A_BOARD = 3;
const PROLOGUE_MS = 60_000;
/** What is to happen in a second, and how many times longer than asked it may take to. */
const SUCCESSES_A_SECOND = 3;
const FAULTS_A_SECOND = 2;
const LONGEST = 6;

/** Plays one seed: everything at once for some seconds, then quiet, repair, and the check. */
export async function playSeed(options: SeedOptions): Promise<Played> {
  const { seed, postgres, root } = options;
  const began = Date.now();
  const dice = makeDice(seed);
  const folder = join(options.folder, `seed-${seed}`);
  const history = openHistory(folder);
  const world = await startFaultWorld({ seed, dice, postgres, folder, root, boards: BOARDS, history });
  try {
    const known = world.boards.map(newKnowledge);
    const prologues = await Promise.all(
      known.map(async (own, at) => {
        const actor = `prologue-${at + 1}`;
        const hours = { giveUpAt: () => began + PROLOGUE_MS };
        const caller = await callerFor(world, own, actor, dice, history, hours);
        await playPrologue(caller, own);
        return { caller, dice: dice.for(actor), own, foreign: known[(at + 1) % known.length] };
      }),
    );
    for (const place of prologues) for (const intrude of intrusions(place)) await intrude();
    const agents = await makeAgents(world, known, dice, history, () => hours.giveUpAt());
    const hours = hoursOf(history, options);
    const { isOver } = hours;
    const work = Promise.all(agents.map((agent) => runAgent(agent, isOver)));
    const people = startPeople(world, known, dice, history, isOver);
    const troubles = [
      killProcesses(world, dice.for("kills"), history, isOver),
      crashDatabase(world, dice.for("database"), history, isOver),
      troubleForge(world, dice.for("forge"), history, isOver),
      troubleWebhooks(world, dice.for("webhooks"), history, isOver),
    ];
    while (!isOver()) await sleep(100);
    await Promise.all([...troubles, people]);
    endForgeTroubles(world);
    await endWebhookTroubles(world);
    for (const process of world.processes) while (!process.isUp()) await process.start();
    history.event("note", "the faults have stopped");
    await work;
    await untilIdle(world, options.patience);
    for (let round = 1; round <= 2; round++) await repair(world, options.patience);
    const violations = await check(world, history, known);
    for (const violation of violations) history.event("note", "violation", violation);
    return {
      seed,
      folder,
      violations,
      calls: history.calls.length,
      happened: whatHappened(history),
      seconds: (Date.now() - began) / 1_000,
    };
  } finally {
    await world.stop();
  }
}

/** People at work on the forge until it is over. */
async function startPeople(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  dice: Dice,
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

interface Hours {
  readonly isOver: () => boolean;
  readonly giveUpAt: () => number;
}

/** From now on things go wrong, until enough has happened. */
function hoursOf({ calls, events }: History, { seconds, patience }: SeedOptions): Hours {
  const began = Date.now();
  const done = (): { successes: number; faults: number } => ({
    successes: calls.filter(isSuccess).length,
    faults: events.filter(({ type }) => type === "fault").length,
  });
  const before = done();
  let end: number | null = null;
  const isEnough = (): boolean => {
    const times = (Date.now() - began) / (seconds * 1_000);
    if (times < 1 || times >= LONGEST) return times >= 1;
    const { successes, faults } = done();
    return (
      successes - before.successes >= seconds * SUCCESSES_A_SECOND &&
      faults - before.faults >= seconds * FAULTS_A_SECOND
    );
  };
  return {
    isOver: () => {
      if (end === null && isEnough()) end = Date.now();
      return end !== null;
    },
    giveUpAt: () => (end ?? Date.now()) + patience * 1_000,
  };
}

/** Agents with a credential each, some on every board. */
async function makeAgents(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  dice: Dice,
  history: History,
  giveUpAt: () => number,
): Promise<AgentPlace[]> {
  const agents: AgentPlace[] = [];
  for (const [at, own] of known.entries()) {
    for (let nth = 1; nth <= AGENTS_A_BOARD; nth++) {
      const actor = `agent-${at + 1}-${nth}`;
      const caller = await callerFor(world, own, actor, dice, history, { giveUpAt });
      agents.push({ caller, dice: dice.for(actor), own, foreign: known[(at + 1) % known.length] });
    }
  }
  return agents;
}

/** Somebody with a credential of their own for a board. */
async function callerFor(
  { processes, secrets }: FaultWorld,
  { board }: BoardKnowledge,
  actor: string,
  dice: Dice,
  history: History,
  { giveUpAt }: Pick<Hours, "giveUpAt">,
): Promise<Caller> {
  const { apiKey } = await board.as({});
  secrets.set(`the API key of ${actor}`, secretOf(apiKey));
  const { owner } = board;
  return makeCaller({ actor, owner, apiKey, processes, dice: dice.for(`${actor} calls`), history, giveUpAt });
}
