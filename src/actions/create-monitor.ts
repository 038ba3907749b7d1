import { notFound } from "../errors.ts";
import { insertMonitor } from "../store/ops/monitors.ts";
import { requireName } from "./create-workspace.ts";
import { randomText } from "./credential-key.ts";
import type { Deps } from "./deps.ts";

/** Begins every secret made here, so that one is known where it does not belong. */
const PREFIX = "tlm_";
const SECRET_LENGTH = 43;

export interface CreatedMonitor {
  readonly id: string;
  /** Shown this once. */
  readonly secret: string;
}

/** Makes a monitor that may report production errors to a project. */
export async function createMonitor(
  { db, newId }: Pick<Deps, "db" | "newId">,
  order: { readonly projectId: string; readonly name: string },
): Promise<CreatedMonitor> {
  const monitor = {
    id: newId(),
    projectId: order.projectId,
    name: requireName(order.name),
    secret: PREFIX + randomText(SECRET_LENGTH),
  };
  if (!(await insertMonitor(db, monitor))) {
    throw notFound(`There is no project ${order.projectId}. \`GET /v1/projects\` lists a board's.`);
  }
  return { id: monitor.id, secret: monitor.secret };
}
