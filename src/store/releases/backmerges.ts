import { rows, type Db } from "../db/connect.ts";

/** A branch that still lacks a landed hotfix, or what was picked into a release from elsewhere. */
export interface Backmerge {
  readonly repositoryId: string;
  readonly targetBranch: string;
  readonly sha: string;
  readonly actorId: string;
  /** Null until its pull request was opened. */
  readonly prNumber: number | null;
}

export interface NewBackmerge extends Omit<Backmerge, "prNumber"> {
  readonly cardId: string;
  /** The release it was picked into; left out of a hotfix. */
  readonly releaseId?: string;
}

/** Notes that a branch has to get something. One noted before stays as it is, unless something newer has landed since. */
export async function noteBackmerge(db: Db, backmerge: NewBackmerge): Promise<void> {
  await db.raw(
    `insert into backmerges as b (card_id, repository_id, target_branch, sha, actor_id, release_id)
     values (:cardId, :repositoryId, :targetBranch, :sha, :actorId, :releaseId)
     on conflict (card_id, repository_id, target_branch) do update
       set sha = excluded.sha, actor_id = excluded.actor_id, release_id = excluded.release_id, branch_name = null,
           pr_number = null, refusal = null, landed_at = now(), cleared_at = null
     where b.sha <> excluded.sha`,
    { releaseId: null, ...backmerge },
  );
}

/** What is still open of a card. */
export async function listOpenBackmerges(db: Db, cardId: string): Promise<Backmerge[]> {
  return rows<Backmerge>(
    db,
    `select repository_id as "repositoryId", target_branch as "targetBranch", sha, actor_id as "actorId",
            pr_number as "prNumber"
       from backmerges where card_id = :cardId and cleared_at is null order by repository_id, target_branch`,
    { cardId },
  );
}

/** The cards a push to this branch may have served. */
export async function listCardsWaitingFor(
  db: Db,
  repositoryId: string,
  targetBranch: string,
): Promise<string[]> {
  const found = await rows<{ cardId: string }>(
    db,
    `select card_id as "cardId" from backmerges
      where repository_id = :repositoryId and target_branch = :targetBranch and cleared_at is null`,
    { repositoryId, targetBranch },
  );
  return found.map(({ cardId }) => cardId);
}

/** Cards with something open that was not looked at for an hour, the longest waiting first. */
export async function listForgottenBackmerges(db: Db, limit: number): Promise<string[]> {
  const found = await rows<{ cardId: string }>(
    db,
    `select card_id as "cardId" from backmerges
      where cleared_at is null and looked_at < now() - interval '1 hour'
      order by looked_at limit :limit`,
    { limit },
  );
  return [...new Set(found.map(({ cardId }) => cardId))];
}

type BackmergeKey = Pick<Backmerge, "repositoryId" | "targetBranch" | "sha"> & { readonly cardId: string };

const columns = ({ cardId, repositoryId, targetBranch, sha }: BackmergeKey): Record<string, string> => ({
  card_id: cardId,
  repository_id: repositoryId,
  target_branch: targetBranch,
  sha,
});

export async function saveBackmergeOpened(
  db: Db,
  key: BackmergeKey,
  opened: { readonly branchName: string; readonly prNumber: number },
): Promise<void> {
  await db("backmerges").where(columns(key)).update({
    branch_name: opened.branchName,
    pr_number: opened.prNumber,
    refusal: null,
    looked_at: db.fn.now(),
  });
}

/** It was looked at, and stays open; `refusal` are the forge's words where no pull request could be opened. */
export async function saveBackmergeLook(db: Db, key: BackmergeKey, refusal: string | null): Promise<void> {
  await db("backmerges").where(columns(key)).update({ refusal, looked_at: db.fn.now() });
}

/** The branch has it. */
export async function clearBackmerge(db: Db, key: BackmergeKey): Promise<void> {
  await db("backmerges").where(columns(key)).update({ cleared_at: db.fn.now() });
}

/** The pull request that brings a hotfix to a branch was merged, in whatever way. */
export async function clearMergedBackmerge(
  db: Db,
  pull: { readonly repositoryId: string; readonly targetBranch: string; readonly prNumber: number },
): Promise<void> {
  await db("backmerges")
    .where({
      repository_id: pull.repositoryId,
      target_branch: pull.targetBranch,
      pr_number: pull.prNumber,
      cleared_at: null,
    })
    .update({ cleared_at: db.fn.now() });
}
