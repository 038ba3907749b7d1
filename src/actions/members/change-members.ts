import { forbidden } from "../../errors.ts";
import { mayAct, type Role } from "../../flow/roles.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findActingRole } from "../../store/tenancy/credentials.ts";
import { lockMembers } from "../../store/tenancy/members.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";

/**
 * Runs `work` in its own transaction, one at a time for a board, with the role that the caller
 * has now. Commits the write's first transaction before: it locks the caller's credential, so two
 * maintainers who change each other's role would deadlock. Throws `forbidden` if the caller has lost
 * the role `needed` since.
 */
export async function changeMembers(
  { db }: Pick<Deps, "db">,
  write: Write,
  needed: Role,
  work: (trx: Trx, held: Role) => Promise<StoredResponse>,
): Promise<StoredResponse> {
  await write.commit();
  const { workspaceId, userId } = write;
  return transaction(db, async (trx) => {
    await lockMembers(trx, workspaceId);
    const held = await findActingRole(trx, workspaceId, userId);
    if (held === null || !mayAct(held, needed))
      throw forbidden(`You do not have the role ${needed} on this board any more.`);
    return work(trx, held);
  });
}
