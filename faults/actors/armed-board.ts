import { protect } from "../../test/support/stories/repairing.ts";
import { DISTURBANCES, runArmer, type ArmerContext } from "./armers.ts";
import type { Caller } from "./caller.ts";
import type { RunBoard } from "./gated-board.ts";

const ARMERS = 3;

export interface ArmedContext extends Omit<ArmerContext, "caller"> {
  readonly callerFor: (actor: string) => Promise<Caller>;
}

/** Prepares a board whose callers arm moves: merges into `main` need a check. */
export async function prepareArmedBoard(context: ArmedContext): Promise<RunBoard> {
  const { own, random } = context;
  const { status } = await protect(own.board, {
    required_status_checks: { strict: false, contexts: ["ci"] },
  });
  if (status !== 200) throw new Error(`main is not protected: ${status}`);
  const names = Array.from({ length: ARMERS }, (_, at) => `armer-${at + 1}`);
  const callers = await Promise.all(names.map((name) => context.callerFor(name)));
  return async (isOver) => {
    await Promise.all(
      callers.map((caller, at) => {
        const first = DISTURBANCES.filter((_, nth) => nth % ARMERS === at);
        return runArmer({ ...context, caller, random: random.for(caller.actor) }, first, isOver);
      }),
    );
  };
}
