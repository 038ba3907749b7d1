import type { UnavailableReason } from "../../forge/values.ts";
import { markInstallationUnavailable } from "../../store/forge/installations.ts";
import type { Deps } from "../deps.ts";

/** The shortest time for which a repository's health shows that GitHub did not respond, in seconds. */
const SHOWN_FOR_S = 60;

/** Records for the health of repositories why GitHub did not respond. Never throws. */
export async function recordUnavailable(
  { db, log }: Deps,
  installationId: number,
  reason: UnavailableReason,
  retryAfter: number,
): Promise<void> {
  const seconds = Math.max(retryAfter, SHOWN_FOR_S);
  await markInstallationUnavailable(db, installationId, { reason, seconds }).catch((error: unknown) => {
    log.error({ err: error, installationId }, "an outage of GitHub could not be recorded");
  });
}
