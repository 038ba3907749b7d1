import type { PullRequestEvent, Pushed } from "../forge/events.ts";
import type { BranchAnswer, InspectedPullRequest } from "../forge/forge.ts";
import type { KnownBranch } from "../store/ops/reconciling.ts";

type Shown = Exclude<BranchAnswer, { readonly refusal: object }>;
type Around = Pick<Pushed, "installationId" | "repository" | "isFound">;

/**
 * What must have happened for a branch to look as the forge shows it, in events like those that never came: `at` is the forge's own time
 * where it tells one, else `askedAt` (ISO 8601).
 */
export function foundEvents(
  known: KnownBranch,
  shown: Shown,
  askedAt: string,
): (Pushed | PullRequestEvent)[] {
  const around: Around = {
    installationId: known.ref.installationId,
    repository: shown.repository,
    isFound: true,
  };
  const pushed = pushOf(known, shown, around, askedAt);
  const pulls = shown.pullRequests.toReversed().flatMap((pull) => eventsOf(known, pull, around));
  return [...pulls.filter(isOpening), ...pushed, ...pulls.filter((event) => !isOpening(event))];
}

const isOpening = ({ action }: PullRequestEvent): boolean => action === "opened";

function pushOf({ branchName, headSha }: KnownBranch, shown: Shown, around: Around, at: string): Pushed[] {
  if (shown.headSha === headSha) return [];
  const push = { before: headSha, after: shown.headSha, forced: false, commits: [], newest: shown.newest };
  return [{ type: "pushed", ...around, sender: null, at, branchName, ...push }];
}

function eventsOf(known: KnownBranch, pull: InspectedPullRequest, around: Around): PullRequestEvent[] {
  const before = known.pullRequests.find(({ number }) => number === pull.number);
  const event = (
    action: PullRequestEvent["action"],
    at: string | null,
    sender: PullRequestEvent["sender"] = null,
  ): PullRequestEvent => ({
    type: "pull_request",
    ...around,
    action,
    at: at ?? pull.updatedAt,
    sender,
    number: pull.number,
    nodeId: pull.nodeId,
    title: pull.title,
    author: pull.author,
    isDraft: pull.isDraft,
    headBranch: known.branchName,
    headSha: pull.headSha,
    headRepositoryId: around.repository.forgeId,
    targetBranch: pull.targetBranch,
    mergeSha: pull.mergeSha,
    mergedBy: pull.mergedBy,
    isDoubtful: false,
    reason: null,
  });
  const opened = before ? [] : [event("opened", pull.openedAt, pull.author)];
  const was = before?.state ?? (pull.isDraft ? "draft" : "open");
  // A merge is final, whatever the forge says later.
  if (was === "merged") return opened;
  if (pull.state === "merged") return [...opened, event("merged", pull.mergedAt, pull.mergedBy)];
  if (pull.state === "closed") return was === "closed" ? opened : [...opened, event("closed", pull.closedAt)];
  if (was === "closed") return [...opened, event("reopened", pull.updatedAt)];
  if (was === "draft" && !pull.isDraft) return [...opened, event("ready", pull.updatedAt)];
  if (was === "open" && pull.isDraft) return [...opened, event("converted_to_draft", pull.updatedAt)];
  const isElsewhere =
    before && (before.headSha !== pull.headSha || before.targetBranch !== pull.targetBranch);
  return isElsewhere ? [event("synchronized", pull.updatedAt)] : opened;
}
