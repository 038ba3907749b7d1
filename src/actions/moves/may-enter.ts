import { forbidden, invalid, type Problem } from "../../errors.ts";
import type { Stage } from "../../flow/flow.ts";
import { roleToEnter } from "../../flow/move.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
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

/** Throws `forbidden` if the caller's role may not move cards into the stage. */
export function requireRoleFor(caller: { readonly role: Role }, stage: Stage): void {
  const required = roleToEnter(stage);
  if (mayAct(caller.role, required)) return;
  throw forbidden(
    `Moving a card into ${stage.name} needs the role ${required}. You have the role ${caller.role} on this board.`,
  );
}

/** For an id that is no stage of the flow of this card, project or release. */
export const noSuchStage = (
  whose: "card" | "project" | "release",
  path: "body.statusId" | "query.statusId" = "body.statusId",
): Problem =>
  invalid(
    `This ${whose}'s flow has no stage with this id. GET /v1/projects/{projectId}/flow lists the stages.`,
    [{ path, message: `not a stage of this ${whose}'s flow` }],
  );
