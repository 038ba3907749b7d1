import { inconsistencies } from "../../test/support/invariants.ts";
import type { BoardKnowledge } from "../actors/board-knowledge.ts";
import type { History } from "../history.ts";
import type { FaultWorld } from "../world/world.ts";
import { nothingAcknowledgedIsLost } from "./acknowledged.ts";
import { theForgesBudgetIsKept } from "./budget.ts";
import { checksAreAsReported } from "./checks.ts";
import { nothingIsLeftOver } from "./left-over.ts";
import { boardsAreApart, secretsAreKept } from "./secrets.ts";
import { othersMergesAreTold, timelinesOnlyGrow } from "./told.ts";
import { answersAreEqual, nothingIsDoubled } from "./once.ts";
import { writesOf, type Invariant, type Subject } from "./subject.ts";

/** What a run broke. */
export interface Violation {
  readonly invariant: string;
  readonly text: string;
}

const INVARIANTS: Readonly<Record<string, Invariant>> = {
  I1: nothingAcknowledgedIsLost,
  I2: nothingIsDoubled,
  I3: answersAreEqual,
  I5: timelinesOnlyGrow,
  I6: othersMergesAreTold,
  I8: nothingIsLeftOver,
  I9: boardsAreApart,
  I10: secretsAreKept,
  I11: theForgesBudgetIsKept,
  I12: checksAreAsReported,
};

/** Holds all invariants against a run that has come to rest. It only reads, and begins anew where a connection was closed just as it was used again. */
export async function check(
  world: FaultWorld,
  history: History,
  known: readonly BoardKnowledge[],
  tries = 3,
): Promise<Violation[]> {
  try {
    return await checkOnce(world, history, known);
  } catch (error) {
    const isCutOff = error instanceof TypeError && error.message === "fetch failed";
    if (!isCutOff || tries === 1) throw error;
    return check(world, history, known, tries - 1);
  }
}

async function checkOnce(
  world: FaultWorld,
  history: History,
  known: readonly BoardKnowledge[],
): Promise<Violation[]> {
  const subject: Subject = { world, history, known, writes: writesOf(history.calls) };
  const found: Violation[] = [];
  for (const [invariant, hold] of Object.entries(INVARIANTS)) {
    for (const text of await hold(subject)) found.push({ invariant, text });
  }
  for (const board of world.boards) {
    for (const { invariant, text } of await inconsistencies(
      { forge: world.forge, db: world.deps.db },
      board,
    )) {
      found.push({ invariant, text: `${board.owner} ${text}` });
    }
  }
  return found;
}
