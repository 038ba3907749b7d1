import type { Commit } from "../git/commits.ts";
import type { ForgeContext } from "../context.ts";
import type { ProtectionRow, RepositoryRow } from "../rows.ts";
import { presentAccountById } from "./account.ts";
import { presentCommit } from "./commit.ts";
import { encodePath } from "./comparison.ts";
import { presentApp } from "./installation.ts";
import { repositoryHtmlUrl, repositoryUrl } from "./repository.ts";

/** A branch in a list. */
export function presentShortBranch(
  forge: ForgeContext,
  repository: RepositoryRow,
  name: string,
  sha: string,
  protection: ProtectionRow | undefined,
) {
  return {
    name,
    commit: { sha, url: repositoryUrl(forge, repository, "commits", sha) },
    protected: protection !== undefined,
    protection: presentProtectionSummary(protection),
    protection_url: `${repositoryUrl(forge, repository, "branches", name)}/protection`,
  };
}

export function presentBranch(
  forge: ForgeContext,
  repository: RepositoryRow,
  name: string,
  commit: Commit,
  protection: ProtectionRow | undefined,
) {
  const self = repositoryUrl(forge, repository, "branches", name);
  return {
    name,
    commit: presentCommit(forge, repository, commit),
    _links: { self, html: repositoryHtmlUrl(forge, repository, "tree", encodePath(name)) },
    protected: protection !== undefined,
    protection: presentProtectionSummary(protection),
    protection_url: `${self}/protection`,
  };
}

function presentProtectionSummary(protection: ProtectionRow | undefined) {
  const checks = protection?.requiredStatusChecks?.checks ?? [];
  const level = protection?.requiredStatusChecks
    ? protection.enforceAdmins
      ? "everyone"
      : "non_admins"
    : "off";
  return {
    enabled: protection !== undefined,
    required_status_checks: {
      enforcement_level: level,
      contexts: checks.map((each) => each.context),
      checks: checks.map((each) => ({ context: each.context, app_id: each.appId })),
    },
  };
}

export function presentProtection(forge: ForgeContext, repository: RepositoryRow, protection: ProtectionRow) {
  const url = `${repositoryUrl(forge, repository, "branches", protection.branch)}/protection`;
  const { requiredStatusChecks: checks, requiredReviews: reviews } = protection;
  return {
    url,
    ...(checks === null
      ? {}
      : {
          required_status_checks: {
            url: `${url}/required_status_checks`,
            strict: checks.strict,
            contexts: checks.checks.map((each) => each.context),
            contexts_url: `${url}/required_status_checks/contexts`,
            checks: checks.checks.map((each) => ({ context: each.context, app_id: each.appId })),
          },
        }),
    ...(reviews === null
      ? {}
      : {
          required_pull_request_reviews: {
            url: `${url}/required_pull_request_reviews`,
            dismiss_stale_reviews: reviews.dismissStaleReviews,
            require_code_owner_reviews: false,
            required_approving_review_count: reviews.count,
            require_last_push_approval: reviews.requiresLastPushApproval ?? false,
          },
        }),
    ...(protection.restrictions === null
      ? {}
      : { restrictions: presentRestrictions(forge, protection.restrictions, `${url}/restrictions`) }),
    required_signatures: {
      url: `${url}/required_signatures`,
      enabled: protection.requiredSignatures === "classic",
    },
    enforce_admins: { url: `${url}/enforce_admins`, enabled: protection.enforceAdmins },
    required_linear_history: { enabled: protection.requiredLinearHistory },
    allow_force_pushes: { enabled: protection.allowForcePushes },
    allow_deletions: { enabled: protection.allowDeletions },
    block_creations: { enabled: false },
    required_conversation_resolution: { enabled: protection.requiresResolvedThreads ?? false },
    lock_branch: { enabled: false },
    allow_fork_syncing: { enabled: false },
  };
}

function presentRestrictions(
  forge: ForgeContext,
  { userIds, appSlugs }: NonNullable<ProtectionRow["restrictions"]>,
  url: string,
) {
  const apps = forge.state.apps.all().filter((each) => appSlugs.includes(each.slug));
  return {
    url,
    users_url: `${url}/users`,
    teams_url: `${url}/teams`,
    apps_url: `${url}/apps`,
    users: userIds.map((id) => presentAccountById(forge, id)),
    teams: [],
    apps: apps.map((each) => ({ ...presentApp(forge, each), description: "" })),
  };
}
