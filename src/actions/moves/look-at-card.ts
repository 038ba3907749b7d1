import type { Transition } from "./transition.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { brokenRefusal } from "../../flow/refusal.ts";
import type { PullRequestFacts } from "../../flow/facts.ts";
import { targetOf, ruleAsks } from "../../flow/flow.ts";
import { planMove, type MovePlan, type RepositoryState } from "../../flow/move.ts";
import type { BranchAnswer } from "../../forge/pull-requests.ts";

import { listLinks, type Link } from "../../store/cards/links.ts";

import { listCuts } from "../../store/events/timeline.ts";
import { findTip } from "../../store/forge/trunks.ts";
import { findIntent } from "../../store/ops/intents.ts";
import type { Deps } from "../deps.ts";
import { intentKey } from "./transition.ts";

export interface Look {
  readonly links: readonly Link[];
  readonly repositories: readonly RepositoryState[];
  readonly plan: MovePlan;
}

/** How long is waited for a forge that is still working out whether a branch can be merged, in milliseconds. */
const PATIENCE_MS = 15_000;
/** How long it is waited for a pull request whose commits are all in its target to be shown as merged. */
const LANDING_MS = 2_000;

/** Asks the forge about all of a card's repositories in one call and plans the stage's entering from the answers. */
export async function lookAtCard(deps: Deps, transition: Transition): Promise<Look> {
  const { card, project, stage } = transition;
  const links = await listLinks(deps.db, card.id);
  const start = targetOf(project.flow, card.hotfix);
  const target = stage.rule.type === "merge" ? stage.rule.into : start;
  const answers = await inspectLinks(deps, links, target);
  // Of a branch cut from elsewhere, being ahead of this target says nothing about the card's own work.
  const unshown = target === start ? [] : links.filter((link) => isUnshown(answers.get(link)));
  const fromStart = await inspectLinks(deps, unshown, start);
  const repositories = links.map((link) => {
    const answer = answers.get(link);
    return {
      repositoryId: link.repository.id,
      fullName: link.repository.fullName,
      branchName: link.branchName,
      facts: answer ? (answer.refusal ?? answer) : brokenRefusal(link.repository.broken ?? "not_granted"),
      isBehind: isBehind(link, answer),
      isBare: isBare(fromStart.get(link)),
    };
  });
  return { links, repositories, plan: planMove({ flow: project.flow, stage, card, repositories }) };
}

async function inspectLinks(
  deps: Deps,
  links: readonly Link[],
  targetBranch: string | null,
): Promise<Map<Link, BranchAnswer>> {
  const asked = links.flatMap((link) =>
    link.repository.ref ? [{ link, repository: link.repository.ref, branchName: link.branchName }] : [],
  );
  if (asked.length === 0) return new Map();
  const answers = await deps.forge.inspect(
    asked.map(({ repository, branchName }) => ({ repository, branchName, targetBranch })),
  );
  return new Map(
    asked.flatMap(({ link }, at) => {
      const answer = answers[at];
      return answer ? [[link, answer] as const] : [];
    }),
  );
}

/** Whether the newest that was heard of the branch's pull requests is more than the forge shows. */
function isBehind({ branchName, pullRequests }: Link, answer: BranchAnswer | undefined): boolean {
  if (answer === undefined || answer.refusal !== undefined) return false;
  const shownUpTo = Math.max(0, ...answer.pullRequests.map(({ number }) => number));
  return pullRequests.some(
    ({ number, headBranch, targetBranch, isFresh }) =>
      isFresh && number > shownUpTo && headBranch === branchName && targetBranch === answer.target.name,
  );
}

/** A branch with commits that never had a pull request. */
const isUnshown = (answer: BranchAnswer | undefined): boolean =>
  answer?.refusal === undefined && answer?.pullRequests.length === 0 && (answer.aheadBy ?? 0) > 0;

const isBare = (answer: BranchAnswer | undefined): boolean =>
  answer !== undefined && answer.refusal === undefined && answer.aheadBy === 0;

/**
 * Looks until the forge has made up its mind, at growing intervals, or patience ends; then its merge answer decides. A merge that is landing
 * shows in the branch before it shows in the pull request.
 */
export async function lookUntilDecided(deps: Deps, transition: Transition): Promise<Look> {
  const begun = performance.now();
  let look = await lookAtCard(deps, transition);
  for (let pause = 250; ; pause *= 2) {
    const { reasons, isUndecided, isLanding } = look.plan;
    const patience = isLanding ? LANDING_MS : isUndecided && reasons.length === 0 ? PATIENCE_MS : 0;
    if (performance.now() + pause > begun + patience) return look;
    await sleep(pause);
    look = await lookAtCard(deps, transition);
  }
}

/**
 * What the stages before one give a card although it may not enter that one: its branch, and a draft pull request where the branch has commits
 * and never had one. Null where nothing is left of that, or where those stages would refuse the card as well.
 */
export async function lookOnTheWay(deps: Deps, transition: Transition, refused: Look): Promise<Look | null> {
  const lacking = new Set(
    refused.repositories.filter(lacksBranchOrDraft).map(({ repositoryId }) => repositoryId),
  );
  if (lacking.size === 0) return null;
  const { stage } = transition;
  const look = await lookAtCard(deps, {
    ...transition,
    stage: { ...stage, rule: { type: "draft_pull_request", into: null } },
  });
  const steps = look.plan.steps.filter(({ repositoryId }) => lacking.has(repositoryId));
  if (look.plan.reasons.length > 0 || steps.length === 0) return null;
  return { ...look, plan: { ...look.plan, steps } };
}

const lacksBranchOrDraft = ({ branchName, facts }: RepositoryState): boolean =>
  !("reason" in facts) &&
  (branchName === null || (facts.pullRequests.length === 0 && (facts.aheadBy ?? 0) > 0));

/**
 * The inspection of a card that has no branch anywhere yet: it only needs the commits to cut branches from, and pushes report
 * where the trunks are. Null where the forge has to be asked. An older tip does no harm: the branch starts a little earlier.
 */
export async function lookFromHere(deps: Deps, transition: Transition): Promise<Look | null> {
  if (ruleAsks(transition.stage.rule, "pull_request")) return null;
  const links = await listLinks(deps.db, transition.card.id);
  if (links.some(({ branchName }) => branchName !== null)) return null;
  const repositories = await Promise.all(links.map((link) => toBeCut(deps, transition, link)));
  const known = repositories.filter((state) => state !== null);
  return known.length < links.length ? null : lookOf(transition, links, known);
}

/**
 * What a card's stage asks and its branches lack, as webhooks tell of them: a push to a branch that stood where it was cut is what a pull
 * request can be opened with. Repositories that lack nothing are left out. Null where the forge has to be asked.
 */
export async function lookAtWhatWasHeard(deps: Deps, transition: Transition): Promise<Look | null> {
  const { card, project, stage } = transition;
  const links = await listLinks(deps.db, card.id);
  const cuts = await listCuts(deps.db, card.id);
  const repositories: RepositoryState[] = [];
  for (const link of links) {
    const { repository, branchName, headSha, pullRequests } = link;
    if (branchName === null) {
      const state = ruleAsks(stage.rule, "pull_request") ? null : await toBeCut(deps, transition, link);
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
    const cutSha = cuts.get(`${repository.id}:${branchName}`);
    if (cutSha === undefined || pullRequests.length > 0) return null;
    if (headSha === cutSha) continue;
    const facts = { target: { name, sha: cutSha }, headSha, aheadBy: null, pullRequests: [] };
    repositories.push({ repositoryId: repository.id, fullName: repository.fullName, branchName, facts });
  }
  return lookOf(transition, links, repositories);
}

/** Null where nobody told where its trunk is, or it may not be asked for anything. */
async function toBeCut(
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

const lookOf = (
  { card, project, stage }: Transition,
  links: readonly Link[],
  repositories: readonly RepositoryState[],
): Look => ({ links, repositories, plan: planMove({ flow: project.flow, stage, card, repositories }) });

/** A pull request that was in the forge's merge queue for us and stands open outside of it. */
export interface LeftQueue {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly targetBranch: string;
  readonly prNumber: number;
  readonly headSha: string;
  /** The queue's word for having thrown it out; null where none was heard, and it may as well be landing. */
  readonly word: string | null;
}

/** All of a card's that have left the queue and are not shown as merged. */
export async function listLeftQueue(deps: Deps, look: Look): Promise<LeftQueue[]> {
  const left: LeftQueue[] = [];
  for (const { repositoryId, fullName, facts } of look.repositories) {
    if ("reason" in facts) continue;
    for (const { number: prNumber, targetBranch, headSha } of facts.pullRequests.filter(isOpenOutside)) {
      const intent = await findIntent(deps.db, intentKey({ repositoryId, prNumber }, "merge"));
      if (!intent?.queued || intent.done) continue;
      left.push({ repositoryId, fullName, targetBranch, prNumber, headSha, word: intent.thrownOut });
    }
  }
  return left;
}

const isOpenOutside = ({ state, isInMergeQueue }: PullRequestFacts): boolean =>
  state === "open" && !isInMergeQueue;

/** Whether a look shows a pull request in the forge's merge queue. */
export function isInQueue(
  look: Look,
  { repositoryId, prNumber }: { readonly repositoryId: string; readonly prNumber: number },
): boolean {
  const facts = look.repositories.find((repository) => repository.repositoryId === repositoryId)?.facts;
  if (!facts || "reason" in facts) return false;
  return facts.pullRequests.some(({ number, isInMergeQueue }) => number === prNumber && isInMergeQueue);
}
