import { renameBranch } from "../actions/rename-branch.ts";
import { protectionOf } from "../actions/protection.ts";
import { needCommit } from "../git/commits.ts";
import { branchNameOf, listRefs, readRef } from "../git/refs.ts";
import { presentBranch, presentProtection, presentShortBranch } from "../present/branch.ts";
import { presentBranchRules } from "../present/ruleset.ts";
import type { ProtectionRow } from "../rows.ts";
import { ApiError, unprocessable } from "../server/api-error.ts";
import {
  optionalFields,
  optionalFieldsList,
  optionalFlag,
  optionalNumber,
  optionalTexts,
  requiredText,
  type Fields,
} from "../server/body-fields.ts";
import { paged } from "../server/paging.ts";
import { created, noContent, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";

const SIGNATURES = "/branches/{branch}/protection/required_signatures";

export const branchRoutes = [
  repositoryRoute("GET", "/rules/branches/{branch}", "metadata:read", readRules),
  repositoryRoute("GET", "/branches", "contents:read", list),
  repositoryRoute("GET", "/branches/{branch}/protection", "administration:read", readProtection),
  repositoryRoute("PUT", "/branches/{branch}/protection", "administration:write", protect, { isAdmin: true }),
  repositoryRoute("DELETE", "/branches/{branch}/protection", "administration:write", unprotect, {
    isAdmin: true,
  }),
  repositoryRoute("GET", SIGNATURES, "administration:read", readSignatures),
  repositoryRoute("POST", SIGNATURES, "administration:write", requireSignatures, { isAdmin: true }),
  repositoryRoute("DELETE", SIGNATURES, "administration:write", allowUnsigned, { isAdmin: true }),
  repositoryRoute("POST", "/branches/{branch}/rename", "administration:write", rename),
  repositoryRoute("GET", "/branches/{branch}", "contents:read", readOne),
];

const nameOf = ({ params }: RepositoryCall): string => params["branch"] ?? "";
const branchNotFound = () => new ApiError(404, "Branch not found");

async function list(call: RepositoryCall) {
  const { forge, repository, query } = call;
  const refs = await listRefs(forge.git.repository(repository.id), "refs/heads/");
  const branches = refs
    .map(({ name, sha }) => ({ name: branchNameOf(name), sha }))
    .map((each) => ({ ...each, protection: protectionOf(forge, repository, each.name) }));
  const isProtected = query.get("protected");
  const chosen = branches.filter(
    (each) => isProtected === null || String(each.protection !== undefined) === isProtected,
  );
  return paged(call, chosen, ({ name, sha, protection }) =>
    presentShortBranch(forge, repository, name, sha, protection),
  );
}

async function readOne(call: RepositoryCall) {
  const { forge, repository } = call;
  const name = nameOf(call);
  const repo = forge.git.repository(repository.id);
  const sha = await readRef(repo, `refs/heads/${name}`);
  if (sha === null) throw branchNotFound();
  const commit = await needCommit(repo, sha);
  return ok(presentBranch(forge, repository, name, commit, protectionOf(forge, repository, name)));
}

async function rename(call: RepositoryCall) {
  const { forge, repository, fields, actor } = call;
  const name = requiredText(fields, "new_name");
  const sha = await renameBranch(forge, repository.id, actor, nameOf(call), name);
  const commit = await needCommit(forge.git.repository(repository.id), sha);
  return created(presentBranch(forge, repository, name, commit, protectionOf(forge, repository, name)));
}

function readRules(call: RepositoryCall) {
  const { forge, repository } = call;
  return ok(presentBranchRules(forge, repository, nameOf(call)));
}

function needProtection(call: RepositoryCall): ProtectionRow {
  const protection = protectionOf(call.forge, call.repository, nameOf(call));
  if (protection === undefined) throw new ApiError(404, "Branch not protected");
  return protection;
}

function readProtection(call: RepositoryCall) {
  return ok(presentProtection(call.forge, call.repository, needProtection(call)));
}

function readSignatures(call: RepositoryCall) {
  return ok(presentProtection(call.forge, call.repository, needProtection(call)).required_signatures);
}

function requireSignatures(call: RepositoryCall) {
  call.forge.state.protections.update(needProtection(call).id, { requiredSignatures: "classic" });
  return readSignatures(call);
}

function allowUnsigned(call: RepositoryCall) {
  call.forge.state.protections.update(needProtection(call).id, { requiredSignatures: null });
  return noContent;
}

const REQUIRED = [
  "required_status_checks",
  "enforce_admins",
  "required_pull_request_reviews",
  "restrictions",
];

async function protect(call: RepositoryCall) {
  const { forge, repository, fields } = call;
  const branch = nameOf(call);
  if ((await readRef(forge.git.repository(repository.id), `refs/heads/${branch}`)) === null)
    throw branchNotFound();
  for (const name of REQUIRED)
    if (!(name in fields)) throw unprocessable(`Invalid request.\n\n"${name}" wasn't supplied.`);
  const known = protectionOf(forge, repository, branch);
  const row = forge.state.protections.save({
    id: known?.id ?? forge.state.newId(),
    repositoryId: repository.id,
    branch,
    requiredStatusChecks: statusChecksOf(optionalFields(fields, "required_status_checks")),
    requiredReviews: reviewsOf(optionalFields(fields, "required_pull_request_reviews")),
    restrictions: restrictionsOf(call, optionalFields(fields, "restrictions")),
    enforceAdmins: optionalFlag(fields, "enforce_admins") ?? false,
    requiredLinearHistory: optionalFlag(fields, "required_linear_history") ?? false,
    allowForcePushes: optionalFlag(fields, "allow_force_pushes") ?? false,
    allowDeletions: optionalFlag(fields, "allow_deletions") ?? false,
    requiresResolvedThreads: optionalFlag(fields, "required_conversation_resolution") ?? false,
    appBypass: known?.appBypass ?? false,
    requiredSignatures: known?.requiredSignatures ?? null,
    mergeQueue: known?.mergeQueue ?? false,
  });
  return ok(presentProtection(forge, repository, row));
}

function statusChecksOf(given: Fields | undefined): ProtectionRow["requiredStatusChecks"] {
  if (given === undefined) return null;
  const checks = optionalFieldsList(given, "checks");
  const contexts = optionalTexts(given, "contexts") ?? [];
  return {
    strict: optionalFlag(given, "strict") ?? false,
    checks:
      checks === undefined || checks.length === 0
        ? contexts.map((context) => ({ context, appId: null }))
        : checks.map((check) => ({ context: String(check["context"]), appId: appIdOf(check) })),
  };
}

/** Null means any App, which GitHub also writes as -1. */
function appIdOf(check: Fields): number | null {
  const id = optionalNumber(check, "app_id");
  return id === undefined || id < 0 ? null : id;
}

function reviewsOf(given: Fields | undefined): ProtectionRow["requiredReviews"] {
  if (given === undefined) return null;
  return {
    count: optionalNumber(given, "required_approving_review_count") ?? 1,
    dismissStaleReviews: optionalFlag(given, "dismiss_stale_reviews") ?? false,
    requiresLastPushApproval: optionalFlag(given, "require_last_push_approval") ?? false,
  };
}

function restrictionsOf({ forge }: RepositoryCall, given: Fields | undefined): ProtectionRow["restrictions"] {
  if (given === undefined) return null;
  const users = optionalTexts(given, "users") ?? [];
  const accounts = users.flatMap((login) => forge.state.accounts.inGroup(login.toLowerCase()));
  return { userIds: accounts.map((each) => each.id), appSlugs: optionalTexts(given, "apps") ?? [] };
}

function unprotect(call: RepositoryCall) {
  call.forge.state.protections.delete(needProtection(call).id);
  return noContent;
}
