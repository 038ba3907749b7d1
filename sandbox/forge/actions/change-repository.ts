import type { ForgeContext } from "../context.ts";
import { readRef } from "../git/refs.ts";
import { presentAccount } from "../present/account.ts";
import { fullNameOf, presentRepository } from "../present/repository.ts";
import type { AccountRow, RepositoryRow } from "../rows.ts";
import { installationOf } from "../server/access.ts";
import { invalidFields, unprocessable } from "../server/api-error.ts";
import { repositoryKey } from "../state.ts";
import { emit, emitInstallationRepositories } from "../webhooks/emit.ts";
import { createRepository, type RepositoryOptions } from "../world.ts";

type RepositoryChange = Partial<
  Pick<
    RepositoryRow,
    | "name"
    | "description"
    | "private"
    | "defaultBranch"
    | "archived"
    | "hasIssues"
    | "allowMergeCommit"
    | "allowSquashMerge"
    | "allowRebaseMerge"
    | "allowAutoMerge"
    | "allowUpdateBranch"
    | "deleteBranchOnMerge"
  >
>;

const NAME = /^[A-Za-z0-9_.-]{1,100}$/;

const nameError = (message: string) =>
  invalidFields({ resource: "Repository", field: "name", code: "custom", message });

function checkName(forge: ForgeContext, ownerId: number, name: string): void {
  if (!NAME.test(name) || name === "." || name === ".." || name.endsWith(".git"))
    throw nameError("name can only contain ASCII letters, digits, and the characters ., -, and _.");
  if (forge.state.repositories.inGroup(repositoryKey(ownerId, name)).length > 0)
    throw nameError("name already exists on this account");
}

/** Creates a repository as a user does on GitHub. Throws GitHub's refusals. */
export async function makeRepository(
  forge: ForgeContext,
  owner: AccountRow,
  by: AccountRow,
  name: string,
  options: RepositoryOptions,
): Promise<RepositoryRow> {
  checkName(forge, owner.id, name);
  const row = await createRepository(forge, owner, name, options);
  await emitRepository(forge, row, by, "created");
  const installation = installationOf(forge, row);
  if (installation !== undefined) emitInstallationRepositories(forge, installation, "added", by, [row]);
  return row;
}

/** Changes a repository's settings and emits the events for them. Throws GitHub's refusals. */
export async function changeRepository(
  forge: ForgeContext,
  repositoryId: number,
  by: AccountRow,
  change: RepositoryChange,
): Promise<RepositoryRow> {
  const before = forge.state.repositories.need(repositoryId);
  if (change.name !== undefined && change.name !== before.name) await rename(forge, before, by, change.name);
  if (change.defaultBranch !== undefined && change.defaultBranch !== before.defaultBranch)
    await changeDefaultBranch(forge, before, by, change.defaultBranch);
  const { name: _name, defaultBranch: _branch, ...settings } = change;
  const row = forge.state.repositories.update(repositoryId, { ...settings, updatedAt: forge.now() });
  if (row.archived !== before.archived)
    await emitRepository(forge, row, by, row.archived ? "archived" : "unarchived");
  if (row.private !== before.private)
    await emitRepository(forge, row, by, row.private ? "privatized" : "publicized");
  if (row.description !== before.description)
    await emitRepository(forge, row, by, "edited", {
      changes: { description: { from: before.description } },
    });
  return row;
}

async function rename(
  forge: ForgeContext,
  before: RepositoryRow,
  by: AccountRow,
  name: string,
): Promise<void> {
  const isSameKey = name.toLowerCase() === before.name.toLowerCase();
  if (!isSameKey) checkName(forge, before.ownerId, name);
  const former = fullNameOf(forge, before).toLowerCase();
  const taken = `${fullNameOf(forge, before).split("/")[0]}/${name}`.toLowerCase();
  const formerNames = [
    ...before.formerNames.filter((each) => each !== taken),
    ...(isSameKey ? [] : [former]),
  ];
  const row = forge.state.repositories.update(before.id, { name, formerNames, updatedAt: forge.now() });
  await emitRepository(forge, row, by, "renamed", {
    changes: { repository: { name: { from: before.name } } },
  });
}

/**
 * Transfers a repository to another account. The new owner's installation receives `transferred`,
 * the old owner's `removed`, unless `omitsEvent`: GitHub does not guarantee that event.
 */
export async function transferRepository(
  forge: ForgeContext,
  repositoryId: number,
  by: AccountRow,
  to: AccountRow,
  { omitsEvent = false } = {},
): Promise<RepositoryRow> {
  const before = forge.state.repositories.need(repositoryId);
  checkName(forge, to.id, before.name);
  const from = forge.state.accounts.need(before.ownerId);
  const installation = installationOf(forge, before);
  const formerNames = [...before.formerNames, fullNameOf(forge, before).toLowerCase()];
  const row = forge.state.repositories.update(before.id, {
    ownerId: to.id,
    formerNames,
    updatedAt: forge.now(),
  });
  if (installation !== undefined && !omitsEvent)
    emitInstallationRepositories(forge, installation, "removed", by, [row]);
  const key = from.type === "Organization" ? "organization" : "user";
  await emitRepository(forge, row, by, "transferred", {
    changes: { owner: { from: { [key]: presentAccount(forge, from) } } },
  });
  return row;
}

async function changeDefaultBranch(
  forge: ForgeContext,
  before: RepositoryRow,
  by: AccountRow,
  branch: string,
): Promise<void> {
  const repo = forge.git.repository(before.id);
  if ((await readRef(repo, `refs/heads/${branch}`)) === null)
    throw unprocessable(
      `The branch ${branch} was not found. Please push that ref first or create it via the Git Data API.`,
    );
  await repo.run(["symbolic-ref", "HEAD", `refs/heads/${branch}`]);
  const row = forge.state.repositories.update(before.id, { defaultBranch: branch });
  await emitRepository(forge, row, by, "edited", {
    changes: { default_branch: { from: before.defaultBranch } },
  });
}

function emitRepository(
  forge: ForgeContext,
  repository: RepositoryRow,
  sender: AccountRow,
  action: string,
  more: object = {},
): Promise<void> {
  return emit(forge, { event: "repository", action, repository, sender, payload: () => more });
}

function deleteContents({ state }: ForgeContext, { id }: RepositoryRow): void {
  for (const pull of state.pullRequests.inGroup(id)) {
    for (const table of [state.reviews, state.comments, state.mergeRequests])
      for (const row of table.inGroup(pull.id)) table.delete(row.id);
    state.pullRequests.delete(pull.id);
  }
  for (const table of [state.releases, state.protections])
    for (const row of table.inGroup(id)) table.delete(row.id);
  for (const table of [state.statuses, state.checkSuites, state.checkRuns])
    for (const row of table.all()) if (row.repositoryId === id) table.delete(row.id);
}

export async function deleteRepository(
  forge: ForgeContext,
  repository: RepositoryRow,
  by: AccountRow,
): Promise<void> {
  await forge.withLock(repository.id, async () => {
    const installation = installationOf(forge, repository);
    await emitRepository(forge, repository, by, "deleted", {
      repository: presentRepository(forge, repository),
    });
    deleteContents(forge, repository);
    forge.state.repositories.delete(repository.id);
    forge.git.remove(repository.id);
    if (installation === undefined) return;
    const repositoryIds = installation.repositoryIds.filter((id) => id !== repository.id);
    const row = forge.state.installations.update(installation.id, { repositoryIds });
    emitInstallationRepositories(forge, row, "removed", by, [repository]);
  });
}
