import { mayAct, type Role } from "../../flow/roles.ts";
import type { Db } from "../../store/db/connect.ts";
import type { ReleaseOperationKind } from "../../store/ops/operations.ts";
import { findActingRole } from "../../store/tenancy/credentials.ts";

/** The lowest role for each operation on a release. A promotion also needs the role of its stage. */
export const ROLE_OF_OPERATION: Readonly<Record<ReleaseOperationKind, Role>> = {
  freeze: "maintainer",
  unfreeze: "maintainer",
  pick: "member",
  promote: "member",
  complete: "maintainer",
};

/** Whether the user who started an operation may still do it, after a revocation or a change of roles. */
export async function mayContinue(
  db: Db,
  { workspaceId }: { readonly workspaceId: string },
  { kind, actorId }: { readonly kind: ReleaseOperationKind; readonly actorId: string },
): Promise<boolean> {
  const role = await findActingRole(db, workspaceId, actorId);
  return role !== null && mayAct(role, ROLE_OF_OPERATION[kind]);
}

/** The message when an operation stops because its user may not continue it. */
export const NO_LONGER_ALLOWED =
  "Whoever started this has lost their access, or their role no longer suffices. Start it again.";
