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

/** How often in a row an action may fail with an unexpected error before it is abandoned. */
const MAX_FAILURES = 8;

const CARRY_OUT: Readonly<Record<Exclude<ReleaseActionKind, "promote">, CarryOutRelease>> = {
  freeze: carryOutFreeze,
  unfreeze: carryOutUnfreeze,
  pick: carryOutPick,
  complete: carryOutComplete,
};

/** Resumes an action that no process holds: its process has died or has released it. */
export async function resumeAction(deps: Deps, actionId: string): Promise<void> {
  const action = await findFreeAction(deps.db, actionId);
  if (!action) return;
  const log = deps.log.child({ releaseAction: action.id, kind: action.kind });
  const release = await findRelease(deps.db, action.workspaceId, action.releaseId);
  const taken = await takeOverAction(deps.db, action, { holder: deps.instanceId, requestId: null });
  if (!taken) return;
  const { attempt, deaths } = taken;
  const held = { ...action, attempt };
  if (!release) {
    await settleAction(deps.db, held, "abandoned");
    return;
  }
  if (deaths >= MAX_DEATHS) {
    await settleAction(deps.db, held, "abandoned");
    log.error({ attempt, deaths, isHopeless: true }, "going on with a release ended the process each time");
    return;
  }
  try {
    if (action.kind === "promote") await goOnPromoting(deps, release, held);
    else await carryOutAndSettle(deps, release, held, CARRY_OUT[action.kind], () => Promise.resolve());
    log.info("went on with a release that was left unfinished");
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ kind: error.kind, reason: error.message }, "a release is still unfinished");
      return;
    }
    // An action that keeps failing must not block the release for ever.
    const isHopeless = action.failures >= MAX_FAILURES;
    if (isHopeless) await settleAction(deps.db, held, "abandoned");
    log.error({ err: error, attempt, isHopeless }, "going on with a release failed");
  }
}
