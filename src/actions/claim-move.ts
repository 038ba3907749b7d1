import { rolesWithin } from "../flow/roles.ts";
import { claimAndBegin } from "../store/begun-moves.ts";
import type { KeyClaim } from "../store/idempotency.ts";
import { settleOperation } from "../store/operations.ts";
import type { Asker, Begun } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { goOnWithMove } from "./move-card.ts";
import { RULES_WITHOUT_GIT } from "./move-without-git.ts";
import { persevere } from "./persevere.ts";

/** Claims a key and begins a move through the forge in one round trip, where the caller may make it and nothing stands in its way. */
export async function claimMove(
  deps: Deps,
  { userId: actorId, workspaceId, role, requestId }: Asker,
  claim: KeyClaim,
  number: number,
  { statusId: stageId, index }: { readonly statusId: string; readonly index: number },
): Promise<Begun | null> {
  const move = { id: deps.newId(), attempt: 1, actorId, index, isFirst: true };
  const where = { workspaceId, number, stageId, index };
  const wanted = { roles: rolesWithin(role), rulesWithoutGit: RULES_WITHOUT_GIT };
  const asked = { id: move.id, ...where, actorId, requestId, ...wanted };
  const claimed = await claimAndBegin(deps.db, claim, asked).catch(async (error: unknown) => {
    // The database may have kept it all the same, and only its word for that was lost.
    await persevere(deps.log, "a move", () => settleOperation(deps.db, move, "running"));
    throw error;
  });
  if (!claimed?.beginning) return claimed && { held: claimed.held, goOn: null };
  const { held, beginning } = claimed;
  return { held, goOn: (caller) => goOnWithMove(deps, caller, stageId, move, beginning) };
}
