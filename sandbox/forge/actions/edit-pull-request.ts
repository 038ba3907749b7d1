import type { ForgeContext } from "../context.ts";
import { isAncestor } from "../git/history.ts";
import { readRef, updateRef } from "../git/refs.ts";
import type { AccountRow, PullRequestRow, RepositoryRow } from "../rows.ts";
import { invalidFields, unprocessable, type FieldError } from "../server/api-error.ts";
import { closePullRequest } from "./close-pull-request.ts";
import { emitPullRequest } from "./emit-events.ts";
import { pullHeadRef } from "./sync-pull-requests.ts";
import { MAX_BODY_LENGTH, openBetween } from "./open-pull-request.ts";

interface PullRequestChange {
  readonly title?: string | undefined;
  readonly body?: string | null | undefined;
  readonly base?: string | undefined;
  readonly state?: "open" | "closed" | undefined;
  readonly maintainerCanModify?: boolean | undefined;
}

const editError = (message: string, field?: string): FieldError => ({
  resource: "PullRequest",
  ...(field === undefined ? {} : { field }),
  code: field === undefined ? "custom" : "invalid",
  message,
});

/** Edits a pull request; emits no event if nothing changes. Throws GitHub's refusals. */
export function editPullRequest(
  forge: ForgeContext,
  pullId: number,
  by: AccountRow,
  change: PullRequestChange,
): Promise<PullRequestRow> {
  const { repositoryId } = forge.state.pullRequests.need(pullId);
  return forge.withLock(repositoryId, async () => {
    const before = forge.state.pullRequests.need(pullId);
    const repository = forge.state.repositories.need(repositoryId);
    await validateChange(forge, repository, before, change);
    if (change.state === "closed" && before.state === "open") await closePullRequest(forge, before, by);
    if (change.state === "open" && before.state === "closed") await reopen(forge, repository, before, by);
    return applyEdit(forge, forge.state.pullRequests.need(pullId), change, by);
  });
}

/** Changes title, body and base and emits `edited`. Call inside `exclusively`. */
export async function applyEdit(
  forge: ForgeContext,
  before: PullRequestRow,
  change: PullRequestChange,
  by: AccountRow,
): Promise<PullRequestRow> {
  const repo = forge.git.repository(before.repositoryId);
  const base = change.base ?? before.baseRef;
  const isRetargeted = base !== before.baseRef;
  const baseSha = isRetargeted ? await readRef(repo, `refs/heads/${base}`) : null;
  const title = change.title ?? before.title;
  const body = change.body === undefined ? before.body : change.body;
  const changes = {
    ...(title === before.title ? {} : { title: { from: before.title } }),
    ...(body === before.body ? {} : { body: { from: before.body ?? "" } }),
    ...(isRetargeted ? { base: { ref: { from: before.baseRef }, sha: { from: before.baseSha } } } : {}),
  };
  const maintainerCanModify = change.maintainerCanModify ?? before.maintainerCanModify;
  if (Object.keys(changes).length === 0) {
    return maintainerCanModify === before.maintainerCanModify
      ? before
      : forge.state.pullRequests.update(before.id, { maintainerCanModify });
  }
  const row = forge.state.pullRequests.update(before.id, {
    title,
    body,
    baseRef: base,
    baseSha: baseSha ?? before.baseSha,
    maintainerCanModify,
    updatedAt: forge.now(),
    // GitHub disables auto-merge when the base changes.
    ...(isRetargeted ? { autoMerge: null } : {}),
  });
  await emitPullRequest(forge, row, "edited", by, { changes });
  return row;
}

async function validateChange(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  change: PullRequestChange,
): Promise<void> {
  if (change.title?.trim() === "")
    throw invalidFields({ resource: "PullRequest", field: "title", code: "missing_field" });
  if ((change.body?.length ?? 0) > MAX_BODY_LENGTH)
    throw invalidFields(editError(`body is too long (maximum is ${MAX_BODY_LENGTH} characters)`));
  if (change.base === undefined || change.base === pull.baseRef) return;
  if (pull.state === "closed" && change.state !== "open")
    throw invalidFields(editError("Cannot change the base branch of a closed pull request."));
  const tip = await readRef(forge.git.repository(repository.id), `refs/heads/${change.base}`);
  if (tip === null)
    throw invalidFields(editError(`Proposed base branch '${change.base}' was not found`, "base"));
  if (openBetween(forge, repository, pull.headRef, change.base) !== undefined)
    throw invalidFields(
      editError(
        `A pull request already exists for base branch '${change.base}' and head branch '${pull.headRef}'`,
      ),
    );
}

const cannotReopen = (why: string) => invalidFields(editError(`state cannot be changed. ${why}`));

async function reopen(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  by: AccountRow,
): Promise<void> {
  const repo = forge.git.repository(repository.id);
  if (pull.mergedAt !== null) throw cannotReopen("The pull request has been merged.");
  const tip = await readRef(repo, `refs/heads/${pull.headRef}`);
  if (tip === null) throw cannotReopen(`The ${pull.headRef} branch has been deleted.`);
  const isEmptied = await isAncestor(repo, pull.headSha, pull.baseSha);
  if (isEmptied || !(await isAncestor(repo, pull.headSha, tip)))
    throw cannotReopen(`The ${pull.headRef} branch was force-pushed or recreated.`);
  const base = await readRef(repo, `refs/heads/${pull.baseRef}`);
  if (base === null) throw cannotReopen(`The ${pull.baseRef} branch has been deleted.`);
  if (openBetween(forge, repository, pull.headRef, pull.baseRef) !== undefined)
    throw cannotReopen(`There is already an open pull request from ${pull.headRef} to ${pull.baseRef}.`);
  await updateRef(repo, pullHeadRef(pull), tip);
  const change = { state: "open", closedAt: null, headSha: tip, baseSha: base } as const;
  const row = forge.state.pullRequests.update(pull.id, { ...change, updatedAt: forge.now() });
  await emitPullRequest(forge, row, "reopened", by);
}

/** Converts a pull request to a draft or back. Throws GitHub's refusals. */
export function setDraft(
  forge: ForgeContext,
  pullId: number,
  by: AccountRow,
  draft: boolean,
): Promise<PullRequestRow> {
  const { repositoryId } = forge.state.pullRequests.need(pullId);
  return forge.withLock(repositoryId, async () => {
    const pull = forge.state.pullRequests.need(pullId);
    if (pull.draft === draft) return pull;
    if (pull.state === "closed") throw unprocessable("Pull request is closed");
    if (draft && !forge.state.repositories.need(repositoryId).allowDrafts)
      throw unprocessable("Draft pull requests are not supported in this repository.");
    const row = forge.state.pullRequests.update(pullId, { draft, updatedAt: forge.now() });
    await emitPullRequest(forge, row, draft ? "converted_to_draft" : "ready_for_review", by);
    return row;
  });
}
