import { finishMove } from "../../../src/actions/moves/finish-move.ts";
import { runMove } from "../../../src/actions/moves/run-move.ts";
import { lockTransition, startMove } from "../../../src/actions/moves/start-move.ts";
import { findCard } from "../../../src/store/cards/cards.ts";
import { transaction } from "../../../src/store/db/transaction.ts";
import type { TestBoard, TestWorld } from "../world.ts";

/**
 * Moves a card as a session of the console does, which is the only caller that counts as human.
 * Returns the state of the move.
 */
export async function moveAsHuman(
  { service: { deps } }: TestWorld,
  board: TestBoard,
  number: number,
  statusId: string,
): Promise<string> {
  const card = await findCard(deps.db, board.workspaceId, number);
  if (!card) throw new Error(`there is no card ${number}`);
  const begin = async () =>
    transaction(deps.db, async (trx) => {
      const requestId = deps.newId();
      const transition = await lockTransition(trx, card, statusId, requestId);
      if (!transition) throw new Error("there is no such stage");
      const mover = { actorId: card.createdBy, isHuman: true };
      return { transition, begun: await startMove(deps, trx, transition, { ...mover, index: 0, requestId }) };
    });
  const { transition, begun } = await begin();
  if (begun.state !== "started") return begun.state;
  const outcome = await runMove(deps, transition, begun.move);
  await finishMove(deps, transition, begun.move, outcome, () => Promise.resolve());
  return outcome.state;
}
