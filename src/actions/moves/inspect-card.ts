import { setTimeout as sleep } from "node:timers/promises";
import { brokenRefusal } from "../../flow/refusal.ts";
import { targetOf, ruleRequires } from "../../flow/flow.ts";
import { planMove, type MovePlan, type RepositoryState } from "../../flow/move.ts";
import type { BranchAnswer } from "../../forge/pull-requests.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import { listBranchStarts } from "../../store/events/timeline.ts";
import { findTip } from "../../store/forge/trunks.ts";
import { findIntent } from "../../store/ops/intents.ts";
import type { Deps } from "../deps.ts";
import type { Transition } from "./start-move.ts";
import { checkInspected, needsCommits } from "./check-gates.ts";
import { intentKey, type CardPullRequest } from "./record-effects.ts";

/** The state of a card's repositories, and the plan for entering a stage that follows from it. */
export interface Inspection {
  readonly links: readonly Link[];
  readonly repositories: readonly RepositoryState[];
  readonly plan: MovePlan;
}

/** How long to wait while GitHub computes whether a branch can be merged, in milliseconds. */
const MERGEABILITY_WAIT_MS = 15_000;
/** How long to wait until a pull request is shown as merged if its target has all its commits. */
const LANDING_WAIT_MS = 2_000;

/**
 * Inspects all repositories of a card on GitHub. Branches without a pull request into a later target
 * are compared with the start of the flow by a second call.
 */
export async function inspectCard(deps: Deps, transition: Transition): Promise<Inspection> {
  const { card, project, stage } = transition;
  const links = await listLinks(deps.db, card.id);
  const start = targetOf(project.flow, card.hotfix);
  const target = stage.rule.type === "merge" ? stage.rule.into : start;
  const answers = await inspectLinks(deps, links, target, needsCommits(transition));
  // Commits ahead of another target than the branch started from may not be the card's own.
  const unshown = target === start ? [] : links.filter((link) => lacksPullRequest(answers.get(link)));
  const fromStart = await inspectLinks(deps, unshown, start);
  const repositories = links.map((link) => {
    const answer = answers.get(link);
    return {
      repositoryId: link.repository.id,
      fullName: link.repository.fullName,
      branchName: link.branchName,
      facts: answer ? (answer.refusal ?? answer) : brokenRefusal(link.repository.broken ?? "not_granted"),
      isBehindWebhooks: isBehindWebhooks(link, answer),
      isBare: isBare(fromStart.get(link)),
    };
  });
  return planned(deps, transition, links, repositories);
}

async function planned(
  deps: Deps,
  transition: Transition,
  links: readonly Link[],
  repositories: readonly RepositoryState[],
): Promise<Inspection> {
  const { card, project, stage, headShas = null } = transition;
  const plan = planMove({ flow: project.flow, stage, card, repositories, headShas });
  const refused = await checkInspected(deps, transition, repositories);
  if (refused.length === 0) return { links, repositories, plan };
  return { links, repositories, plan: { ...plan, steps: [], reasons: [...refused, ...plan.reasons] } };
}

async function inspectLinks(
  deps: Deps,
  links: readonly Link[],
  targetBranch: string | null,
  includesCommits = false,
): Promise<Map<Link, BranchAnswer>> {
  const asked = links.flatMap((link) =>
    link.repository.ref ? [{ link, repository: link.repository.ref, branchName: link.branchName }] : [],
  );
  if (asked.length === 0) return new Map();
  const answers = await deps.forge.inspect(
    asked.map(({ repository, branchName }) => ({ repository, branchName, targetBranch })),
    { includesCommits },
  );
  return new Map(
    asked.flatMap(({ link }, at) => {
      const answer = answers[at];
      return answer ? [[link, answer] as const] : [];
    }),
  );
}

/** Whether webhooks have reported a newer pull request of the branch than GitHub shows. */
function isBehindWebhooks({ branchName, pullRequests }: Link, answer: BranchAnswer | undefined): boolean {
  if (answer === undefined || answer.refusal !== undefined) return false;
  const shownUpTo = Math.max(0, ...answer.pullRequests.map(({ number }) => number));
  return pullRequests.some(
    ({ number, headBranch, targetBranch, isFresh }) =>
      isFresh && number > shownUpTo && headBranch === branchName && targetBranch === answer.target.name,
  );
}

/** Whether a branch has commits and never had a pull request. */
const lacksPullRequest = (answer: BranchAnswer | undefined): boolean =>
  answer?.refusal === undefined && answer?.pullRequests.length === 0 && (answer.aheadBy ?? 0) > 0;

const isBare = (answer: BranchAnswer | undefined): boolean =>
  answer !== undefined && answer.refusal === undefined && answer.aheadBy === 0;

/**
 * Inspects a card repeatedly, at growing intervals, while GitHub computes mergeability or shows a
 * pull request as open whose commits are all in its target: a merge changes the branch before it
 * changes the pull request. After the wait the last inspection counts; the merge call decides.
 */
export async function inspectUntilDecided(deps: Deps, transition: Transition): Promise<Inspection> {
  const startedAt = performance.now();
  let inspection = await inspectCard(deps, transition);
  // A slow first answer may be as old as the whole wait, and the merge finished since.
  const inspectedAt = performance.now();
  for (let pause = 250; ; pause *= 2) {
    const { reasons, isUndecided, isLanding } = inspection.plan;
    const mergeabilityWait = isUndecided && reasons.length === 0 ? MERGEABILITY_WAIT_MS : 0;
    const until = isLanding ? inspectedAt + LANDING_WAIT_MS : startedAt + mergeabilityWait;
    if (performance.now() + pause > until) return inspection;
    await sleep(pause);
    inspection = await inspectCard(deps, transition);
  }
}

/**
 * For a card that was refused: what the stages before the refusing one require and the card lacks,
 * its branch, or a draft pull request for a branch with commits that never had one. Null if it
 * lacks nothing, or if those stages would refuse it too.
 */
export async function inspectEarlierStages(
  deps: Deps,
  transition: Transition,
  refused: Inspection,
): Promise<Inspection | null> {
  const lacking = new Set(
    refused.repositories.filter(lacksBranchOrDraft).map(({ repositoryId }) => repositoryId),
  );
  if (lacking.size === 0) return null;
  const rule = { type: "draft_pull_request", into: null } as const;
  const inspection = await inspectCard(deps, { ...transition, stage: { ...transition.stage, rule } });
  const steps = inspection.plan.steps.filter(({ repositoryId }) => lacking.has(repositoryId));
  if (inspection.plan.reasons.length > 0 || steps.length === 0) return null;
  return { ...inspection, plan: { ...inspection.plan, steps } };
}

const lacksBranchOrDraft = ({ branchName, facts }: RepositoryState): boolean =>
  !("reason" in facts) &&
  (branchName === null || (facts.pullRequests.length === 0 && (facts.aheadBy ?? 0) > 0));

/**
 * A cached inspection for a card without any branch: it needs only the trunk tips, which pushes
 * report. A stale tip is harmless, the branch then starts at an older commit. Null if GitHub has to
 * be asked.
 */
export async function inspectStoredTips(deps: Deps, transition: Transition): Promise<Inspection | null> {
  if (ruleRequires(transition.stage.rule, "pull_request")) return null;
  const links = await listLinks(deps.db, transition.card.id);
  if (links.some(({ branchName }) => branchName !== null)) return null;
  const repositories = await Promise.all(links.map((link) => withoutBranch(deps, transition, link)));
  const known = repositories.filter((state) => state !== null);
  return known.length < links.length ? null : planned(deps, transition, links, known);
}

/**
 * A cached inspection of what the card's stage requires and its branches lack: a branch that was
 * pushed to since it was created can get its pull request. Leaves out repositories that lack
 * nothing. Null if GitHub has to be asked.
 */
export async function inspectStoredState(deps: Deps, transition: Transition): Promise<Inspection | null> {
  const { card, project, stage } = transition;
  const links = await listLinks(deps.db, card.id);
  const createdAt = await listBranchStarts(deps.db, card.id);
  const repositories: RepositoryState[] = [];
  for (const link of links) {
    const { repository, branchName, headSha, pullRequests } = link;
    if (branchName === null) {
      const state = ruleRequires(stage.rule, "pull_request")
        ? null
        : await withoutBranch(deps, transition, link);
      if (state === null) return null;
      repositories.push(state);
      continue;
    }
    if (headSha === null || repository.ref === null) return null;
    const name = targetOf(project.flow, card.hotfix) ?? repository.defaultBranch;
    const isOpen = pullRequests.some(
      ({ state, targetBranch }) => targetBranch === name && (state === "draft" || state === "open"),
    );
    if (isOpen || stage.rule.type === "branch") continue;
    const firstSha = createdAt.get(`${repository.id}:${branchName}`);
    if (firstSha === undefined || pullRequests.length > 0) return null;
    if (headSha === firstSha) continue;
    const facts = { target: { name, sha: firstSha }, headSha, aheadBy: null, pullRequests: [] };
    repositories.push({ repositoryId: repository.id, fullName: repository.fullName, branchName, facts });
  }
  return planned(deps, transition, links, repositories);
}

/** Null if the trunk's tip is not known, or the repository cannot be reached. */
async function withoutBranch(
  deps: Deps,
  { card, project }: Transition,
  { repository }: Link,
): Promise<RepositoryState | null> {
  const { id: repositoryId, fullName, defaultBranch, ref } = repository;
  const name = targetOf(project.flow, card.hotfix) ?? defaultBranch;
  const sha = ref && (await findTip(deps.db, { repositoryId, branchName: name }));
  if (sha === null) return null;
  const facts = { target: { name, sha }, headSha: null, aheadBy: null, pullRequests: [] };
  return { repositoryId, fullName, branchName: null, facts };
}

/** An open pull request that we have queued and that is no longer in GitHub's merge queue. */
interface LeftQueue extends Omit<CardPullRequest, "branchName" | "nodeId"> {
  /** Why GitHub has removed it; null if no webhook has reported that, and it may be merged. */
  readonly reason: string | null;
}

export async function listOutOfQueue(deps: Deps, { repositories }: Inspection): Promise<LeftQueue[]> {
  const left: LeftQueue[] = [];
  for (const { repositoryId, fullName, facts } of repositories) {
    if ("reason" in facts) continue;
    for (const { number: prNumber, state, isInMergeQueue, targetBranch, headSha } of facts.pullRequests) {
      if (state !== "open" || isInMergeQueue) continue;
      const intent = await findIntent(deps.db, intentKey({ repositoryId, prNumber }, "merge"));
      if (!intent?.queued || intent.done) continue;
      left.push({ repositoryId, fullName, targetBranch, prNumber, headSha, reason: intent.removedFromQueue });
    }
  }
  return left;
}

/** Whether an inspection shows a pull request in GitHub's merge queue. */
export function isInQueue(
  { repositories }: Inspection,
  { repositoryId, prNumber }: { readonly repositoryId: string; readonly prNumber: number },
): boolean {
  const facts = repositories.find((repository) => repository.repositoryId === repositoryId)?.facts;
  if (!facts || "reason" in facts) return false;
  return facts.pullRequests.some(({ number, isInMergeQueue }) => number === prNumber && isInMergeQueue);
}
