import { z } from "zod";
import { forbidden, invalid, notFound } from "../errors.ts";
import { mayAct, type Role } from "../flow/roles.ts";
import { findCard, type CardHead } from "../store/cards/cards.ts";
import { findProject, listProjectsWithFlow, type Project } from "../store/cards/projects.ts";
import type { Db } from "../store/db/connect.ts";
import type { BoardRole, Credential } from "../store/tenancy/credentials.ts";
import { id } from "./validate.ts";

export const WORKSPACE_HEADER = "X-Service-Workspace";

/** The board in the header, or the only board of the credential. Throws `invalid`. */
export function boardOf(credential: Credential, header: string | undefined): BoardRole {
  const { boards } = credential;
  const reachable =
    boards.length === 0
      ? "You have access to no board."
      : `You have access to: ${boards.map((board) => board.workspaceId).join(", ")}.`;
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
  if (!board) throw invalid(`You have no access to the workspace ${header}. ${reachable}`);
  return board;
}

/** Refuses a read-only credential. */
export function requireWriteScope(credential: Pick<Credential, "scopes">): void {
  if (credential.scopes.includes("write")) return;
  throw forbidden("This credential has the scope read only. Use one with the scope write.");
}

/** Refuses a role below the one the route requires. */
export function requireRole(held: Role, required: Role): void {
  if (mayAct(held, required)) return;
  throw forbidden(`This call needs the role ${required}. You have the role ${held} on this board.`);
}

/**
 * The project with this id, or the board's only project. Throws `invalid` if the board has several,
 * and `not_found` for a project of another board.
 */
export async function projectOf(
  db: Db,
  workspaceId: string,
  projectId: string | undefined,
): Promise<Project> {
  if (projectId !== undefined) {
    const project = await findProject(db, workspaceId, projectId);
    if (!project) throw notFound("There is no project with this id on this board.");
    return project;
  }
  const projects = await listProjectsWithFlow(db, workspaceId);
  const [only] = projects;
  if (!only) throw notFound("This board has no project.");
  if (projects.length > 1) {
    const known = projects.map((project) => `${project.id} (${project.name})`).join(", ");
    throw invalid(`This board has several projects, so projectId is required: ${known}.`);
  }
  return only;
}

export const cardParams = z.object({
  // `Number` would also accept `0x7` and the empty string.
  number: z
    .string()
    .regex(/^-?\d+$/, "must be a card number (an integer)")
    .transform(Number)
    .meta({
      description: "The card's number on this board",
      override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
        jsonSchema["type"] = "integer";
        delete jsonSchema["pattern"];
      },
    }),
});

export const cardNotFound = (number: number): Error =>
  notFound(
    Number.isSafeInteger(number)
      ? `There is no card ${number} on this board.`
      : "No card has a number that large.",
  );

/** The card with the number in the path. Throws `not_found`. */
export async function cardOf(db: Db, board: BoardRole, { number }: { number: number }): Promise<CardHead> {
  const found = await findCard(db, board.workspaceId, number);
  if (!found) throw cardNotFound(number);
  return found;
}
