import {
  acceptPermissions,
  install,
  setGranted,
  setSuspended,
  uninstall,
} from "./actions/change-installation.ts";
import { hideComment } from "./actions/comments.ts";
import { dequeuePullRequest, mergeQueued, type DequeueReason } from "./actions/merge-queue.ts";
import { runWorkflow, type NewWorkflowRun } from "./actions/run-workflow.ts";
import { revokeGrant } from "./oauth/grants.ts";
import { protectionOf } from "./actions/protection.ts";
import type { ForgeContext } from "./context.ts";
import type {
  AccountRow,
  CheckSuiteRow,
  InstallationRow,
  Permissions,
  ProtectionRow,
  PullRequestRow,
  RulesetRow,
} from "./rows.ts";
import { setThreadResolved, startReviewThread } from "./actions/reviews.ts";
import { rulesetsOf } from "./queries/rulesets.ts";
import { accountByLogin, NotFound, repositoryByName } from "./world.ts";

/** Actions of GitHub's web interface, with the events they emit. `by` is a login. */
export interface WebUi {
  /** `repositories` are names without the owner. */
  installApp(account: string, repositories: readonly string[] | "all", by?: string): InstallationRow;
  uninstallApp(account: string, by?: string): void;
  setSuspended(account: string, suspended: boolean, by?: string): InstallationRow;
  acceptPermissions(account: string, permissions: Permissions, by?: string): InstallationRow;
  /** Adds repositories, as full names, to the installation or removes them. */
  setGranted(
    account: string,
    repositories: readonly string[],
    granted: boolean,
    by?: string,
  ): InstallationRow;
  /** A person withdraws what they allowed the App at their sign-in. */
  revokeAuthorization(login: string): void;
  /** Whether the plan of the account has draft pull requests. */
  setDrafts(fullName: string, allowed: boolean): void;
  /** Whether releases that are published from now on are immutable. */
  setImmutableReleases(fullName: string, immutableReleases: boolean): void;
  /** Rules of a ruleset; omitted ones are unchanged. */
  setRules(fullName: string, branch: string, rules: BranchRules): void;
  /** Adds a ruleset with a merge queue. */
  setMergeQueue(fullName: string, branch: string, isOn: boolean): void;
  requireSignatures(fullName: string, branch: string): void;
  /** Creates the ruleset of this name, or replaces it; null deletes it. */
  setRuleset(fullName: string, branch: string, name: string, ruleset: Partial<Ruleset> | null): void;
  /** Whether the App may ignore the classic protection of a branch. */
  setProtectionBypass(fullName: string, branch: string, appBypass: boolean): void;
  /** Starts a conversation about a file of a pull request; returns its id. */
  startReviewThread(fullName: string, number: number, path: string, by?: string): number;
  setThreadResolved(threadId: number, isResolved: boolean, by?: string): Promise<void>;
  /**
   * Runs a workflow for a commit: a suite with its jobs as check runs, by name, each with its
   * conclusion or null while it runs. Without jobs, the suite has only the conclusion.
   */
  runWorkflow(fullName: string, run: NewWorkflowRun): Promise<CheckSuiteRow>;
  /** Hides a comment on a pull request. */
  hideComment(commentId: number, by?: string): Promise<void>;
  /** Merges a queued pull request, or removes it from the queue if it cannot be merged. */
  mergeQueued(fullName: string, number: number): Promise<PullRequestRow>;
  dequeue(fullName: string, number: number, reason: DequeueReason, by?: string): Promise<PullRequestRow>;
}

export type Ruleset = Pick<RulesetRow, "requiredChecks" | "requiredReviews" | "appBypass">;

export interface BranchRules {
  readonly mergeQueue?: boolean;
  readonly requiredSignatures?: boolean;
}

export function makeWebUi(forge: ForgeContext): WebUi {
  const actor = (login = "ada"): AccountRow => accountByLogin(forge, login);
  const installationOn = (account: string): InstallationRow => {
    const [installation] = forge.state.installations.inGroup(accountByLogin(forge, account).id);
    if (installation === undefined) throw new Error(`The App is not installed on ${account}`);
    return installation;
  };
  return {
    installApp: (account, repositories, by) =>
      install(forge, accountByLogin(forge, account), repositories, actor(by)),
    uninstallApp: (account, by) => uninstall(forge, installationOn(account), actor(by)),
    setSuspended: (account, suspended, by) =>
      setSuspended(forge, installationOn(account), actor(by), suspended),
    acceptPermissions: (account, permissions, by) =>
      acceptPermissions(forge, installationOn(account), actor(by), permissions),
    setGranted(account, fullNames, granted, by) {
      const repositories = fullNames.map((fullName) => repositoryByName(forge, fullName));
      return setGranted(forge, installationOn(account), actor(by), repositories, granted);
    },
    revokeAuthorization: (login) => revokeGrant(forge, actor(login)),
    setDrafts(fullName, allowDrafts) {
      forge.state.repositories.update(repositoryByName(forge, fullName).id, { allowDrafts });
    },
    setImmutableReleases(fullName, immutableReleases) {
      forge.state.repositories.update(repositoryByName(forge, fullName).id, { immutableReleases });
    },
    setRules: (fullName, branch, rules) => changeRules(forge, fullName, branch, rules),
    setMergeQueue: (fullName, branch, mergeQueue) => changeRules(forge, fullName, branch, { mergeQueue }),
    requireSignatures: (fullName, branch) =>
      changeRules(forge, fullName, branch, { requiredSignatures: true }),
    setRuleset: (fullName, branch, name, ruleset) => setRuleset(forge, fullName, { branch, name }, ruleset),
    setProtectionBypass: (fullName, branch, appBypass) => changeRules(forge, fullName, branch, { appBypass }),
    startReviewThread: (fullName, number, path, by) =>
      startReviewThread(forge, pullOf(forge, fullName, number), path, actor(by)).id,
    setThreadResolved: (id, isResolved, by) => setThreadResolved(forge, id, isResolved, actor(by)),
    runWorkflow: (fullName, run) => runWorkflow(forge, repositoryByName(forge, fullName), run, actor()),
    hideComment: (commentId, by) => hideComment(forge, forge.state.comments.need(commentId), actor(by)),
    mergeQueued: (fullName, number) => mergeQueued(forge, pullOf(forge, fullName, number).id),
    dequeue: (fullName, number, reason, by) =>
      dequeuePullRequest(forge, pullOf(forge, fullName, number).id, actor(by), reason),
  };
}

function changeRules(
  forge: ForgeContext,
  fullName: string,
  branch: string,
  { mergeQueue, requiredSignatures, appBypass }: BranchRules & { readonly appBypass?: boolean },
): void {
  const rules = {
    ...(appBypass !== undefined && { appBypass }),
    ...(mergeQueue !== undefined && { mergeQueue }),
    ...(requiredSignatures !== undefined && { requiredSignatures: requiredSignatures ? RULESET : null }),
  };
  const repository = repositoryByName(forge, fullName);
  const known = protectionOf(forge, repository, branch);
  if (known === undefined) {
    const ids = { id: forge.state.newId(), repositoryId: repository.id };
    forge.state.protections.save({ ...NO_PROTECTION, ...ids, branch, ...rules });
  } else forge.state.protections.update(known.id, rules);
}

function setRuleset(
  forge: ForgeContext,
  fullName: string,
  { branch, name }: Pick<RulesetRow, "branch" | "name">,
  ruleset: Partial<Ruleset> | null,
): void {
  const { id: repositoryId } = repositoryByName(forge, fullName);
  const known = rulesetsOf(forge, repositoryId, branch).find((each) => each.name === name);
  if (ruleset === null) {
    if (known) forge.state.rulesets.delete(known.id);
    return;
  }
  forge.state.rulesets.save({
    requiredChecks: [],
    requiredReviews: null,
    appBypass: "never",
    ...ruleset,
    id: known?.id ?? forge.state.newId(),
    repositoryId,
    branch,
    name,
  });
}

const RULESET = "ruleset" as const;
const NO_PROTECTION: Omit<ProtectionRow, "id" | "repositoryId" | "branch"> = {
  requiredStatusChecks: null,
  requiredReviews: null,
  restrictions: null,
  enforceAdmins: false,
  requiredLinearHistory: false,
  allowForcePushes: true,
  allowDeletions: true,
  requiredSignatures: null,
  mergeQueue: false,
};

function pullOf(forge: ForgeContext, fullName: string, number: number): PullRequestRow {
  const { id } = repositoryByName(forge, fullName);
  const pull = forge.state.pullRequests.inGroup(id).find((each) => each.number === number);
  if (pull === undefined) throw new NotFound(`No pull request ${number} in ${fullName}`);
  return pull;
}
