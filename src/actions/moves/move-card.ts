import { invalid, Problem } from "../../errors.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import type { StoredAnswer } from "../../store/ops/idempotency.ts";
import { requireRoleFor } from "../boards/flow.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import { startMove, lockTransition, runOrReleaseMove } from "./start-move.ts";
import { runMove } from "./run-move.ts";
import { finishMove } from "./finish-move.ts";

/**
 * Moves a card into a stage of its project's flow, at `index` of the column, and runs on GitHub
 * what the stage requires. Answers 200 with the move result, or 202 when GitHub has queued the
 * merge. Throws `refused` (409) when GitHub refuses, busy while another call moves the card, and
 * `unavailable` (503) when GitHub cannot be reached.
 */
export async function moveCard(
  deps: Deps,
  write: Write,
  card: CardHead,
  { statusId, index }: { readonly statusId: string; readonly index: number },
): Promise<StoredAnswer> {
  const transition = await lockTransition(write.trx, card, statusId, write.requestId);
  if (!transition) throw noSuchStage("body.statusId");
  requireRoleFor(write, transition.stage);
  const { userId: actorId, requestId } = write;
  const begun = await startMove(deps, write.trx, transition, { index, actorId, requestId });
  if (begun.state === "moved") {
    const answer = await write.answer(begun.result);
    deps.metrics.moves.inc({ outcome: "moved" });
    return answer;
  }
  const { move } = begun;
  const settled = await runOrReleaseMove(deps, move, async () => {
    await write.commit();
    const outcome = await runMove(deps, transition, move);
    return finishMove(deps, transition, move, outcome, async (trx, settled) =>
      settled.state === "refused" ? settled : write.answerIn(trx, settled.result, settled.status),
    );
  });
  if (!("blocked" in settled)) return settled;
  const { state: _, ...refusal } = settled;
  throw new Problem("refused", refusal.blocked.message, { body: refusal });
}

export const noSuchStage = (path: "body.statusId" | "query.statusId"): Problem =>
  invalid("This card's flow has no stage with this id. GET /v1/board lists the stages.", [
    { path, message: "not a stage of this card's flow" },
  ]);
