import { forbidden, invalid } from "../errors.ts";
import { mayAct, type Role } from "../flow/roles.ts";
import type { BoardRole, Credential } from "../store/tenancy/credentials.ts";
import { id } from "./validate.ts";

export const WORKSPACE_HEADER = "X-Service-Workspace";

/** The board a call is about: the one its header names, or the only one the credential reaches. Throws `invalid`. */
export function boardOf(credential: Credential, header: string | undefined): BoardRole {
  const { boards } = credential;
  const reachable =
    boards.length === 0
      ? "This credential reaches no board."
      : `This credential reaches: ${boards.map((board) => board.workspaceId).join(", ")}.`;
  if (header === undefined || header === "") {
    const [only] = boards;
    if (only && boards.length === 1) return only;
    throw invalid(`Name the board in the ${WORKSPACE_HEADER} header. ${reachable}`);
  }
  const workspaceId = id().safeParse(header);
  if (!workspaceId.success) {
    throw invalid(`${WORKSPACE_HEADER} takes a workspace id, not a name or slug. ${reachable}`);
  }
  const board = boards.find((candidate) => candidate.workspaceId === workspaceId.data);
  if (!board) throw invalid(`This credential does not reach the workspace ${header}. ${reachable}`);
  return board;
}

/** Refuses a credential that may only read. */
export function requireWriteScope(credential: Credential): void {
  if (credential.scopes.includes("write")) return;
  throw forbidden("This credential was issued for reading only. Use one with the write scope.");
}

/** Refuses a role below what the route asks. */
export function requireRole(held: Role, required: Role): void {
  if (mayAct(held, required)) return;
  throw forbidden(`This call needs the role ${required}; this credential is ${held} on this board.`);
}
