import type { ForgeContext } from "../context.ts";
import { aheadBehind, mergeBase } from "../git/history.ts";
import { readRef, updateRef } from "../git/refs.ts";
import type { AccountRow, PullRequestRow, RepositoryRow } from "../rows.ts";
import { invalidFields, unprocessable, type FieldError } from "../server/api-error.ts";
import { emitPullRequest } from "./emit-events.ts";
import { pullHeadRef } from "./sync-pull-requests.ts";

interface NewPullRequest {
  readonly title: string;
  readonly body: string | null;
  /** A branch, or `owner:branch`. */
  readonly head: string;
  readonly base: string;
  readonly draft: boolean;
  readonly maintainerCanModify: boolean;
}

/** GitHub's limit for the body of pull requests and comments. */
export const MAX_BODY_LENGTH = 65_536;

const fieldError = (field: string, code: FieldError["code"]) =>
  ({ resource: "PullRequest", field, code }) as const;
const customError = (message: string): FieldError => ({ resource: "PullRequest", code: "custom", message });

/** Opens a pull request between two branches of one repository. Throws GitHub's refusals. */
export function openPullRequest(
  forge: ForgeContext,
  repositoryId: number,
  by: AccountRow,
  given: NewPullRequest,
): Promise<PullRequestRow> {
  return forge.withLock(repositoryId, async () => {
    const repository = forge.state.repositories.need(repositoryId);
    const branches = await validateNew(forge, repository, given);
    const now = forge.now();
    const number = repository.nextNumber;
    const row: PullRequestRow = {
      ...INITIAL,
      id: forge.state.newId(),
      issueId: forge.state.newId(),
      repositoryId,
      number,
      title: given.title,
      body: given.body,
      userId: by.id,
      draft: given.draft,
      headRef: branches.head,
      headSha: branches.headSha,
      baseRef: given.base,
      baseSha: branches.baseSha,
      maintainerCanModify: given.maintainerCanModify,
      createdAt: now,
      updatedAt: now,
    };
    await updateRef(forge.git.repository(repositoryId), pullHeadRef(row), row.headSha);
    forge.state.repositories.update(repositoryId, { nextNumber: number + 1 });
    forge.state.pullRequests.save(row);
    await emitPullRequest(forge, row, "opened", by);
    return row;
  });
}

const INITIAL = {
  state: "open",
  requestedReviewerIds: [],
  autoMerge: null,
  queuedAt: null,
  queuedById: null,
  closedAt: null,
  mergedAt: null,
  mergedById: null,
  mergeCommitSha: null,
  merging: null,
} as const;

async function validateNew(forge: ForgeContext, repository: RepositoryRow, given: NewPullRequest) {
  const owner = forge.state.accounts.need(repository.ownerId);
  const [, headOwner, head] = /^(?:([^:]*):)?(.*)$/.exec(given.head) ?? [];
  const isHere = headOwner === undefined || headOwner.toLowerCase() === owner.login.toLowerCase();
  const repo = forge.git.repository(repository.id);
  const headSha = isHere ? await readRef(repo, `refs/heads/${head}`) : null;
  const baseSha = await readRef(repo, `refs/heads/${given.base}`);
  const missing = [...(headSha === null ? ["head"] : []), ...(baseSha === null ? ["base"] : [])];
  if (headSha === null || baseSha === null || head === undefined)
    throw invalidFields(...missing.map((field) => fieldError(field, "invalid")));
  if (given.title.trim() === "") throw invalidFields(fieldError("title", "missing_field"));
  if ((given.body?.length ?? 0) > MAX_BODY_LENGTH)
    throw invalidFields(customError(`body is too long (maximum is ${MAX_BODY_LENGTH} characters)`));
  const { aheadBy } = await aheadBehind(repo, baseSha, headSha);
  if (aheadBy === 0) throw invalidFields(customError(`No commits between ${given.base} and ${head}`));
  if ((await mergeBase(repo, baseSha, headSha)) === null)
    throw invalidFields(customError(`The ${head} branch has no history in common with ${given.base}`));
  if (openBetween(forge, repository, head, given.base) !== undefined)
    throw invalidFields(customError(`A pull request already exists for ${owner.login}:${head}.`));
  if (given.draft && !repository.allowDrafts)
    throw unprocessable("Draft pull requests are not supported in this repository.");
  return { head, headSha, baseSha };
}

export const openBetween = (
  forge: ForgeContext,
  repository: RepositoryRow,
  head: string,
  base: string,
): PullRequestRow | undefined =>
  forge.state.pullRequests
    .inGroup(repository.id)
    .find((each) => each.state === "open" && each.headRef === head && each.baseRef === base);
