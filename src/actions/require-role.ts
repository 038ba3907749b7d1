import { forbidden } from "../errors.ts";
import type { Stage } from "../flow/flow.ts";
import { roleToEnter } from "../flow/move.ts";
import { mayAct, type Role } from "../flow/roles.ts";

/** Refuses a caller whose role is below what moving a card into this stage asks. */
export function requireRoleFor(caller: { readonly role: Role }, stage: Stage): void {
  const required = roleToEnter(stage);
  if (mayAct(caller.role, required)) return;
  throw forbidden(
    `Moving a card into ${stage.name} needs the role ${required}; this credential is ${caller.role} on this board.`,
  );
}
