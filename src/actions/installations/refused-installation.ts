import { type BlockedReason, isAboutConnection } from "../../flow/refusal.ts";
import { ForgeUnavailable } from "../../forge/values.ts";
import { listLinks } from "../../store/cards/links.ts";
import type { Db } from "../../store/db/connect.ts";
import { addJob } from "../../store/db/jobs.ts";
import { isInstallationRefused, markInstallationRefused } from "../../store/forge/installations.ts";
import type { Deps } from "../deps.ts";
import { syncInstallation } from "./sync-installation.ts";

export const LOOK_AT_REFUSED = "look-at-refused-installation";

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 600_000;

/**
 * Records that GitHub refuses an installation, with GitHub's message. From then on nothing is asked
 * there and the inbox says so. A job looks at the installation now, and again until the refusal
 * ends. Never throws, because the call that was refused has an answer of its own to give.
 */
export async function recordRefusal(deps: Deps, installationId: number, words: string): Promise<void> {
  try {
    if (await markInstallationRefused(deps.db, installationId, words)) await lookIn(deps, installationId, 0);
  } catch (error) {
    deps.log.error({ err: error, installationId }, "a refusal could not be recorded");
  }
}

/** Looks at an account that was refused, and while it still is, again after a growing pause: `waitedMs` was the last one. */
export async function lookAtRefused(deps: Deps, installationId: number, waitedMs: number): Promise<void> {
  try {
    await syncInstallation(deps, installationId);
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    deps.log.warn({ err: error, installationId }, "an installation that was refused could not be looked at");
  }
  if (!(await isInstallationRefused(deps.db, installationId))) return;
  await lookIn(deps, installationId, Math.min(waitedMs * 2 || FIRST_WAIT_MS, LONGEST_WAIT_MS));
}

/** Has the accounts looked at where a card was just refused for want of a permission: which one they do not grant is told with that. */
export async function lookAtForbidding(
  db: Db,
  cardId: string,
  reasons: readonly BlockedReason[],
): Promise<void> {
  const forbidding = reasons.filter((each) => each.reason === "not_permitted" && !isAboutConnection(each));
  if (forbidding.length === 0) return;
  for (const { repository } of await listLinks(db, cardId)) {
    const isOne = forbidding.some((each) => each.repository === repository.fullName);
    if (isOne && repository.ref) await lookIn({ db }, repository.ref.installationId, 0);
  }
}

const lookIn = ({ db }: Pick<Deps, "db">, installationId: number, delayMs: number): Promise<void> =>
  addJob(
    db,
    LOOK_AT_REFUSED,
    { installationId, waitedMs: delayMs },
    { key: `${LOOK_AT_REFUSED}:${installationId}`, delayMs },
  );
