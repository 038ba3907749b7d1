import type { RunningForge } from "../../../sandbox/forge/start-forge.ts";
import type { ServiceOptions } from "../../../src/service.ts";

/** The sandbox forge needs no pauses before calls are repeated. */
export const SHORT_PAUSES = 0.1;

/** Connects a service to a sandbox forge. `paceWrites` as with GitHub itself: then with the same pauses, too. */
export const githubOptions = (
  { apiUrl, app }: Pick<RunningForge, "apiUrl" | "app">,
  paceWrites = false,
): ServiceOptions["github"] => ({
  apiUrl,
  appId: app.id,
  privateKey: app.privateKey,
  webhookSecrets: [app.webhookSecret],
  paceWrites,
  ...(!paceWrites && { pauseFactor: SHORT_PAUSES }),
});
