import type { ForgeRepository } from "../forge/forge.ts";
import type { Db } from "../store/connect.ts";
import { findRepositoryByForgeId, updateRepositoryNames, type Repository } from "../store/repositories.ts";

/**
 * The repository an event is about, its names brought up to date by the way; null when it is none of ours. Only the forge's id
 * counts: a name may have changed hands.
 */
export async function knownRepository(db: Db, seen: ForgeRepository): Promise<Repository | null> {
  const repository = await findRepositoryByForgeId(db, seen.forgeId);
  if (!repository?.connected) return null;
  if (repository.fullName !== seen.fullName || repository.defaultBranch !== seen.defaultBranch) {
    await updateRepositoryNames(db, repository.id, seen);
  }
  return repository;
}
