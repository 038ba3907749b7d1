import { finishOperation, type ReleaseOperation } from "../../store/ops/operations.ts";
import { findRelease } from "../../store/releases/releases.ts";
import type { Deps } from "../deps.ts";
import { resume } from "../lease.ts";
import { runPick } from "./run-pick.ts";
import { runComplete } from "./complete-release.ts";
import { runFreeze, runUnfreeze } from "./freeze.ts";
import { resumePromotion } from "./promote-release.ts";
import { runAndFinish, type RunReleaseOperation } from "./release-operation.ts";

const RUN_OF_KIND: Readonly<Record<Exclude<ReleaseOperation["kind"], "promote">, RunReleaseOperation>> = {
  freeze: runFreeze,
  unfreeze: runUnfreeze,
  pick: runPick,
  complete: runComplete,
};

/** Resumes an operation on a release. An abandoned one no longer blocks its release. */
export async function resumeReleaseOperation(deps: Deps, operation: ReleaseOperation): Promise<void> {
  const release = await findRelease(deps.db, operation.workspaceId, operation.releaseId);
  if (!release) {
    await finishOperation(deps.db, operation, "abandoned");
    return;
  }
  await resume(deps, operation, {
    run: (own, { kind, ...owned }) =>
      kind === "promote"
        ? resumePromotion(own, release, { kind, ...owned })
        : runAndFinish(own, release, { kind, ...owned }, RUN_OF_KIND[kind], () => Promise.resolve()),
    abandon: (owned) => finishOperation(deps.db, owned, "abandoned"),
  });
}
