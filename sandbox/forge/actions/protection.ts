import type { ReportedOutcome } from "../queries/commit-outcomes.ts";
import { readCommit } from "../git/commits.ts";
import { commitsBetween, isAncestor } from "../git/history.ts";
import type { ForgeContext } from "../context.ts";
import type { AccountRow, ProtectionRow, PullRequestRow, RepositoryRow } from "../rows.ts";
import { roleOfPerson } from "../server/access.ts";

/** The protection of a branch by its exact name; patterns are not supported. */
export const protectionOf = (
  forge: ForgeContext,
  repository: RepositoryRow,
  branch: string,
): ProtectionRow | undefined =>
  forge.state.protections.inGroup(repository.id).find((each) => each.branch === branch);

export function mayPush(
  forge: ForgeContext,
  repository: RepositoryRow,
  branch: string,
  by: AccountRow,
): boolean {
  const protection = protectionOf(forge, repository, branch);
  if (protection === undefined || protection.restrictions === null) return true;
  const { userIds, appSlugs } = protection.restrictions;
  if (by.type === "Bot" && appSlugs.includes(by.login.replace(/\[bot\]$/, ""))) return true;
  if (userIds.includes(by.id)) return true;
  return !protection.enforceAdmins && roleOfPerson(forge, by, repository) === "admin";
}

/** Whether a branch may be deleted or force-pushed. */
export function mayRewrite(
  forge: ForgeContext,
  repository: RepositoryRow,
  branch: string,
  how: "delete" | "force",
): boolean {
  const protection = protectionOf(forge, repository, branch);
  if (protection === undefined) return true;
  return how === "delete" ? protection.allowDeletions : protection.allowForcePushes;
}

/** GitHub's message if the branch requires signatures that the new commits lack; else null. */
export async function missingSignature(
  forge: ForgeContext,
  repository: RepositoryRow,
  branch: string,
  before: string | null,
  after: string,
): Promise<string | null> {
  const required = protectionOf(forge, repository, branch)?.requiredSignatures ?? null;
  if (required === null) return null;
  const repo = forge.git.repository(repository.id);
  const commits =
    before === null ? [await readCommit(repo, after)] : await commitsBetween(repo, before, after);
  if (commits.every((commit) => commit === null || commit.signature !== null)) return null;
  const message = "Commits must have verified signatures.";
  return required === "ruleset" ? violationOf(message) : message;
}

/** GitHub's message about a rule of a ruleset. */
export const violationOf = (rule: string): string => `Repository rule violations found\n\n${rule}\n\n`;

interface ReviewVerdict {
  readonly approvals: number;
  readonly approverIds: readonly number[];
  readonly changesRequested: boolean;
}

/** Counts the last review of each user but the author, without comments and pending reviews. */
export function reviewVerdict(forge: ForgeContext, pull: PullRequestRow): ReviewVerdict {
  const last = new Map<number, string>();
  for (const review of forge.state.reviews.inGroup(pull.id))
    if (review.state !== "COMMENTED" && review.state !== "PENDING") last.set(review.userId, review.state);
  last.delete(pull.userId);
  const approverIds = [...last].flatMap(([userId, state]) => (state === "APPROVED" ? userId : []));
  const changesRequested = [...last.values()].includes("CHANGES_REQUESTED");
  return { approvals: approverIds.length, approverIds, changesRequested };
}

/** GitHub's message about required checks that have not passed; null if all have. */
export function unmetCheckRule(
  required: readonly { readonly context: string; readonly appId: number | null }[],
  outcomes: readonly ReportedOutcome[],
): string | null {
  const states = required.map(({ context, appId }) => {
    const found = outcomes.filter(
      (each) => each.name === context && (appId === null || each.appId === appId),
    );
    if (found.length === 0) return { context, state: "expected" as const };
    if (found.some((each) => each.outcome === "failing")) return { context, state: "failing" as const };
    return {
      context,
      state: found.some((each) => each.outcome === "pending") ? ("pending" as const) : ("fine" as const),
    };
  });
  const broken = states.filter((each) => each.state !== "fine");
  const [only] = broken;
  if (only === undefined) return null;
  if (broken.length === 1) {
    const texts = { expected: "is expected", failing: "is failing", pending: "is in progress" };
    return `Required status check "${only.context}" ${texts[only.state as keyof typeof texts]}.`;
  }
  const count = (state: string) => broken.filter((each) => each.state === state).length;
  const parts = (["expected", "failing", "pending"] as const).filter((state) => count(state) > 0);
  const text = parts.map((state) => `${count(state)} ${state}`).join(" and ");
  if (broken.length === required.length && parts.length === 1)
    return `${required.length} of ${required.length} required status checks are ${parts[0]}.`;
  return `${broken.length} of ${required.length} required status checks have not succeeded: ${text}.`;
}

/** Whether the base requires up-to-date heads and this head lacks commits of it. */
export async function isBehind(
  forge: ForgeContext,
  repository: RepositoryRow,
  pull: PullRequestRow,
  baseTip: string,
): Promise<boolean> {
  const protection = protectionOf(forge, repository, pull.baseRef);
  if (protection?.requiredStatusChecks?.strict !== true) return false;
  return !(await isAncestor(forge.git.repository(repository.id), baseTip, pull.headSha));
}
