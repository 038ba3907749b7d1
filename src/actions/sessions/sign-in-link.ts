import { notFound } from "../../errors.ts";
import type { Db } from "../../store/db/connect.ts";
import { insertSignInLink, type SignInLink } from "../../store/tenancy/sign-ins.ts";
import { findWorkspace } from "../../store/tenancy/workspaces.ts";
import { hashSecret, randomText } from "../credentials/credential-key.ts";

/** Makes a one-time link, whose first user becomes a maintainer of the board, and perhaps an operator. */
export async function createSignInLink(
  db: Db,
  { workspaceId, isOperator }: SignInLink,
  lifetimeMs: number,
): Promise<{ readonly token: string; readonly expiresAt: Date }> {
  if (!(await findWorkspace(db, workspaceId))) throw notFound(`There is no workspace ${workspaceId}.`);
  const token = `tlf_${randomText(43)}`;
  return {
    token,
    ...(await insertSignInLink(db, { tokenHash: hashSecret(token), workspaceId, isOperator, lifetimeMs })),
  };
}
