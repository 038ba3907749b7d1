import { z } from "zod";
import type { CreatedRef, Ordered } from "../../values.ts";
import { type BranchTip, type DeletedBranch, type MovedBranch, TEMPORARY_BRANCHES } from "../../releasing.ts";
import { shaped } from "../calls/client.ts";
import type { GitHubRepository } from "../github-repository.ts";
import { createRef, NO_COMMIT, readRef, refShape, updateRefs } from "./refs.ts";
import { succeeded } from "../repositories.ts";

/** The commit a branch points at; null where there is no such branch, an empty repository included. */
export async function readBranchHead({ read }: GitHubRepository, branchName: string): Promise<string | null> {
  const answer = await read("/git/ref/heads/{branch}", { branch: branchName });
  if (answer.status === 404 || answer.status === 409) return null;
  const { ref, object } = shaped(refShape, succeeded(answer));
  return ref === `refs/heads/${branchName}` ? object.sha : null;
}

/** The branches that exist only while an order is carried out. */
export async function readTemporaryBranches({ read }: GitHubRepository): Promise<BranchTip[]> {
  const answer = await read("/git/matching-refs/{ref}", { ref: `heads/${TEMPORARY_BRANCHES}` });
  if (answer.status === 404 || answer.status === 409) return [];
  return shaped(z.array(refShape), succeeded(answer))
    .map(({ ref, object }) => ({ branchName: ref.slice("refs/heads/".length), sha: object.sha }))
    .filter(({ branchName }) => branchName.startsWith(TEMPORARY_BRANCHES));
}

/** Creates a branch; one that exists is reported, never moved. */
export const createBranch = (repository: GitHubRepository, name: string, sha: string): Promise<CreatedRef> =>
  createRef(repository, { kind: "branch", name, sha }, () => readBranchHead(repository, name));

/** Deletes a branch, but only from the commit it is expected at. */
export async function deleteBranch(
  repository: GitHubRepository,
  branchName: string,
  expectedSha: string,
): Promise<DeletedBranch> {
  const changed = await changeBranch(repository, { branchName, from: expectedSha, to: null });
  if (!changed.ok) return changed;
  const { sha, isChanged } = changed.value;
  return { ok: true, value: sha === null ? { deleted: isChanged } : { moved: sha } };
}

/** Moves a branch, back as well, but only from the commit it is expected at. */
export async function moveBranch(
  repository: GitHubRepository,
  order: { readonly branchName: string; readonly from: string; readonly to: string },
): Promise<MovedBranch> {
  const changed = await changeBranch(repository, order);
  if (!changed.ok) return changed;
  const { sha } = changed.value;
  return { ok: true, value: sha === order.to ? { state: "there" } : { state: "moved", sha } };
}

/** Where the branch is now, null for nowhere, and whether that may be the order's doing. */
type Changed = Ordered<{ readonly sha: string | null; readonly isChanged: boolean }>;

/** Moves a branch, or deletes it where `to` is null, from the commit it is expected at. */
async function changeBranch(
  repository: GitHubRepository,
  order: { readonly branchName: string; readonly from: string; readonly to: string | null },
): Promise<Changed> {
  const { branchName, from, to } = order;
  const name = `refs/heads/${branchName}`;
  /** Gives the repository's id while the branch is where it is expected. */
  const look = async (isChanged: boolean): Promise<Changed | { repositoryId: string }> => {
    const found = await readRef(repository, name);
    if (!found.ok) return found;
    const { sha, repositoryId } = found.value;
    return sha === to || sha !== from ? { ok: true, value: { sha, isChanged } } : { repositoryId };
  };
  const settled = async (): Promise<Changed | null> => {
    const now = await look(true);
    return "ok" in now ? now : null;
  };
  const before = await look(false);
  if ("ok" in before) return before;
  return await repository.carryOut<Changed>(async () => {
    const update = {
      name,
      beforeOid: from,
      ...(to ? { afterOid: to, force: true } : { afterOid: NO_COMMIT }),
    };
    const refusal = await updateRefs(repository.caller, before.repositoryId, [update]);
    if (refusal === null) return { ok: true, value: { sha: to, isChanged: true } };
    return (await settled()) ?? { ok: false, refusal };
  }, settled);
}

const COMPARE = "/compare/{basehead}";

const comparisonShape = z.looseObject({ ahead_by: z.number() });
const fileShape = z.looseObject({
  filename: z.string(),
  sha: z.string().nullish(),
  previous_filename: z.string().nullish(),
});
const filesShape = z.looseObject({ files: z.array(fileShape).nullish() });

/** Whether a branch has a commit: nothing of the commit's history is then missing from the branch. */
export async function readContains(
  { read }: GitHubRepository,
  branchName: string,
  sha: string,
): Promise<boolean | null> {
  // Only the first page has the changed files, up to 300 with their patches; each has the counts.
  const answer = await read(COMPARE, { basehead: `${branchName}...${sha}`, per_page: 1, page: 2 });
  if (answer.status === 404) return null;
  return shaped(comparisonShape, succeeded(answer)).ahead_by === 0;
}

/**
 * The files that both sides changed, and not to the same content; a side is `base...head` and means
 * what head has changed since it left base. GitHub does not say which files conflict, but those
 * that do are among these (it lists at most 300 changed files).
 */
export async function changedOnBothSides(
  repository: GitHubRepository,
  [ours, theirs]: readonly [string, string],
): Promise<string[]> {
  const [our, their] = await Promise.all([readFiles(repository, ours), readFiles(repository, theirs)]);
  return [...our].flatMap(([name, sha]) =>
    their.has(name) && (sha === null || sha !== their.get(name)) ? [name] : [],
  );
}

/** From the names of changed files to their content; null for a name that a file has no more. */
async function readFiles({ read }: GitHubRepository, basehead: string): Promise<Map<string, string | null>> {
  const answer = await read(COMPARE, { basehead });
  const files = answer.status < 300 ? (shaped(filesShape, answer).files ?? []) : [];
  return new Map(
    files.flatMap(({ filename, sha, previous_filename: before }) => [
      [filename, sha ?? null] as const,
      ...(before ? [[before, null] as const] : []),
    ]),
  );
}
