import { invalid } from "../errors.ts";
import type { Role } from "../flow/roles.ts";
import { insertCredential, setMembership, type BoardRole, type Scope } from "../store/tenancy/credentials.ts";
import { insertMachineUser } from "../store/tenancy/users.ts";
import { listWorkspaces } from "../store/tenancy/workspaces.ts";
import { makeCredentialKey } from "./credential-key.ts";
import type { Deps } from "./deps.ts";
import { transaction } from "../store/db/transaction.ts";

export interface CredentialOrder {
  readonly name: string;
  readonly boards: readonly { readonly workspaceId: string; readonly role: Role }[];
  readonly scopes: readonly Scope[];
  /** Null never expires. */
  readonly expiresAt: Date | null;
}

export interface IssuedCredential {
  readonly clientId: string;
  readonly name: string;
  /** Shown this once. */
  readonly apiKey: string;
  readonly scopes: readonly Scope[];
  readonly boards: readonly BoardRole[];
  readonly expiresAt: Date | null;
}

/** Makes a credential with a user of its own that is a member of the named boards. Throws `invalid` for an unknown board. */
export async function issueCredential(
  deps: Pick<Deps, "db" | "newId">,
  order: CredentialOrder,
): Promise<IssuedCredential> {
  const workspaces = new Map((await listWorkspaces(deps.db)).map((workspace) => [workspace.id, workspace]));
  const boards = order.boards.map(({ workspaceId, role }) => {
    const workspace = workspaces.get(workspaceId);
    if (!workspace) throw invalid(`There is no workspace ${workspaceId}.`);
    return { workspaceId, organizationId: workspace.organizationId, role };
  });
  const key = makeCredentialKey();
  const userId = deps.newId();
  await transaction(deps.db, async (trx) => {
    await insertMachineUser(trx, { id: userId, name: order.name });
    for (const { workspaceId, role } of boards) await setMembership(trx, { workspaceId, userId, role });
    await insertCredential(trx, {
      id: deps.newId(),
      clientId: key.clientId,
      userId,
      name: order.name,
      scopes: order.scopes,
      secretHash: key.secretHash,
      expiresAt: order.expiresAt,
    });
  });
  const { clientId, apiKey } = key;
  return { clientId, name: order.name, apiKey, scopes: order.scopes, boards, expiresAt: order.expiresAt };
}
