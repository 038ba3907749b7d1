import { conflict, invalid, type Issue } from "../errors.ts";
import { isTagName } from "../flow/ref-name.ts";
import type { Trx } from "../store/db/connect.ts";
import { listReleaseRepositories } from "../store/releases/release-branches.ts";
import { listReleaseTags, type ReleaseHead } from "../store/releases/releases.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import { carryOutComplete } from "./carry-out-complete.ts";
import type { Deps } from "./deps.ts";
import { actOnRelease } from "./release-action.ts";

/** Which tag a repository gets. */
export interface Version {
  readonly repositoryId: string;
  readonly tagName: string;
}

/**
 * Completes a release: a tag and a provider release in each repository that gets a version, at the release's branch if it is frozen, else at
 * the target of the flow's last merge stage. All versions are checked before anything is written. Answers with the release.
 */
export const completeRelease = (
  deps: Deps,
  write: Write,
  release: ReleaseHead,
  versions: readonly Version[],
): Promise<StoredAnswer> =>
  actOnRelease(deps, write, release, { kind: "complete", input: { versions } }, carryOutComplete, {
    isNeeded: async (trx, current) => {
      await requireVersions(trx, current, versions);
      return true;
    },
  });

/** Refuses versions that are wrong as far as can be told without the forge. */
async function requireVersions(trx: Trx, release: ReleaseHead, versions: readonly Version[]): Promise<void> {
  const repositories = await listReleaseRepositories(trx, release.id);
  const nameOf = new Map(repositories.map(({ repositoryId, fullName }) => [repositoryId, fullName]));
  const issues = versions.flatMap((version, at) => faultsOf(version, at, versions, nameOf));
  const named = new Set(versions.map(({ repositoryId }) => repositoryId));
  const missing = repositories.filter(
    ({ repositoryId, holdsCards }) => holdsCards && !named.has(repositoryId),
  );
  for (const { repositoryId, fullName } of missing) {
    issues.push({
      path: "body.versions",
      message: `${fullName} (${repositoryId}) holds cards of the release and needs a version`,
    });
  }
  const [first] = issues;
  if (first) throw invalid(`${first.path}: ${first.message}`, issues);
  const uncut = repositories.find(({ repositoryId, branchName }) => named.has(repositoryId) && !branchName);
  if (release.frozenAt && uncut) {
    throw conflict(
      `The release ${release.name} has no branch in ${uncut.fullName}. Freeze it again to cut one there.`,
    );
  }
  await requireSameTags(trx, release, versions, nameOf);
}

function faultsOf(
  { repositoryId, tagName }: Version,
  at: number,
  versions: readonly Version[],
  nameOf: ReadonlyMap<string, string>,
): Issue[] {
  const path = `body.versions.${at}`;
  if (!nameOf.has(repositoryId)) {
    return [{ path: `${path}.repositoryId`, message: "not a repository of the release's project" }];
  }
  if (versions.findIndex((other) => other.repositoryId === repositoryId) !== at) {
    return [{ path: `${path}.repositoryId`, message: `${nameOf.get(repositoryId)} is listed twice` }];
  }
  return isTagName(tagName) ? [] : [{ path: `${path}.tagName`, message: "not a name git allows for a tag" }];
}

/** What an earlier try has tagged stays: it was refused in another repository only after that. */
async function requireSameTags(
  trx: Trx,
  release: ReleaseHead,
  versions: readonly Version[],
  nameOf: ReadonlyMap<string, string>,
): Promise<void> {
  for (const { repositoryId, tagName } of await listReleaseTags(trx, release.id)) {
    const version = versions.find((candidate) => candidate.repositoryId === repositoryId);
    if (version?.tagName === tagName) continue;
    throw conflict(
      `${nameOf.get(repositoryId)} is tagged ${tagName} for this release already. Ask for the same tag.`,
    );
  }
}
