import { clockOf, forgetOtherInstallations } from "../store/forge/installations.ts";
import type { Deps } from "./deps.ts";
import { follow } from "./sync-installation.ts";

/**
 * Makes organizations, boards and repositories follow the forge's list of installations, so that an App installed, changed or
 * removed while Trunkline was away is seen. A new account gets a board with one project on the default flow. One account that
 * cannot be read does not keep the others waiting.
 */
export async function syncInstallations(deps: Deps): Promise<void> {
  const askedAt = await clockOf(deps.db);
  const installations = await deps.forge.installations();
  const failures: unknown[] = [];
  for (const installation of installations) {
    await follow(deps, installation, askedAt).catch((error: unknown) => {
      deps.log.error({ err: error, ...installation }, "an installation could not be followed");
      failures.push(error);
    });
  }
  await forgetOtherInstallations(
    deps.db,
    installations.map(({ installationId }) => installationId),
    askedAt,
  );
  if (failures.length > 0) throw failures[0];
}
