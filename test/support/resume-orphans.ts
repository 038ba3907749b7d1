import type { Deps } from "../../src/actions/deps.ts";
import { resumeOperation } from "../../src/actions/resume-operation.ts";

/** Resumes the unfinished operations of a board that no live process owns, as the job does. */
export async function resumeOrphans(deps: Deps, workspaceId: string): Promise<void> {
  const ids: string[] = await deps
    .db("operations")
    .where({ workspace_id: workspaceId })
    .whereIn("state", ["running", "queued"])
    .orderBy("updated_at")
    .pluck("id");
  for (const id of ids) await resumeOperation(deps, id);
}
