import { Problem } from "../../errors.ts";
import {
  findFreeAction,
  settleAction,
  takeOverAction,
  type ReleaseActionKind,
} from "../../store/releases/release-actions.ts";
import { findRelease } from "../../store/releases/releases.ts";
import type { Deps } from "../deps.ts";
import { MAX_DEATHS } from "../moves/resume-move.ts";
import { carryOutPick } from "./carry-out-pick.ts";
import { carryOutComplete } from "./complete-release.ts";
import { carryOutFreeze, carryOutUnfreeze } from "./freeze.ts";
import { goOnPromoting } from "./promote-release.ts";
import { carryOutAndSettle, type CarryOutRelease } from "./release-action.ts";

/** How many unexpected errors abandon an action. */
const MAX_FAILURES = 8;

const RUN: Readonly<Record<Exclude<ReleaseActionKind, "promote">, CarryOutRelease>> = {
  freeze: carryOutFreeze,
  unfreeze: carryOutUnfreeze,
  pick: carryOutPick,
  complete: carryOutComplete,
};

/** Resumes an action whose process has died or has released it. */
export async function resumeAction(deps: Deps, actionId: string): Promise<void> {
  const action = await findFreeAction(deps.db, actionId);
  if (!action) return;
  const log = deps.log.child({ releaseAction: action.id, kind: action.kind });
  const release = await findRelease(deps.db, action.workspaceId, action.releaseId);
  const taken = await takeOverAction(deps.db, action, { holder: deps.instanceId, requestId: null });
  if (!taken) return;
  const { attempt, deaths } = taken;
  const owned = { ...action, attempt };
  if (!release) {
    await settleAction(deps.db, owned, "abandoned");
    return;
  }
  if (deaths >= MAX_DEATHS) {
    await settleAction(deps.db, owned, "abandoned");
    log.error(
      { attempt, deaths, isHopeless: true },
      "abandoned a release action that ended the process each time",
    );
    return;
  }
  try {
    if (action.kind === "promote") await goOnPromoting(deps, release, owned);
    else await carryOutAndSettle(deps, release, owned, RUN[action.kind], () => Promise.resolve());
    log.info("resumed an unfinished release action");
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ kind: error.kind, reason: error.message }, "a release action is still unfinished");
      return;
    }
    // An unfinished action blocks its release.
    const isHopeless = action.failures >= MAX_FAILURES;
    if (isHopeless) await settleAction(deps.db, owned, "abandoned");
    log.error({ err: error, attempt, isHopeless }, "resuming a release action failed");
  }
}
