import { findOrphan } from "../store/ops/operations.ts";
import type { Deps } from "./deps.ts";
import { resumeMove } from "./moves/resume-move.ts";
import { resumeReleaseOperation } from "./releases/resume-release-operation.ts";

/** Continues an operation whose process has died or has freed it. Does nothing if it has ended or runs. */
export async function resumeOperation(deps: Deps, operationId: string): Promise<void> {
  const operation = await findOrphan(deps.db, operationId);
  if (!operation) return;
  if (operation.kind === "move")
    await resumeMove(deps, operation, { isOverdue: operation.state === "queued" });
  else await resumeReleaseOperation(deps, operation);
}
