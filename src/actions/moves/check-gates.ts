import { ruleRequires, type Stage } from "../../flow/flow.ts";
import {
  entryRefusals,
  gateReason,
  secondPersonRefusal,
  type BranchWork,
  type LaterGates,
  type Contributor,
} from "../../flow/gates.ts";
import { currentPullRequest, type RepositoryState } from "../../flow/move.ts";
import type { BlockedReason } from "../../flow/refusal.ts";
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
interface Entry {
  readonly card: { readonly id: string; readonly workspaceId: string; readonly stageId: string };
  readonly stage: Stage;
  /** Absent if nobody moves the card. */
  readonly mover?: Mover;
}

/**
 * What the gates of a stage refuse before GitHub is asked. Every move passes here when it begins:
 * the lock on the column makes the limit hold, because a move that begins takes a place.
 */
export async function lockEntry(trx: Trx, entry: Entry, mover: Mover): Promise<BlockedReason[]> {
  if (entry.stage.gates && entry.stage.gates.wipLimit !== null) await lockColumn(trx, entry.stage.id);
  return checkEntry(trx, entry, mover);
}

/** What the gates refuse before GitHub is asked. Without the lock, the limit is only likely. */
export async function checkEntry(
  db: Db,
  { card, stage }: Entry,
  { actorId, isHuman }: Mover,
): Promise<BlockedReason[]> {
  const { gates } = stage;
  if (!gates || card.stageId === stage.id) return [];
  const [otherCards, personId] = await allInOrder([
    gates.wipLimit === null ? 0 : countOtherCards(db, stage.id, card.id),
    gates.secondPerson ? findPerson(db, card.workspaceId, actorId) : null,
  ]);
  return entryRefusals(stage, { isHuman, personId, otherCards }).map((refusal) => gateReason(refusal));
}

/** Whether the commits of a card have to be read for a transition. */
export const needsCommits = ({ card, stage, mover }: Entry): boolean =>
  mover !== undefined && stage.gates?.secondPerson === true && card.stageId !== stage.id;

/** What the gates refuse of an inspected card: also checked when a job resumes the move. */
export async function checkInspected(
  deps: Deps,
  transition: Entry,
  repositories: readonly RepositoryState[],
): Promise<BlockedReason[]> {
  const { card, stage, mover } = transition;
  if (!mover) return [];
  const refused = await checkEntry(deps.db, transition, mover);
  if (refused.length > 0 || !needsCommits(transition)) return refused;
  const personId = await findPerson(deps.db, card.workspaceId, mover.actorId);
  const reasons: BlockedReason[] = [];
  for (const state of repositories) {
    // The plan has this refusal if the rule needs Git.
    if ("reason" in state.facts && !ruleRequires(stage.rule, "branch"))
      reasons.push(gateReason(state.facts, state.fullName));
    const work = await workOf(deps.db, transition, state);
    const refusal = work && secondPersonRefusal(stage, personId, work);
    if (refusal) reasons.push(gateReason(refusal, state.fullName));
  }
  return reasons;
}

/** The commits that a card's branch would bring into its target. Null if there are none, or if GitHub decides. */
async function workOf(
  db: Db,
  { card }: Entry,
  { repositoryId, fullName, branchName, facts }: RepositoryState,
): Promise<BranchWork | null> {
  if (branchName === null || "reason" in facts || facts.headSha === null || facts.aheadBy === 0) return null;
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
export async function inspectGates(
  db: Db,
  { id: cardId, workspaceId }: Entry["card"],
  stage: Stage,
): Promise<LaterGates> {
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
