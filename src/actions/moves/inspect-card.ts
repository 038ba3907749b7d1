import { setTimeout as sleep } from "node:timers/promises";
import { connectionRefusal, isRefusal } from "../../flow/refusal.ts";
import { targetOf, ruleRequires } from "../../flow/flow.ts";
import { planMove, type MovePlan, type RepositoryState } from "../../flow/move.ts";
import type { BranchInspection, InspectOptions } from "../../forge/pull-requests.ts";
import type { Forge } from "../../forge/forge.ts";
import type { Db } from "../../store/db/connect.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import { listBranchStarts } from "../../store/events/timeline.ts";
import { findTip } from "../../store/forge/trunks.ts";
import { findIntent } from "../../store/ops/intents.ts";
import type { Transition } from "./start-move.ts";
import { checkInspectedGates, needsCommits } from "./check-gates.ts";
import { intentKey, type CardPullRequest } from "./record-effects.ts";

/** What an inspection needs. */
export interface InspectDeps {
  readonly db: Db;
  readonly forge: Pick<Forge, "inspect">;
}

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
/** The pause before the next inspection while GitHub's reads lag behind its webhooks. */
export const LAG_PAUSE_MS = 5_000;

/**
 * Inspects all repositories of a card on GitHub. A branch without a pull request may start from
 * another target than the stage merges into. Such branches are inspected once more, against the
 * target that they started from.
 */
export async function inspectCard(deps: InspectDeps, transition: Transition): Promise<Inspection> {
  const [inspection] = await inspectCards(deps, [transition]);
  if (!inspection) throw new Error("a card that was not inspected");
  return inspection;
}

/** Inspects several cards with as many calls as one. */
export async function inspectCards(
  deps: InspectDeps,
  transitions: readonly Transition[],
): Promise<Inspection[]> {
  const cards = await Promise.all(
    transitions.map(async (transition) => ({
      transition,
      links: await listLinks(deps.db, transition.card.id),
    })),
  );
  const found = await inspectLinks(
    deps,
    cards.flatMap(({ transition, links }) => links.map((link) => [link, targetIn(transition)] as const)),
    {
      includesCommits: transitions.some(needsCommits),
      includesRules: transitions.some(({ mayWait }) => mayWait === true),
    },
  );
  // If the branch started from another target, the commits that this target lacks may not be the
  // card's.
  const withoutPullRequest = cards.flatMap(({ transition, links }) => {
    const start = startTargetOf(transition);
    if (targetIn(transition) === start) return [];
    return links.filter((link) => lacksPullRequest(found.get(link))).map((link) => [link, start] as const);
  });
  const againstStart = await inspectLinks(deps, withoutPullRequest);
  return Promise.all(
    cards.map(({ transition, links }) => {
      const repositories = links.map((link) => stateOf(link, found.get(link), againstStart.get(link)));
      return planInspected(deps, transition, links, repositories);
    }),
  );
}

const startTargetOf = ({ project, card }: Transition): string | null => targetOf(project.flow, card.hotfix);

const targetIn = (transition: Transition): string | null => {
  const { rule } = transition.stage;
  return rule.type === "merge" ? rule.into : startTargetOf(transition);
};

const stateOf = (
  link: Link,
  found: BranchInspection | undefined,
  againstStart: BranchInspection | undefined,
): RepositoryState => ({
  repositoryId: link.repository.id,
  fullName: link.repository.fullName,
  branchName: link.branchName,
  facts: found ? (found.refusal ?? found) : connectionRefusal(link.repository.broken ?? "not_granted"),
  isForgeLagging: isForgeLagging(link, found),
  hasNoOwnCommits: hasNoOwnCommits(againstStart),
});

async function planInspected(
  deps: InspectDeps,
  transition: Transition,
  links: readonly Link[],
  repositories: readonly RepositoryState[],
): Promise<Inspection> {
  const { card, project, stage, headShas = null } = transition;
  const plan = planMove({ flow: project.flow, stage, card, repositories, headShas });
  const refused = await checkInspectedGates(deps, transition, repositories);
  if (refused.length === 0) return { links, repositories, plan };
  return { links, repositories, plan: { ...plan, steps: [], reasons: [...refused, ...plan.reasons] } };
}

async function inspectLinks(
  deps: InspectDeps,
  links: readonly (readonly [link: Link, targetBranch: string | null])[],
  options: Pick<InspectOptions, "includesCommits" | "includesRules"> = {},
): Promise<Map<Link, BranchInspection>> {
  const asked = links.flatMap(([link, targetBranch]) => {
    const { forgeRef: repository } = link.repository;
    return repository ? [{ link, question: { repository, branchName: link.branchName, targetBranch } }] : [];
  });
  if (asked.length === 0) return new Map();
  const found = await deps.forge.inspect(
    asked.map(({ question }) => question),
    options,
  );
  return new Map(
    asked.flatMap(({ link }, at) => {
      const inspection = found[at];
      return inspection ? [[link, inspection] as const] : [];
    }),
  );
}

/** Whether webhooks have reported a newer pull request of the branch than GitHub shows. */
function isForgeLagging({ branchName, pullRequests }: Link, found: BranchInspection | undefined): boolean {
  if (found === undefined || found.refusal !== undefined) return false;
  const shownUpTo = Math.max(0, ...found.pullRequests.map(({ number }) => number));
  return pullRequests.some(
    ({ number, headBranch, targetBranch, isFresh }) =>
      isFresh && number > shownUpTo && headBranch === branchName && targetBranch === found.target.name,
  );
}

/** Whether a branch has commits and never had a pull request. */
const lacksPullRequest = (found: BranchInspection | undefined): boolean =>
  found?.refusal === undefined && found?.pullRequests.length === 0 && (found.aheadBy ?? 0) > 0;

const hasNoOwnCommits = (found: BranchInspection | undefined): boolean =>
  found !== undefined && found.refusal === undefined && found.aheadBy === 0;

/**
 * Inspects a card at growing intervals until GitHub has computed mergeability, and has closed pull
 * requests whose commits are all in the target (a merge updates the branch before the pull
 * request). After the wait, returns the last inspection.
 */
export async function inspectUntilDecided(deps: InspectDeps, transition: Transition): Promise<Inspection> {
  const startedAt = performance.now();
  let inspection = await inspectCard(deps, transition);
  // If the first response took as long as the wait, the merge may have finished since, so this wait
  // starts after it.
  const inspectedAt = performance.now();
  for (let pause = 250; ; pause *= 2) {
    const { reasons, isUndecided, mayBeMerged } = inspection.plan;
    const mergeabilityWait = isUndecided && reasons.length === 0 ? MERGEABILITY_WAIT_MS : 0;
    const until = mayBeMerged ? inspectedAt + LANDING_WAIT_MS : startedAt + mergeabilityWait;
    if (performance.now() + pause > until) return inspection;
    await sleep(pause);
    inspection = await inspectCard(deps, transition);
  }
}

/**
 * For a card that was refused: returns the steps that the stages before the refusing one still
 * require. They create the branch, or open a draft pull request for a branch with commits that never
 * had one. Null if there are none, or if those stages would refuse the card too.
 */
export async function inspectEarlierStages(
  deps: InspectDeps,
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
  !isRefusal(facts) && (branchName === null || (facts.pullRequests.length === 0 && (facts.aheadBy ?? 0) > 0));

/**
 * A cached inspection for a card without any branch: it needs only the trunk tips, which pushes
 * report. A stale tip is harmless, the branch then starts at an older commit. Null if GitHub has to
 * be asked.
 */
export async function planFromStoredTips(
  deps: InspectDeps,
  transition: Transition,
): Promise<Inspection | null> {
  if (ruleRequires(transition.stage.rule, "pull_request")) return null;
  const links = await listLinks(deps.db, transition.card.id);
  if (links.some(({ branchName }) => branchName !== null)) return null;
  const repositories = await Promise.all(links.map((link) => withoutBranch(deps, transition, link)));
  const known = repositories.filter((state) => state !== null);
  return known.length < links.length ? null : planInspected(deps, transition, links, known);
}

/**
 * Plans the missing steps of the card's stage from stored state only: creating a branch, or opening
 * the pull request of a branch with pushes. Leaves out repositories without a missing step. Null if GitHub has to be asked.
 */
export async function planFromStoredState(
  deps: InspectDeps,
  transition: Transition,
): Promise<Inspection | null> {
  const { card, project, stage } = transition;
  const links = await listLinks(deps.db, card.id);
  const startShas = await listBranchStarts(deps.db, card.id);
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
    if (headSha === null || repository.forgeRef === null) return null;
    const name = targetOf(project.flow, card.hotfix) ?? repository.defaultBranch;
    const isOpen = pullRequests.some(
      ({ state, targetBranch }) => targetBranch === name && (state === "draft" || state === "open"),
    );
    if (isOpen || stage.rule.type === "branch") continue;
    const firstSha = startShas.get(`${repository.id}:${branchName}`);
    if (firstSha === undefined || pullRequests.length > 0) return null;
    if (headSha === firstSha) continue;
    // The target's tip is not known here. The branch started from `firstSha`, which is on the target.
    const facts = { target: { name, sha: firstSha }, headSha, aheadBy: null, pullRequests: [] };
    repositories.push({ repositoryId: repository.id, fullName: repository.fullName, branchName, facts });
  }
  return planInspected(deps, transition, links, repositories);
}

/** Null if the trunk's tip is not known, or the repository cannot be reached. */
async function withoutBranch(
  deps: InspectDeps,
  { card, project }: Transition,
  { repository }: Link,
): Promise<RepositoryState | null> {
  const { id: repositoryId, fullName, defaultBranch, forgeRef } = repository;
  const name = targetOf(project.flow, card.hotfix) ?? defaultBranch;
  const sha = forgeRef && (await findTip(deps.db, { repositoryId, branchName: name }));
  if (sha === null) return null;
  const facts = { target: { name, sha }, headSha: null, aheadBy: null, pullRequests: [] };
  return { repositoryId, fullName, branchName: null, facts };
}

/** An open pull request that we have queued and that is no longer in GitHub's merge queue. */
interface LeftQueue extends Omit<CardPullRequest, "branchName" | "nodeId"> {
  /** Why GitHub has removed it; null if no webhook has reported that, and it may be merged. */
  readonly reason: string | null;
}

export async function listOutOfQueue(deps: InspectDeps, { repositories }: Inspection): Promise<LeftQueue[]> {
  const left: LeftQueue[] = [];
  for (const { repositoryId, fullName, facts } of repositories) {
    if (isRefusal(facts)) continue;
    for (const { number: prNumber, state, isInMergeQueue, targetBranch, headSha } of facts.pullRequests) {
      if (state !== "open" || isInMergeQueue) continue;
      const intent = await findIntent(deps.db, intentKey({ repositoryId, prNumber }, "merge"));
      if (!intent?.wasQueued || intent.done) continue;
      left.push({
        repositoryId,
        fullName,
        targetBranch,
        prNumber,
        headSha,
        reason: intent.queueRemovalReason,
      });
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
  if (!facts || isRefusal(facts)) return false;
  return facts.pullRequests.some(({ number, isInMergeQueue }) => number === prNumber && isInMergeQueue);
}
