import { notFound, requireFound } from "../../errors.ts";
import type { Project } from "../../store/cards/projects.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { insertMonitor, removeMonitor, setMonitorSecret, type Monitor } from "../../store/ops/monitors.ts";
import { randomText } from "../credentials/credential-key.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";
import { requireName } from "./workspaces.ts";

/** The prefix of every monitor secret, so that scanners recognize a leaked one. */
const PREFIX = "tlm_";
const SECRET_LENGTH = 43;

const newMonitorSecret = (): string => PREFIX + randomText(SECRET_LENGTH);

interface CreatedMonitor {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  /** Shown this once. */
  readonly secret: string;
}

/** Adds a monitor that reports production errors to a project. `by` is the user who gets its secret. */
export async function createMonitor(
  { db, newId }: Pick<Deps, "db" | "newId">,
  order: { readonly projectId: string; readonly name: string },
  by: string | null = null,
): Promise<CreatedMonitor> {
  const monitor = {
    id: newId(),
    projectId: order.projectId,
    name: requireName(order.name),
    secret: newMonitorSecret(),
  };
  if (!(await insertMonitor(db, { ...monitor, createdBy: by }))) {
    throw notFound(
      `There is no project ${order.projectId}. \`GET /v1/projects\` lists the projects of a board.`,
    );
  }
  return monitor;
}

/** Adds a monitor to a project of the board. Returns 201 with it, its secret, and the URL for its reports. */
export async function addMonitor(
  { newId }: Pick<Deps, "newId">,
  write: Write,
  project: Project,
  { name, urlOf }: { readonly name: string; readonly urlOf: (id: string) => string },
): Promise<StoredResponse> {
  const order = { projectId: project.id, name };
  const created = await createMonitor({ db: write.trx, newId }, order, write.userId);
  return write.respond({ ...created, url: urlOf(created.id) }, 201);
}

/** Replaces the secret of a monitor, which also starts a stopped one. Returns it with the secret. */
export async function rotateMonitorSecret(
  write: Write,
  { id, projectId, name }: Monitor,
  urlOf: (id: string) => string,
): Promise<StoredResponse> {
  const secret = newMonitorSecret();
  requireFound(await setMonitorSecret(write.trx, id, { secret, by: write.userId }), "monitor");
  return write.respond({ id, projectId, name, secret, url: urlOf(id) });
}

/** Removes a monitor: its reports are refused. What it reported stays in the inbox. Returns 204. */
export async function deleteMonitor(write: Write, { id }: Pick<Monitor, "id">): Promise<StoredResponse> {
  await removeMonitor(write.trx, id);
  return write.respond(null, 204);
}
