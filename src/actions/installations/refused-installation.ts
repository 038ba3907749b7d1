import { type BlockedReason, isConnectionRefusal } from "../../flow/refusal.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { listLinks } from "../../store/cards/links.ts";
import type { Db } from "../../store/db/connect.ts";
import { JOBS, schedule } from "../../store/jobs.ts";
import { isInstallationRefused, markInstallationRefused } from "../../store/forge/installations.ts";
import type { Deps } from "../deps.ts";
import { syncInstallation } from "./sync-installation.ts";

const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 600_000;

/**
 * Records that GitHub refuses an installation: the inbox shows it, and no call is made there until
 * the refusal ends. A job checks that immediately and then with growing pauses. Never throws, so
 * that the caller can report the refused call.
 */
export async function recordRefusal(deps: Deps, installationId: number, message: string): Promise<void> {
  try {
    const isNew = await markInstallationRefused(deps.db, installationId, message);
    if (isNew) await scheduleCheck(deps.db, installationId, 0);
  } catch (error) {
    deps.log.error({ err: error, installationId }, "a refusal could not be recorded");
  }
}

/** Checks a refused installation, and again after growing pauses; `waitedMs` was the last one. */
export async function checkRefusedInstallation(
  deps: Deps,
  installationId: number,
  waitedMs: number,
): Promise<void> {
  try {
    await syncInstallation(deps, installationId);
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    deps.log.warn({ err: error, installationId }, "a refused installation could not be checked");
  }
  if (!(await isInstallationRefused(deps.db, installationId))) return;
  await scheduleCheck(deps.db, installationId, Math.min(waitedMs * 2 || FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
}

/** Checks installations that refused a card for a permission, to find out which one is missing. */
export async function checkForbiddingInstallations(
  db: Db,
  cardId: string,
  reasons: readonly BlockedReason[],
): Promise<void> {
  const forbidding = reasons.filter((each) => each.reason === "not_permitted" && !isConnectionRefusal(each));
  if (forbidding.length === 0) return;
  for (const { repository } of await listLinks(db, cardId)) {
    const isForbidding = forbidding.some((each) => each.repository === repository.fullName);
    if (isForbidding && repository.forgeRef) await scheduleCheck(db, repository.forgeRef.installationId, 0);
  }
}

const scheduleCheck = (db: Db, installationId: number, delayMs: number): Promise<void> =>
  schedule(db, JOBS.checkRefusedInstallation, { installationId, waitedMs: delayMs }, { delayMs });
