import type { ForgeRepository } from "../forge/forge.ts";
import {
  findRepositoryByForgeId,
  updateRepositoryNames,
  type Repository,
} from "../store/forge/repositories.ts";
import type { Deps } from "./deps.ts";

interface FromRepository {
  readonly repository: ForgeRepository;
  readonly installationId: number | null;
}

/**
 * The repository an event is about; null when it is none of ours, or comes by another account's installation than the one we know it
 * under. Only the forge's id counts: a name may have changed hands. Where the event calls it otherwise than we do, the forge says what it
 * is called, for the event may be days old.
 */
export async function knownRepository(deps: Deps, event: FromRepository): Promise<Repository | null> {
  const { repository: seen, installationId } = event;
  const repository = await findRepositoryByForgeId(deps.db, seen.forgeId);
  if (!repository?.connected) return null;
  if (installationId !== null && installationId !== repository.installationId) return null;
  const isAsKnown = repository.fullName === seen.fullName && repository.defaultBranch === seen.defaultBranch;
  if (isAsKnown || !repository.ref) return repository;
  const now = await deps.forge.repository(repository.ref);
  if (!now) return repository;
  await updateRepositoryNames(deps.db, repository.id, now);
  return { ...repository, fullName: now.fullName, defaultBranch: now.defaultBranch };
}
