import { ruleRequires, type Stage } from "../../flow/flow.ts";
import {
  entryRefusals,
  secondPersonRefusal,
  type BranchWork,
  type RecheckedGates,
  type Contributor,
} from "../../flow/gates.ts";
import { currentPullRequest, type RepositoryState } from "../../flow/move.ts";
import { blockedReason, isRefusal, type BlockedReason } from "../../flow/refusal.ts";
import { listLinks } from "../../store/cards/links.ts";
import { countOtherCards, lockColumn } from "../../store/cards/placing.ts";
import type { Db, Trx } from "../../store/db/connect.ts";
import { allInOrder } from "../../store/db/transaction.ts";
import { listPushes, type RecordedPush } from "../../store/forge/pushes.ts";
import { findPerson, listAccountOwners, type AccountOwner } from "../../store/tenancy/people.ts";
import type { Deps } from "../deps.ts";

/** Who moves a card. A job that resumes a move acts for the one who started it. */
export interface Mover {
  readonly actorId: string;
  /** Whether it is a person with a session of the console, not an API key. */
  readonly isHuman: boolean;
}

/** A card and a stage that it is about to enter. */
interface StageEntry {
  readonly card: { readonly id: string; readonly workspaceId: string; readonly stageId: string };
  readonly stage: Stage;
  /** Absent if nobody moves the card. */
  readonly mover?: Mover;
}

/**
 * Checks the gates that need no call to GitHub, when a move begins. Locks the stage's column if it
 * has a limit: an unfinished move counts as a card of the stage, so two moves must not be counted
 * at the same time.
 */
export async function lockAndCheckGates(trx: Trx, entry: StageEntry, mover: Mover): Promise<BlockedReason[]> {
  if (entry.stage.gates && entry.stage.gates.wipLimit !== null) await lockColumn(trx, entry.stage.id);
  return checkGates(trx, entry, mover);
}

/**
 * Checks the gates that need no call to GitHub. Does not lock the column, so a card may still take
 * the last place.
 */
export async function checkGates(
  db: Db,
  { card, stage }: StageEntry,
  { actorId, isHuman }: Mover,
): Promise<BlockedReason[]> {
  const { gates } = stage;
  if (!gates || card.stageId === stage.id) return [];
  const [otherCards, personId] = await allInOrder([
    gates.wipLimit === null ? 0 : countOtherCards(db, stage.id, card.id),
    gates.secondPerson ? findPerson(db, card.workspaceId, actorId) : null,
  ]);
  return entryRefusals(stage, { isHuman, personId, otherCards }).map((refusal) => blockedReason("", refusal));
}

/** Whether the commits of a card have to be read for a transition. */
export const needsCommits = ({ card, stage, mover }: StageEntry): boolean =>
  mover !== undefined && stage.gates?.secondPerson === true && card.stageId !== stage.id;

/**
 * The refusals by gates that judge the commits of a card. The other gates were checked when the move
 * began or was resumed: it has a place in its stage, and the flow does not change during it.
 */
export async function checkCommitGates(
  deps: Pick<Deps, "db">,
  transition: StageEntry,
  repositories: readonly RepositoryState[],
): Promise<BlockedReason[]> {
  const { card, stage, mover } = transition;
  if (!mover || !needsCommits(transition)) return [];
  const personId = await findPerson(deps.db, card.workspaceId, mover.actorId);
  const reasons: BlockedReason[] = [];
  const hasPlan = ruleRequires(stage.rule, "branch");
  for (const state of repositories) {
    const { facts } = state;
    // The plan refuses both if the rule needs Git. Without a target, the commits are unknown.
    if (hasPlan && (isRefusal(facts) || facts.target.sha === null)) continue;
    if (isRefusal(facts)) reasons.push(blockedReason(state.fullName, facts));
    const work = await workOf(deps.db, transition, state);
    const refusal = work && secondPersonRefusal(stage, personId, work);
    if (refusal) reasons.push(blockedReason(state.fullName, refusal));
  }
  return reasons;
}

/** The commits that a card's branch would bring into its target. Null if there are none, or if the pull request is merged or in the merge queue. */
async function workOf(
  db: Db,
  { card }: StageEntry,
  { repositoryId, fullName, branchName, facts }: RepositoryState,
): Promise<BranchWork | null> {
  if (branchName === null || isRefusal(facts) || facts.headSha === null || facts.aheadBy === 0) return null;
  const pull = currentPullRequest(facts);
  // A push removes a pull request from the merge queue, so its commits were checked before.
  if (pull?.state === "merged" || pull?.isInMergeQueue) return null;
  const { headSha, commits } = facts;
  const pushes = await listPushes(db, { cardId: card.id, repositoryId, branchName });
  const owners = await listAccountOwners(db, card.workspaceId, {
    userIds: pushes.flatMap(({ userId }) => userId ?? []),
    forgeIds: (commits ?? []).flatMap(({ authorIds }) => authorIds.filter((id) => id !== null)),
  });
  const authors = commits
    ? commits.flatMap(({ sha, authorIds }) =>
        authorIds.map((authorId) =>
          contributor(
            sha,
            owners.find(({ forgeId }) => forgeId === authorId),
          ),
        ),
      )
    : null;
  return { fullName, branchName, headSha, authors, pushers: pushersOf(pushes, headSha, owners) };
}

const contributor = (sha: string, owner: AccountOwner | undefined): Contributor => ({
  sha,
  login: owner && owner.login !== "ghost" ? owner.login : null,
  personId: owner?.personId ?? null,
});

/** Everybody who has pushed to a branch; null unless its pushes up to the head are all known. */
function pushersOf(
  pushes: readonly RecordedPush[],
  headSha: string,
  owners: readonly AccountOwner[],
): Contributor[] | null {
  if (!isWholeHistory(pushes, headSha)) return null;
  return pushes.flatMap(({ userId: pusherId, after }) =>
    pusherId === null
      ? []
      : [
          contributor(
            after,
            owners.find(({ userId }) => userId === pusherId),
          ),
        ],
  );
}

/** What decides whether the gates still refuse a blocked card. */
export async function readGateFacts(
  db: Db,
  { id: cardId, workspaceId }: StageEntry["card"],
  stage: Stage,
): Promise<RecheckedGates> {
  const links = await listLinks(db, cardId);
  const branches = links.map(async ({ repository: { id: repositoryId, fullName }, branchName, headSha }) => {
    const pushes = branchName ? await listPushes(db, { cardId, repositoryId, branchName }) : [];
    const userIds = pushes.flatMap(({ userId }) => userId ?? []);
    const owners = await listAccountOwners(db, workspaceId, { userIds, forgeIds: [] });
    const pushers = headSha === null ? null : pushersOf(pushes, headSha, owners);
    const hasKnownPushers = pushers?.every(({ personId }) => personId !== null) ?? false;
    return [fullName, { headSha, hasKnownPushers }] as const;
  });
  return {
    stage,
    otherCards: await countOtherCards(db, stage.id, cardId),
    branches: new Map(await Promise.all(branches)),
  };
}

/** Whether the recorded pushes lead from the creation of a branch to its head. */
function isWholeHistory(pushes: readonly RecordedPush[], headSha: string): boolean {
  const seen = new Set<string>();
  let heads: (string | null)[] = [headSha];
  while (heads.length > 0) {
    if (heads.includes(null)) return true;
    heads.forEach((head) => head !== null && seen.add(head));
    const last = heads;
    heads = pushes
      .filter(({ before, after }) => last.includes(after) && (before === null || !seen.has(before)))
      .map(({ before }) => before);
  }
  return false;
}
