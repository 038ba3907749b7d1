import { Problem } from "../../errors.ts";
import {
  findUnownedAction,
  finishAction,
  takeOverAction,
  type ReleaseActionKind,
} from "../../store/releases/release-actions.ts";
import { findRelease } from "../../store/releases/releases.ts";
import { continueAttempt } from "../attempt.ts";
import type { Deps } from "../deps.ts";
import { MAX_CRASHES } from "../moves/resume-move.ts";
import { runPick } from "./run-pick.ts";
import { runComplete } from "./complete-release.ts";
import { runFreeze, runUnfreeze } from "./freeze.ts";
import { resumePromotion } from "./promote-release.ts";
import { runAndFinish, type RunAction } from "./release-action.ts";

/** After so many failures in a row, outages included, the next unexpected error abandons an action. */
const MAX_FAILURES = 8;

const RUN_OF_KIND: Readonly<Record<Exclude<ReleaseActionKind, "promote">, RunAction>> = {
  freeze: runFreeze,
  unfreeze: runUnfreeze,
  pick: runPick,
  complete: runComplete,
};

/** Resumes an action whose process has died or has released it. */
export async function resumeReleaseAction(deps: Deps, actionId: string): Promise<void> {
  const action = await findUnownedAction(deps.db, actionId);
  if (!action) return;
  const log = deps.log.child({ releaseAction: action.id, kind: action.kind });
  const release = await findRelease(deps.db, action.workspaceId, action.releaseId);
  const taken = await takeOverAction(deps.db, action, { holder: deps.instanceId, requestId: null });
  if (!taken) return;
  const { generation, crashes } = taken;
  const owned = { ...action, generation };
  if (!release) {
    await finishAction(deps.db, owned, "abandoned");
    return;
  }
  if (crashes >= MAX_CRASHES) {
    await finishAction(deps.db, owned, "abandoned");
    log.error(
      { generation, crashes, isAbandoned: true },
      "abandoned a release action after repeated crashes",
    );
    return;
  }
  try {
    await continueAttempt(deps, action.attemptId, async (own) => {
      if (action.kind === "promote") await resumePromotion(own, release, owned);
      else await runAndFinish(own, release, owned, RUN_OF_KIND[action.kind], () => Promise.resolve());
    });
    log.info("resumed an unfinished release action");
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ kind: error.kind, reason: error.message }, "a release action is still unfinished");
      return;
    }
    // An unfinished action blocks its release.
    const isAbandoned = action.failures >= MAX_FAILURES;
    if (isAbandoned) await finishAction(deps.db, owned, "abandoned");
    log.error({ err: error, generation, isAbandoned }, "resuming a release action failed");
  }
}
