import { Problem } from "../errors.ts";
import {
  findFreeAction,
  settleAction,
  takeOverAction,
  type ReleaseActionKind,
} from "../store/releases/release-actions.ts";
import { findRelease, type ReleaseHead } from "../store/releases/releases.ts";
import type { RunningAction } from "./begin-release-action.ts";
import { carryOutComplete } from "./carry-out-complete.ts";
import { carryOutPick } from "./carry-out-pick.ts";
import type { Deps } from "./deps.ts";
import { MAX_DEATHS } from "./resume-move.ts";
import { carryOutFreeze } from "./freeze-release.ts";
import { goOnPromoting } from "./promote-release.ts";
import { carryOutAndSettle, type CarryOutRelease } from "./release-action.ts";
import { carryOutUnfreeze } from "./unfreeze-release.ts";

/** How often in a row an action may fail for a reason of our own before it is given up. */
const MAX_FAILURES = 8;

type Resume = (deps: Deps, release: ReleaseHead, action: RunningAction) => Promise<void>;

const throughForge =
  (carryOut: CarryOutRelease): Resume =>
  async (deps, release, action) => {
    await carryOutAndSettle(deps, release, action, carryOut, () => Promise.resolve());
  };

const RESUME: Readonly<Record<ReleaseActionKind, Resume>> = {
  freeze: throughForge(carryOutFreeze),
  unfreeze: throughForge(carryOutUnfreeze),
  pick: throughForge(carryOutPick),
  promote: goOnPromoting,
  complete: throughForge(carryOutComplete),
};

/** Goes on with an action that nobody is at work on: that of a dead process, or one that was let go of. */
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
    await RESUME[action.kind](deps, release, held);
    log.info("went on with a release that was left unfinished");
  } catch (error) {
    if (error instanceof Problem) {
      log.warn({ kind: error.kind, reason: error.message }, "a release is still unfinished");
      return;
    }
    // What cannot be gone on with must not keep the others waiting, nor be tried for ever.
    const isHopeless = action.failures >= MAX_FAILURES;
    if (isHopeless) await settleAction(deps.db, held, "abandoned");
    log.error({ err: error, attempt, isHopeless }, "going on with a release failed");
  }
}
