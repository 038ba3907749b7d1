import { z } from "zod";
import type { CreatedRef, ForgeResult } from "../../values.ts";
import {
  type BranchTip,
  type DeletedBranch,
  type MoveBranchResult,
  TEMPORARY_BRANCHES,
} from "../../releasing.ts";
import { type GitHubResponse, parseResponse } from "../calls/client.ts";
import type { GitHubRepository } from "../github-repository.ts";
import { createRef, NO_COMMIT, readRef, refShape, updateRefs } from "./refs.ts";
import { allPages, PAGE, succeeded } from "../repositories.ts";

export async function readBranchHead({ read }: GitHubRepository, branchName: string): Promise<string | null> {
  const response = await read("/git/ref/heads/{branch}", { branch: branchName });
  if (isWithoutRefs(response)) return null;
  const { ref, object } = parseResponse(refShape, succeeded(response));
  return ref === `refs/heads/${branchName}` ? object.sha : null;
}

export async function readTemporaryBranches({ read }: GitHubRepository): Promise<BranchTip[]> {
  const known = new Set<string>();
  const listed = await allPages(
    (page) => read("/git/matching-refs/{ref}", { ref: `heads/${TEMPORARY_BRANCHES}`, per_page: PAGE, page }),
    (response) => (isWithoutRefs(response) ? [] : parseResponse(z.array(refShape), succeeded(response))),
    (refs) => {
      // GitHub documents no pages for this list, so each page may be the whole list again.
      const isRepeated = refs.every(({ ref }) => known.has(ref));
      for (const { ref } of refs) known.add(ref);
      return isRepeated;
    },
  );
  const tips = new Map(listed.map(({ ref, object }) => [ref.slice("refs/heads/".length), object.sha]));
  return [...tips]
    .map(([branchName, sha]) => ({ branchName, sha }))
    .filter(({ branchName }) => branchName.startsWith(TEMPORARY_BRANCHES));
}

/** 409 is an empty repository. */
const isWithoutRefs = ({ status }: GitHubResponse): boolean => status === 404 || status === 409;

export const createBranch = (repository: GitHubRepository, name: string, sha: string): Promise<CreatedRef> =>
  createRef(repository, { kind: "branch", name, sha }, () => readBranchHead(repository, name));

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

export async function moveBranch(
  repository: GitHubRepository,
  order: { readonly branchName: string; readonly from: string; readonly to: string },
): Promise<MoveBranchResult> {
  const changed = await changeBranch(repository, order);
  if (!changed.ok) return changed;
  const { sha } = changed.value;
  return { ok: true, value: sha === order.to ? { state: "at_target" } : { state: "moved", sha } };
}

/** The branch's commit, null for none, and whether this write may have changed it. */
type Changed = ForgeResult<{ readonly sha: string | null; readonly isChanged: boolean }>;

/** Moves a branch that is at `from`, or deletes it if `to` is null. */
async function changeBranch(
  repository: GitHubRepository,
  order: { readonly branchName: string; readonly from: string; readonly to: string | null },
): Promise<Changed> {
  const { branchName, from, to } = order;
  const name = `refs/heads/${branchName}`;
  /** The repository's id if the branch is at `from`, otherwise the result. */
  const readState = async (isChanged: boolean): Promise<Changed | { repositoryId: string }> => {
    const found = await readRef(repository, name);
    if (!found.ok) return found;
    const { sha, repositoryId } = found.value;
    return sha === to || sha !== from ? { ok: true, value: { sha, isChanged } } : { repositoryId };
  };
  const find = async (): Promise<Changed | null> => {
    const now = await readState(true);
    return "ok" in now ? now : null;
  };
  const before = await readState(false);
  if ("ok" in before) return before;
  return await repository.runWrite<Changed>(async () => {
    const update = {
      name,
      beforeOid: from,
      ...(to ? { afterOid: to, force: true } : { afterOid: NO_COMMIT }),
    };
    const refusal = await updateRefs(repository.caller, before.repositoryId, [update]);
    if (refusal === null) return { ok: true, value: { sha: to, isChanged: true } };
    return (await find()) ?? { ok: false, refusal };
  }, find);
}

const COMPARE = "/compare/{basehead}";

const comparisonShape = z.looseObject({ ahead_by: z.number() });
const fileShape = z.looseObject({
  filename: z.string(),
  sha: z.string().nullish(),
  previous_filename: z.string().nullish(),
});
const filesShape = z.looseObject({ files: z.array(fileShape).nullish() });

/** Unlike a branch's short name, never means a tag of the same name. */
export const branchRevision = (branchOrSha: string): string =>
  /^[0-9a-f]{40}$/.test(branchOrSha) ? branchOrSha : `refs/heads/${branchOrSha}`;

export async function readContains(
  { read }: GitHubRepository,
  branchOrSha: string,
  sha: string,
): Promise<boolean | null> {
  // The first page would include up to 300 changed files with patches.
  const response = await read(COMPARE, {
    basehead: `${branchRevision(branchOrSha)}...${sha}`,
    per_page: 1,
    page: 2,
  });
  if (response.status === 404) return null;
  return parseResponse(comparisonShape, succeeded(response)).ahead_by === 0;
}

/**
 * The files that both sides changed to different content; a side is `base...head`. GitHub does not
 * report conflicting files, but they are among these. It lists at most 300 changed files.
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

/** Maps the name of a changed file to its blob; null for the old name of a renamed file. */
async function readFiles({ read }: GitHubRepository, basehead: string): Promise<Map<string, string | null>> {
  const response = await read(COMPARE, { basehead });
  const files = response.status < 300 ? (parseResponse(filesShape, response).files ?? []) : [];
  return new Map(
    files.flatMap(({ filename, sha, previous_filename: before }) => [
      [filename, sha ?? null] as const,
      ...(before ? [[before, null] as const] : []),
    ]),
  );
}
