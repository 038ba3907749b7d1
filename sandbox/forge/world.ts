import { createAccount, createPersonToken } from "./app-identity.ts";
import type { ForgeContext } from "./context.ts";
import { readRef, updateRef } from "./git/refs.ts";
import { commitFiles } from "./git/write-files.ts";
import type { AccountRow, InstallationRow, RepositoryRow } from "./rows.ts";
import { repositoryKey } from "./state.ts";

/** The forge has no account, repository or pull request of this name. */
export class NotFound extends Error {
  override readonly name = "NotFound";
}

/** Creates data without the API and without webhooks, for tests and the first start. */
export interface World {
  createOrganization(login: string): AccountRow;
  /** Without `organizations`, a member of all. */
  createUser(login: string, options?: UserOptions): ForgeUser;
  createRepository(owner: string, name: string, options?: RepositoryOptions): Promise<RepositoryRow>;
  /** `repositories` are names without the owner. */
  installApp(account: string, repositories: readonly string[] | "all"): InstallationRow;
  /** Commits files to a branch and returns the hash. A new branch starts at `from`. */
  commit(
    fullName: string,
    branch: string,
    files: Readonly<Record<string, string | null>>,
    options?: CommitOptions,
  ): Promise<string>;
  repository(fullName: string): RepositoryRow;
}

interface UserOptions {
  readonly type?: "User" | "Bot";
  readonly name?: string;
  readonly organizations?: Readonly<Record<string, "admin" | "member">>;
}

export interface ForgeUser {
  readonly id: number;
  readonly login: string;
  readonly token: string;
}

export interface RepositoryOptions {
  readonly files?: Readonly<Record<string, string>> | null;
  /** Initial commits in place of one with `files`. */
  readonly commits?: readonly {
    readonly message: string;
    readonly files: Readonly<Record<string, string | null>>;
  }[];
  readonly private?: boolean;
  readonly defaultBranch?: string;
  readonly description?: string;
}

interface CommitOptions {
  readonly message?: string;
  readonly author?: string;
  readonly from?: string;
}

export function makeWorld(forge: ForgeContext): World {
  const { state } = forge;
  return {
    createOrganization: (login) => createAccount(state, { login, type: "Organization", now: forge.now() }),
    createUser: (login, options) => createUser(forge, login, options ?? {}),
    createRepository: (owner, name, options) =>
      createRepository(forge, accountByLogin(forge, owner), name, options ?? {}),
    installApp: (account, repositories) => installApp(forge, accountByLogin(forge, account), repositories),
    commit: (fullName, branch, files, options) =>
      commitToBranch(forge, fullName, branch, files, options ?? {}),
    repository: (fullName) => repositoryByName(forge, fullName),
  };
}

export function accountByLogin(forge: ForgeContext, login: string): AccountRow {
  const [account] = forge.state.accounts.inGroup(login.toLowerCase());
  if (account === undefined) throw new NotFound(`No account ${login}`);
  return account;
}

export function repositoryByName(forge: ForgeContext, fullName: string): RepositoryRow {
  const [owner = "", name = ""] = fullName.split("/");
  const [repository] = forge.state.repositories.inGroup(repositoryKey(accountByLogin(forge, owner).id, name));
  if (repository === undefined) throw new NotFound(`No repository ${fullName}`);
  return repository;
}

function createUser(forge: ForgeContext, login: string, options: UserOptions): ForgeUser {
  const { state } = forge;
  const account = createAccount(state, {
    login,
    type: options.type ?? "User",
    now: forge.now(),
    name: options.name ?? null,
  });
  const organizations = state.accounts.all().filter((each) => each.type === "Organization");
  const allAsMember = Object.fromEntries(organizations.map((each) => [each.login, "member" as const]));
  for (const [organization, role] of Object.entries(options.organizations ?? allAsMember)) {
    const row = accountByLogin(forge, organization);
    state.accounts.save({ ...row, members: { ...row.members, [account.id]: role } });
  }
  return { id: account.id, login, token: createPersonToken(state, account.id).token };
}

export function installApp(
  forge: ForgeContext,
  account: AccountRow,
  repositories: readonly string[] | "all",
): InstallationRow {
  const { state } = forge;
  const [app] = state.apps.all();
  if (app === undefined) throw new Error("The forge has no App");
  const names = repositories === "all" ? [] : repositories;
  return state.installations.save({
    id: state.newId(),
    appId: app.id,
    accountId: account.id,
    permissions: app.permissions,
    events: app.events,
    repositorySelection: repositories === "all" ? "all" : "selected",
    repositoryIds: names.map((name) => repositoryByName(forge, `${account.login}/${name}`).id),
    suspendedAt: null,
    suspendedById: null,
    createdAt: forge.now(),
    updatedAt: forge.now(),
  });
}

export async function createRepository(
  forge: ForgeContext,
  owner: AccountRow,
  name: string,
  options: RepositoryOptions,
): Promise<RepositoryRow> {
  const { state } = forge;
  if (state.repositories.inGroup(repositoryKey(owner.id, name)).length > 0)
    throw new Error(`Repository ${owner.login}/${name} already exists`);
  const now = forge.now();
  const row: RepositoryRow = {
    id: state.newId(),
    ownerId: owner.id,
    name,
    description: options.description ?? null,
    private: options.private ?? true,
    defaultBranch: options.defaultBranch ?? "main",
    archived: false,
    hasIssues: true,
    allowMergeCommit: true,
    allowSquashMerge: true,
    allowRebaseMerge: true,
    allowAutoMerge: false,
    allowUpdateBranch: false,
    allowDrafts: true,
    immutableReleases: false,
    usedTags: [],
    deleteBranchOnMerge: false,
    formerNames: [],
    nextNumber: 1,
    createdAt: now,
    updatedAt: now,
    pushedAt: now,
  };
  const repo = await forge.git.create(row.id, row.defaultBranch);
  const files = options.files === undefined ? { "README.md": `# ${name}\n` } : options.files;
  const commits = options.commits ?? (files === null ? [] : [{ message: "Initial commit", files }]);
  const by = signatureOf(owner, now);
  const initial = commits.map((commit) => ({ ...commit, parent: null, author: by, committer: by }));
  if (initial.length > 0) await commitFiles(repo, initial, row.defaultBranch);
  return state.repositories.save(row);
}

async function commitToBranch(
  forge: ForgeContext,
  fullName: string,
  branch: string,
  files: Readonly<Record<string, string | null>>,
  options: CommitOptions,
): Promise<string> {
  const row = repositoryByName(forge, fullName);
  const repo = forge.git.repository(row.id);
  const before = await readRef(repo, `refs/heads/${branch}`);
  const start = before ?? (await readRef(repo, `refs/heads/${options.from ?? row.defaultBranch}`));
  const author = signatureOf(accountByLogin(forge, options.author ?? "ada"), forge.now());
  const message = options.message ?? `Change ${Object.keys(files).join(", ")}`;
  const [sha = ""] = await commitFiles(repo, [{ parent: start, message, author, committer: author, files }]);
  const result = await updateRef(repo, `refs/heads/${branch}`, sha, before);
  if (result !== "done") throw new Error(`Branch ${branch} was changed at the same time`);
  return sha;
}

/** The author or committer of an account's commits. */
export const signatureOf = (account: AccountRow, date: string) => ({
  name: account.name ?? account.login,
  email: account.email,
  date,
});
