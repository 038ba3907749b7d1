import { setTimeout as sleep } from "node:timers/promises";
import { connectionRefusal, isRefusal } from "../../flow/refusal.ts";
import { targetOf, ruleRequires } from "../../flow/flow.ts";
import { decide, type Decision, type DecisionQuestion } from "../../flow/decide.ts";
import { currentPullRequest, type MoveStep, type RepositoryState } from "../../flow/move.ts";
import type { BranchInspection, InspectOptions } from "../../forge/pull-requests.ts";
import type { Forge } from "../../forge/forge.ts";
import type { Db } from "../../store/db/connect.ts";
import { listLinks, type Link } from "../../store/cards/links.ts";
import { listBranchStarts } from "../../store/events/timeline.ts";
import { readHeads } from "../../store/forge/heads.ts";
import { findTip } from "../../store/forge/trunks.ts";
import { findIntent } from "../../store/ops/intents.ts";
import { inspectBranches } from "../inspect-branches.ts";
import type { ShareReads } from "../live-reads.ts";
import type { Transition } from "./start-move.ts";
import { checkCommitGates, needsCommits } from "./check-gates.ts";
import { intentKey, type CardPullRequest } from "./record-effects.ts";

/** What an inspection needs. */
export interface InspectDeps {
  readonly db: Db;
  readonly forge: Pick<Forge, "inspect">;
  /** Shares what GitHub says with other reads of the card. Absent for moves, which need what it says now. */
  readonly share?: ShareReads;
}

/** The facts about a card's repositories, and the decision about its stage that follows from them. */
export interface Inspection {
  readonly links: readonly Link[];
  readonly question: DecisionQuestion;
  readonly decision: Decision;
}

/** How long to wait while GitHub computes whether a branch can be merged, in milliseconds. */
const MERGEABILITY_WAIT_MS = 15_000;
/** How long to wait until a pull request is shown as merged if its target has all its commits. */
const LANDING_WAIT_MS = 2_000;
/** The pause before the next inspection while GitHub's reads lag behind its webhooks. */
export const LAG_PAUSE_MS = 5_000;

/**
 * Inspects all repositories of a card on GitHub. If branches start from another target than the stage
 * merges into, they are compared with both.
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
  const comparisons = cards.flatMap(({ transition, links }) =>
    links.flatMap((link) => comparisonsOf(link, transition.card.id, targetsOf(transition))),
  );
  const found = await inspectComparisons(deps, comparisons, {
    includesCommits: transitions.some((each) => needsCommits(each) || needsAuthors(each)),
    includesRules: transitions.some(isMerging),
  });
  return Promise.all(
    cards.map(({ transition, links }) => {
      const repositories = links.map((link) => stateOf(link, transition, found));
      return decideInspected(deps, transition, links, repositories);
    }),
  );
}

/**
 * Inspects a card for a preview: asks the same for each stage of the flow, so that the previews of all
 * stages share one answer.
 */
export async function inspectForPreview(deps: InspectDeps, transition: Transition): Promise<Inspection> {
  const { project, mover } = transition;
  const links = await listLinks(deps.db, transition.card.id);
  const stages = project.flow.stages.map((stage): Transition => ({ ...transition, stage }));
  const targets = distinct(stages.flatMap(targetsOf));
  const comparisons = links.flatMap((link) => comparisonsOf(link, transition.card.id, targets));
  const found = await inspectComparisons(deps, comparisons, {
    includesCommits: stages.some((each) => (mover !== undefined && needsCommits(each)) || needsAuthors(each)),
    includesRules: stages.some(isMerging),
  });
  const repositories = links.map((link) => stateOf(link, transition, found));
  return decideInspected(deps, transition, links, repositories);
}

/** What a target requires has to be known to every merge. */
const isMerging = ({ stage }: Transition): boolean => stage.rule.type === "merge";

/** Whether approvals count only if their authors wrote no commits. */
const needsAuthors = (transition: Transition): boolean =>
  isMerging(transition) && transition.project.flow.verification.independentApproval;

/** A card's branch in one repository, compared with one of its targets. */
interface Comparison {
  readonly cardId: string;
  readonly link: Link;
  /** Null for the repository's default branch. */
  readonly targetBranch: string | null;
}

const startTargetOf = ({ project, card }: Transition): string | null => targetOf(project.flow, card.hotfix);

const targetIn = (transition: Transition): string | null => {
  const { rule } = transition.stage;
  return rule.type === "merge" ? rule.into : startTargetOf(transition);
};

/** The target of the stage, and the one that branches start from if that is another one. */
const targetsOf = (transition: Transition): (string | null)[] =>
  distinct([targetIn(transition), startTargetOf(transition)]);

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

const comparisonsOf = (link: Link, cardId: string, targets: readonly (string | null)[]): Comparison[] =>
  targets.map((targetBranch) => ({ cardId, link, targetBranch }));

function stateOf(link: Link, transition: Transition, found: Inspected): RepositoryState {
  const [ofStage, ofStart] = targetsOf(transition).map((target) => found.get(link)?.get(target));
  return {
    repositoryId: link.repository.id,
    fullName: link.repository.fullName,
    branchName: link.branchName,
    ...shownIn(link, ofStage),
    ...(ofStart && { start: shownIn(link, ofStart) }),
  };
}

const shownIn = (
  link: Link,
  found: BranchInspection | undefined,
): Pick<RepositoryState, "facts" | "isForgeLagging"> => ({
  facts: found ? (found.refusal ?? found) : connectionRefusal(link.repository.broken ?? "not_granted"),
  isForgeLagging: isForgeLagging(link, found),
});

async function decideInspected(
  deps: InspectDeps,
  transition: Transition,
  links: readonly Link[],
  inspected: readonly RepositoryState[],
): Promise<Inspection> {
  const repositories = isMerging(transition)
    ? await withHeads(deps.db, transition.card.id, inspected)
    : inspected;
  const { card, project, stage, headShas = null, entryReasons = [] } = transition;
  const ofCommits = await checkCommitGates(deps, transition, repositories);
  const question: DecisionQuestion = {
    flow: project.flow,
    stage,
    card,
    repositories,
    headShas,
    gateReasons: [...entryReasons, ...ofCommits],
    waiting: transition.waiting ?? null,
  };
  return { links, question, decision: decide(question) };
}

/** Adds what is recorded about the heads of the branches. */
async function withHeads(
  db: Db,
  cardId: string,
  repositories: readonly RepositoryState[],
): Promise<RepositoryState[]> {
  const heads = repositories.flatMap(({ repositoryId, branchName, facts }) => {
    if (isRefusal(facts) || branchName === null || facts.headSha === null) return [];
    const pull = currentPullRequest(facts);
    const prNumber = pull?.state === "open" ? pull.number : null;
    return [{ repositoryId, branchName, sha: facts.headSha, prNumber, targetBranch: facts.target.name }];
  });
  const found = await readHeads(db, cardId, heads);
  return repositories.map((state) => ({ ...state, head: found.get(state.repositoryId) }));
}

/** What GitHub shows, by link and target. */
type Inspected = ReadonlyMap<Link, ReadonlyMap<string | null, BranchInspection>>;

async function inspectComparisons(
  deps: InspectDeps,
  comparisons: readonly Comparison[],
  options: Pick<InspectOptions, "includesCommits" | "includesRules">,
): Promise<Inspected> {
  const asked = comparisons.flatMap(({ cardId, link, targetBranch }) => {
    const { forgeRef: repository } = link.repository;
    const question = repository && { repository, branchName: link.branchName, targetBranch };
    return question ? [{ cardId, repositoryId: link.repository.id, link, question }] : [];
  });
  const inspected = new Map<Link, Map<string | null, BranchInspection>>();
  if (asked.length === 0) return inspected;
  const ask = (): Promise<BranchInspection[]> => inspectBranches(deps, asked, options);
  const questions = asked.map(({ question }) => question);
  const found = await (deps.share ? deps.share("inspect", [questions, options], ask) : ask());
  for (const [at, { link, question }] of asked.entries()) {
    const byTarget = inspected.get(link) ?? new Map<string | null, BranchInspection>();
    inspected.set(link, byTarget.set(question.targetBranch, found[at]!));
  }
  return inspected;
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
    const { decision } = inspection;
    const missing = decision.state === "read_again" ? decision.missing : [];
    const mergeabilityWait = missing.includes("mergeability") ? MERGEABILITY_WAIT_MS : 0;
    const until = missing.includes("merge") ? inspectedAt + LANDING_WAIT_MS : startedAt + mergeabilityWait;
    if (performance.now() + pause > until) return inspection;
    await sleep(pause);
    inspection = await inspectCard(deps, transition);
  }
}

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
  return known.length < links.length ? null : decideInspected(deps, transition, links, known);
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
  return decideInspected(deps, transition, links, repositories);
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

export async function listOutOfQueue(deps: InspectDeps, { question }: Inspection): Promise<LeftQueue[]> {
  const left: LeftQueue[] = [];
  for (const { repositoryId, fullName, facts } of question.repositories) {
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

/** The link of the repository that a step changes. */
export function linkOf({ links }: Inspection, step: MoveStep): Link {
  const link = links.find(({ repository }) => repository.id === step.repositoryId);
  if (!link) throw new Error("a step in a repository the card is not linked to");
  return link;
}

/** Whether an inspection shows a pull request in GitHub's merge queue. */
export function isInQueue(
  { question }: Inspection,
  { repositoryId, prNumber }: { readonly repositoryId: string; readonly prNumber: number },
): boolean {
  const facts = question.repositories.find((repository) => repository.repositoryId === repositoryId)?.facts;
  if (!facts || isRefusal(facts)) return false;
  return facts.pullRequests.some(({ number, isInMergeQueue }) => number === prNumber && isInMergeQueue);
}
