import { hasUsableLink } from "../forge/repositories.ts";
import { columnsOf, column, isoTime, rows, type Db, type Trx } from "../db/connect.ts";

/** SQL for the cards of the release `r` as JSON, by number. */
export const RELEASE_CARDS = `
  (select coalesce(json_agg(json_build_object(
                     'number', c.number, 'title', c.title,
                     'statusId', case when c.deleted_at is null then c.stage_id end,
                     'pickedAt', ${isoTime("rc.picked_at")}, 'isMissing', rc.is_missing) order by c.number), '[]')
     from release_cards rc join cards c on c.id = rc.card_id where rc.release_id = r.id)`;

/** Maps the numbers of a release's cards to their ids, in the order of the numbers. */
export async function mapReleaseCards(db: Db, releaseId: string): Promise<Map<number, string>> {
  const found = await rows<{ number: number; id: string }>(
    db,
    `select c.number, c.id from release_cards rc join cards c on c.id = rc.card_id
      where rc.release_id = :releaseId order by c.number`,
    { releaseId },
  );
  return new Map(found.map(({ number, id }) => [number, id]));
}

/** Returns those of `numbers` that a card of the board has. */
export async function listCardNumbers(
  db: Db,
  workspaceId: string,
  numbers: readonly number[],
): Promise<Set<number>> {
  return new Set(
    await column<number>(
      db,
      `select number from cards where workspace_id = :workspaceId and number = any(:numbers) and deleted_at is null`,
      { workspaceId, numbers: [...numbers] },
    ),
  );
}

export interface ScopedCard {
  readonly id: string;
  readonly number: number;
  readonly projectId: string;
}

/** Finds cards by number and prevents their deletion until the transaction ends. */
export async function lockCards(
  trx: Trx,
  workspaceId: string,
  numbers: readonly number[],
): Promise<ScopedCard[]> {
  const found = await rows<ScopedCard>(
    trx,
    `select id, number, project_id as "projectId" from cards
      where workspace_id = :workspaceId and number = any(:numbers) and deleted_at is null order by id for share`,
    { workspaceId, numbers: [...numbers] },
  );
  return found.toSorted((a, b) => a.number - b.number);
}

interface OpenScope {
  readonly cardId: string;
  readonly number: number;
  readonly releaseId: string;
  readonly releaseName: string;
}

/** Lists the open releases of these cards, by card number. */
export async function listOpenScopes(db: Db, cardIds: readonly string[]): Promise<OpenScope[]> {
  return rows<OpenScope>(
    db,
    `select rc.card_id as "cardId", c.number, r.id as "releaseId", r.name as "releaseName"
       from release_cards rc join releases r on r.id = rc.release_id join cards c on c.id = rc.card_id
      where rc.card_id = any(:cardIds) and rc.is_open order by c.number`,
    { cardIds: [...cardIds] },
  );
}

/** The maximum number of cards that the preview of a freeze names. */
export const MAX_CARDS_OUTSIDE = 100;

/**
 * Lists the cards outside a release whose work is merged into the branches from which a freeze starts,
 * the newest first. Leaves out cards that an earlier release contains.
 */
export async function listCardsOutside(
  db: Db,
  release: { readonly id: string; readonly projectId: string },
  starts: readonly { readonly repositoryId: string; readonly branchName: string }[],
): Promise<{ number: number; title: string }[]> {
  return rows(
    db,
    `select c.number, c.title from cards c
      where c.project_id = :projectId and c.deleted_at is null
        and exists (
          select 1 from unnest(cast(:repositoryIds as uuid[]), cast(:branchNames as text[])) s(repository_id, branch_name)
           where exists (select 1 from pull_requests p
                          where p.card_id = c.id and p.repository_id = s.repository_id
                            and p.target_branch = s.branch_name and p.state = 'merged')
              or exists (select 1 from backmerges m
                          where m.card_id = c.id and m.repository_id = s.repository_id
                            and m.target_branch = s.branch_name and m.cleared_at is not null))
        and not exists (select 1 from release_cards rc
                         where rc.card_id = c.id and not rc.is_missing
                           and (rc.release_id = :releaseId or not rc.is_open))
      order by c.number desc limit :limit`,
    {
      projectId: release.projectId,
      releaseId: release.id,
      repositoryIds: starts.map(({ repositoryId }) => repositoryId),
      branchNames: starts.map(({ branchName }) => branchName),
      limit: MAX_CARDS_OUTSIDE,
    },
  );
}

interface ReleaseOfCard {
  readonly id: string;
  readonly name: string;
  readonly status: "open" | "completed";
  readonly frozenAt: Date | null;
  /** Whether the release was completed without the card. */
  readonly isMissing: boolean;
}

/** Lists the releases that a card is in, the newest first. */
export async function listReleasesOfCard(
  db: Db,
  card: { readonly id: string; readonly projectId: string },
): Promise<ReleaseOfCard[]> {
  return rows<ReleaseOfCard>(
    db,
    `select r.id, r.name, r.status, r.frozen_at as "frozenAt", rc.is_missing as "isMissing"
       from releases r join release_cards rc on rc.release_id = r.id and rc.card_id = :id
      where r.project_id = :projectId order by r.id desc`,
    { id: card.id, projectId: card.projectId },
  );
}

/** Replaces the cards of an open release. Returns the ids of the added cards. */
export async function saveReleaseCards(
  trx: Trx,
  releaseId: string,
  cardIds: readonly string[],
): Promise<Set<string>> {
  await trx("release_cards")
    .where({ release_id: releaseId })
    .whereNotIn("card_id", [...cardIds])
    .delete();
  return new Set(
    await column<string>(
      trx,
      `insert into release_cards (release_id, card_id)
     select cast(:releaseId as uuid), card_id from unnest(cast(:cardIds as uuid[])) as chosen (card_id)
     on conflict (release_id, card_id) do nothing
     returning card_id as "cardId"`,
      { releaseId, cardIds: [...cardIds] },
    ),
  );
}

/** Removes a card from an open release. */
export async function removeReleaseCard(db: Db, releaseId: string, cardId: string): Promise<void> {
  await db("release_cards").where({ release_id: releaseId, card_id: cardId, is_open: true }).delete();
}

/** Adds a card to an open release, if necessary, and records that it was picked now. */
export async function pickReleaseCard(trx: Trx, releaseId: string, cardId: string): Promise<void> {
  await trx.raw(
    `insert into release_cards (release_id, card_id, picked_at) values (:releaseId, :cardId, now())
     on conflict (release_id, card_id) do update set picked_at = now()`,
    { releaseId, cardId },
  );
}

export async function isInRelease(db: Db, releaseId: string, cardId: string): Promise<boolean> {
  const row = await db("release_cards").where({ release_id: releaseId, card_id: cardId }).first("card_id");
  return row !== undefined;
}

/** A branch that lacks a landed hotfix, or commits that were picked into a release. */
export interface BackMerge {
  readonly repositoryId: string;
  readonly targetBranch: string;
  readonly sha: string;
  readonly actorId: string;
  /** Null until the pull request is open. */
  readonly prNumber: number | null;
}

interface NewBackMerge extends Omit<BackMerge, "prNumber"> {
  readonly cardId: string;
  /** The release of a pick; absent for a hotfix. */
  readonly releaseId?: string;
}

/** Records an open back-merge. Changes an existing one only if another commit landed. */
export async function recordBackMerge(db: Db, backmerge: NewBackMerge): Promise<void> {
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

export async function listOpenBackMerges(db: Db, cardId: string): Promise<BackMerge[]> {
  return rows<BackMerge>(
    db,
    `select repository_id as "repositoryId", target_branch as "targetBranch", sha, actor_id as "actorId",
            pr_number as "prNumber"
       from backmerges b where card_id = :cardId and cleared_at is null
        and ${hasUsableLink("b.card_id", "b.repository_id")}
      order by repository_id, target_branch`,
    { cardId },
  );
}

/** Lists the cards whose open back-merges a push to this branch may complete. */
export async function listCardsAwaitingBackMerge(
  db: Db,
  repositoryId: string,
  targetBranch: string,
): Promise<string[]> {
  return column<string>(
    db,
    `select card_id as "cardId" from backmerges b
      where repository_id = :repositoryId and target_branch = :targetBranch and cleared_at is null
        and ${hasUsableLink("b.card_id", "b.repository_id")}`,
    { repositoryId, targetBranch },
  );
}

/** Lists cards with an open back-merge that was not checked for an hour, the oldest check first. */
export async function listCardsWithUncheckedBackMerge(db: Db, limit: number): Promise<string[]> {
  const cardIds = await column<string>(
    db,
    `select card_id as "cardId" from backmerges b
      where cleared_at is null and checked_at < now() - interval '1 hour'
        and ${hasUsableLink("b.card_id", "b.repository_id")}
      order by checked_at limit :limit`,
    { limit },
  );
  return [...new Set(cardIds)];
}

type BackMergeKey = Pick<BackMerge, "repositoryId" | "targetBranch" | "sha"> & { readonly cardId: string };

const columns = ({ cardId, repositoryId, targetBranch, sha }: BackMergeKey) =>
  columnsOf({ cardId, repositoryId, targetBranch, sha });

export async function saveBackMergeOpened(
  db: Db,
  key: BackMergeKey,
  opened: { readonly branchName: string; readonly prNumber: number },
): Promise<void> {
  const update = columnsOf({ ...opened, refusal: null, checkedAt: db.fn.now() });
  await db("backmerges").where(columns(key)).update(update);
}

/** Records a check of an open back-merge. `refusal`: why GitHub refused to open a pull request. */
export async function saveBackMergeCheck(db: Db, key: BackMergeKey, refusal: string | null): Promise<void> {
  await db("backmerges").where(columns(key)).update({ refusal, checked_at: db.fn.now() });
}

/** Completes a back-merge because the branch contains the commit. */
export async function completeBackMerge(db: Db, key: BackMergeKey): Promise<void> {
  await db("backmerges").where(columns(key)).update({ cleared_at: db.fn.now() });
}

/** Completes a back-merge because its pull request was merged, with any merge method. */
export async function completeMergedBackMerge(
  db: Db,
  pull: { readonly repositoryId: string; readonly targetBranch: string; readonly prNumber: number },
): Promise<void> {
  await db("backmerges")
    .where(columnsOf({ ...pull, clearedAt: null }))
    .update({ cleared_at: db.fn.now() });
}
