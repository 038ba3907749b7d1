import { conflict, notFound } from "../errors.ts";
import type { Trx } from "../store/db/connect.ts";
import { findRelease, holdOpenReleases, type ReleaseHead } from "../store/releases/releases.ts";

/**
 * A release as it is now, held with the project's other open ones until the transaction ends. Throws `not_found` once it is gone and
 * `conflict` once it is completed.
 */
export async function holdOpenRelease(trx: Trx, release: ReleaseHead): Promise<ReleaseHead> {
  const open = await holdOpenReleases(trx, release.projectId);
  const current = open.find(({ id }) => id === release.id);
  if (current) return current;
  if (await findRelease(trx, release.workspaceId, release.id)) {
    throw conflict(`The release ${release.name} is completed. What it carried stays as it is.`);
  }
  throw noRelease();
}

export const noRelease = (): Error => notFound("There is no release with this id on this board.");
