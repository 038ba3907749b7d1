import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { intrusions, runAgent } from "./actors/agent.ts";
import { newKnowledge, type BoardKnowledge } from "./actors/board-knowledge.ts";
import { makeCaller, type Caller } from "./actors/caller.ts";
import { playPrologue } from "./actors/prologue.ts";
import { runPerson } from "./actors/person.ts";
import { check, type Violation } from "./checker/check.ts";
import { makeDice, type Dice } from "./dice.ts";
import { openHistory, type History } from "./history.ts";
import { repair, untilIdle } from "./quiesce.ts";
import { crashDatabase } from "./troubles/database.ts";
import { endForgeTroubles, troubleForge } from "./troubles/forge.ts";
import { endWebhookTroubles, troubleWebhooks } from "./troubles/webhooks.ts";
import { killProcesses } from "./troubles/processes.ts";
import type { CrashingPostgres } from "./world/postgres.ts";
import { secretOf, startFaultWorld, type FaultWorld } from "./world/world.ts";

export interface SeedOptions {
  readonly seed: number;
  readonly postgres: CrashingPostgres;
  /** The folder that holds the compiled service. */
  readonly root: string;
  /** Where runs keep their records. */
  readonly folder: string;
  /** How long things go wrong. */
  readonly seconds: number;
  /** How many seconds what is under way then may take to come to rest. */
  readonly patience: number;
}

export interface Played {
  readonly seed: number;
  readonly folder: string;
  readonly violations: readonly Violation[];
  readonly calls: number;
  readonly faults: number;
  readonly seconds: number;
}

const BOARDS = 2;
const AGENTS_A_BOARD = 3;
const PROLOGUE_MS = 60_000;

/** Plays one seed: everything at once for some seconds, then quiet, repair, and the check. */
export async function playSeed(options: SeedOptions): Promise<Played> {
  const { seed, postgres, root } = options;
  const began = Date.now();
  const dice = makeDice(seed);
  const folder = join(options.folder, `seed-${seed}`);
  const history = openHistory(folder);
  const world = await startFaultWorld({ seed, dice, postgres, folder, root, boards: BOARDS });
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
    const end = Date.now() + options.seconds * 1_000;
    const isOver = (): boolean => Date.now() > end;
    const hours = { giveUpAt: () => end + options.patience * 1_000 };
    const agents = await startAgents(world, known, dice, history, { ...hours, isOver });
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
    await agents.done;
    await untilIdle(world, options.patience);
    for (let round = 1; round <= 2; round++) await repair(world, options.patience);
    const violations = await check(world, history, known);
    for (const violation of violations) history.event("note", "violation", violation);
    return {
      seed,
      folder,
      violations,
      calls: history.calls.length,
      faults: history.events.filter(({ type }) => type === "fault").length,
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

/** Agents with a credential each, at work on their boards until it is over. */
async function startAgents(
  world: FaultWorld,
  known: readonly BoardKnowledge[],
  dice: Dice,
  history: History,
  hours: Hours,
): Promise<{ readonly done: Promise<unknown> }> {
  const running: Promise<void>[] = [];
  for (const [at, own] of known.entries()) {
    for (let nth = 1; nth <= AGENTS_A_BOARD; nth++) {
      const actor = `agent-${at + 1}-${nth}`;
      const caller = await callerFor(world, own, actor, dice, history, hours);
      const foreign = known[(at + 1) % known.length];
      running.push(runAgent({ caller, dice: dice.for(actor), own, foreign }, hours.isOver));
    }
  }
  return { done: Promise.all(running) };
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
