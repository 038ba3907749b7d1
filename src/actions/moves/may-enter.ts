import type { Stage } from "../../flow/flow.ts";
import { roleToEnter } from "../../flow/move.ts";
import { mayAct } from "../../flow/roles.ts";
import type { Refusal } from "../../flow/refusal.ts";
import type { Db } from "../../store/db/connect.ts";
import { findActingRole } from "../../store/tenancy/credentials.ts";

interface RoleCheck {
  readonly card: { readonly workspaceId: string };
  readonly stage: Stage;
}

/** Whether the user who started a move may still enter its stage, after a revocation or a change of roles. */
export async function mayEnter(db: Db, actorId: string, { card, stage }: RoleCheck): Promise<boolean> {
  const role = await findActingRole(db, card.workspaceId, actorId);
  return role !== null && mayAct(role, roleToEnter(stage));
}

/** The refusal of a move whose user may not continue it. */
export const NO_LONGER_PERMITTED: Refusal = {
  reason: "not_permitted",
  message:
    "Whoever started this move has lost their access, or their role no longer suffices. Move the card again.",
};
