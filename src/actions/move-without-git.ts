import { RULE_TYPES, ruleAsks } from "../flow/flow.ts";
import { rolesWithin } from "../flow/roles.ts";
import type { AtOnce } from "../store/at-once.ts";
import { moveAtOnce } from "../store/card-moves.ts";
import type { KeyedAsker } from "./caller.ts";
import type { Deps } from "./deps.ts";

export const RULES_WITHOUT_GIT = RULE_TYPES.filter((type) => !ruleAsks({ type, into: null }, "branch"));

/** Moves a card in one statement, where that has nothing to do with the forge and no other move is at work on it. */
export async function moveWithoutGit(
  deps: Deps,
  asker: KeyedAsker,
  number: number,
  { statusId: stageId, index }: { readonly statusId: string; readonly index: number },
): Promise<AtOnce> {
  const { userId: actorId, workspaceId, role, requestId } = asker;
  const moved = await moveAtOnce(deps.db, asker, {
    workspaceId,
    number,
    stageId,
    index,
    eventId: deps.newId(),
    actorId,
    requestId,
    roles: rolesWithin(role),
    rulesWithoutGit: RULES_WITHOUT_GIT,
  });
  if (moved?.state === "done") deps.metrics.moves.inc({ outcome: "moved" });
  return moved;
}
