import type { RunningForge } from "../../../sandbox/forge/start-forge.ts";
import type { ServiceOptions } from "../../../src/service.ts";

/** Connects a service to a sandbox forge. `paceWrites` as with GitHub itself. */
export const githubOptions = (
  { apiUrl, app }: Pick<RunningForge, "apiUrl" | "app">,
  paceWrites = false,
): ServiceOptions["github"] => ({
  apiUrl,
  appId: app.id,
  privateKey: app.privateKey,
  webhookSecrets: [app.webhookSecret],
  paceWrites,
});
